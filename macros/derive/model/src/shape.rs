//! Types of fields, and the code for each.

use super::ErrorCollector;
use super::attributes::Attributes;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprUnary, GenericArgument, Lit, LitStr, PathArguments, Type, TypePath, UnOp};

/// Formats of strings: name in the attribute, variant of `Format`.
const FORMATS: [(&str, &str); 6] = [
    ("any", "Any"),
    ("qualified-name", "QualifiedName"),
    ("name-prefix", "NamePrefix"),
    ("label-value", "LabelValue"),
    ("non-empty", "NonEmpty"),
    ("duration", "Duration"),
];

/// The type of a field, with the rules for its values.
pub enum Shape {
    /// `bool`.
    Boolean,
    /// `i64`, or `i32` if it is narrow.
    Integer {
        /// Whether the type is `i32`.
        narrow: bool,
        /// Minimum.
        min: Option<Expr>,
        /// Maximum.
        max: Option<Expr>,
    },
    /// A string; the format as a variant of `Format`.
    Str(&'static str),
    /// A type that derives `Args` too.
    Named(Type),
    /// `Option`.
    Optional(Box<Shape>),
    /// `List` or `Seq`.
    List(Entries),
}

/// A `List` or a `Seq`.
pub struct Entries {
    /// The type of an entry.
    pub of: Box<Shape>,
    /// The `N` of a `List`; `None` for a `Seq`.
    bound: Option<TokenStream>,
    min: Option<Expr>,
    max: Option<Expr>,
    unique: Option<LitStr>,
    increasing: Option<LitStr>,
}

impl Shape {
    /// Returns the shape of a field with type `ty`. Removes the attributes that apply to the type, and reports the others.
    pub(crate) fn read(ty: &Type, attributes: &mut Attributes) -> syn::Result<Self> {
        let mut problems = ErrorCollector::default();
        let shape = problems.ok(Shape::of_field(ty, attributes));
        let unused = [
            (attributes.range.take().map(|range| range.span), "range", "integers"),
            (attributes.format.take().map(|format| format.span()), "format", "strings"),
            (attributes.min.take().map(|min| min.span()), "min", "lists; for integers, write `range`"),
            (attributes.max.take().map(|max| max.span()), "max", "lists; for integers, write `range`"),
            (attributes.unique.take().map(|field| field.span()), "unique", "lists"),
            (attributes.increasing.take().map(|field| field.span()), "increasing", "lists"),
        ];
        if shape.is_some() {
            for (span, attribute, valid_types) in unused {
                if let Some(span) = span {
                    problems.add(syn::Error::new(span, format!("`{attribute}` is for {valid_types}")));
                }
            }
        }
        match shape {
            Some(shape) => problems.finish(shape),
            None => problems.finish(Shape::Boolean),
        }
    }

    fn of_field(ty: &Type, attributes: &mut Attributes) -> syn::Result<Self> {
        match generic(ty, "Option") {
            Some(inner) => {
                let [GenericArgument::Type(inner)] = &inner[..] else { return Err(unsupported(ty)) };
                if generic(inner, "Option").is_some() {
                    return Err(syn::Error::new(inner.span(), "an option of an option cannot be written in a profile"));
                }
                Ok(Shape::Optional(Box::new(Shape::of_value(inner, attributes)?)))
            }
            None => Shape::of_value(ty, attributes),
        }
    }

    fn of_value(ty: &Type, attributes: &mut Attributes) -> syn::Result<Self> {
        let (of, bound) = if let Some(arguments) = generic(ty, "List") {
            let [GenericArgument::Type(of), bound] = &arguments[..] else { return Err(unsupported(ty)) };
            (of.clone(), Some(quote!(#bound)))
        } else if let Some(arguments) = generic(ty, "Seq") {
            let [GenericArgument::Type(of)] = &arguments[..] else { return Err(unsupported(ty)) };
            (of.clone(), None)
        } else {
            return Shape::of_entry(ty, attributes);
        };
        if ["Option", "List", "Seq"].iter().any(|container| generic(&of, container).is_some()) {
            return Err(syn::Error::new(
                of.span(),
                "entries of a list cannot be optional or lists; put them in a struct",
            ));
        }
        let of = Box::new(Shape::of_entry(&of, attributes)?);
        for field in [&attributes.unique, &attributes.increasing].into_iter().flatten() {
            if field.value().is_empty() == matches!(*of, Shape::Named(_)) {
                return Err(syn::Error::new(
                    field.span(),
                    "name a field of the entries, or write \"\" if the entries are strings or integers",
                ));
            }
        }
        Ok(Shape::List(Entries {
            of,
            bound,
            min: attributes.min.take(),
            max: attributes.max.take(),
            unique: attributes.unique.take(),
            increasing: attributes.increasing.take(),
        }))
    }

    fn of_entry(ty: &Type, attributes: &mut Attributes) -> syn::Result<Self> {
        if let Type::Reference(reference) = ty
            && matches!(&reference.lifetime, Some(lifetime) if lifetime.ident == "static")
            && reference.mutability.is_none()
            && is_path(&reference.elem, "str")
        {
            let Some(name) = attributes.format.take() else { return Ok(Shape::Str("Any")) };
            return match FORMATS.iter().find(|(format, _)| *format == name.value()) {
                Some((_, variant)) => Ok(Shape::Str(variant)),
                None => {
                    let known = FORMATS.map(|(format, _)| format).join("\", \"");
                    Err(syn::Error::new(name.span(), format!("unknown format; known are \"{known}\"")))
                }
            };
        }
        let Type::Path(TypePath { qself: None, path, .. }) = ty else { return Err(unsupported(ty)) };
        let Some(last) = path.segments.last() else { return Err(unsupported(ty)) };
        let name = last.ident.to_string();
        match name.as_str() {
            "bool" => Ok(Shape::Boolean),
            "i64" | "i32" => {
                let (min, max) = attributes.range.take().map_or((None, None), |range| (range.min, range.max));
                Ok(Shape::Integer { narrow: name == "i32", min, max })
            }
            "i8" | "i16" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => Err(syn::Error::new(
                ty.span(),
                "integer arguments are `i64` or `i32`; add `#[args(range = ...)]` for bounds",
            )),
            "String" | "str" => {
                Err(syn::Error::new(ty.span(), "string arguments are `&'static str`, since constants cannot allocate"))
            }
            "f32" | "f64" | "char" => Err(unsupported(ty)),
            "Vec" | "Box" => Err(syn::Error::new(
                ty.span(),
                "list arguments are `List<T, N>` or `Seq<T>`, since constants cannot allocate",
            )),
            _ if matches!(last.arguments, PathArguments::None) => Ok(Shape::Named(ty.clone())),
            _ => Err(unsupported(ty)),
        }
    }

    /// Returns an expression of this type that decodes `__value: &Node`, the value of `key`.
    pub(crate) fn decode(&self, key: &str) -> TokenStream {
        match self {
            Shape::Boolean => quote!(::schedc_core::args::decode::boolean(__value, __errors)),
            Shape::Integer { narrow, .. } => {
                let (min, max) = self.bounds();
                let integer = quote!(::schedc_core::args::decode::integer(__value, #min, #max, __errors));
                if *narrow { quote!(#integer as i32) } else { integer }
            }
            Shape::Str(format) => {
                let format = format_path(format);
                quote!(::schedc_core::args::decode::string(__value, #format, __errors))
            }
            Shape::Named(ty) => quote_spanned!(ty.span()=> <#ty>::decode_into(__value, __errors)),
            Shape::Optional(inner) => {
                let inner = inner.decode(key);
                quote!(::core::option::Option::Some(#inner))
            }
            Shape::List(entries) => entries.decode(key),
        }
    }

    /// Returns a `Schema` expression.
    pub(crate) fn schema(&self) -> TokenStream {
        match self {
            Shape::Boolean => quote!(::schedc_core::args::Schema::Boolean),
            Shape::Integer { .. } => {
                let (min, max) = self.bounds();
                quote!(::schedc_core::args::Schema::Integer { min: #min, max: #max })
            }
            Shape::Str(format) => {
                let format = format_path(format);
                quote!(::schedc_core::args::Schema::String(#format))
            }
            Shape::Named(ty) => quote_spanned!(ty.span()=> <#ty>::SCHEMA),
            Shape::Optional(inner) => inner.schema(),
            Shape::List(entries) => {
                let element = entries.of.schema();
                let rules = entries.rules();
                quote!(::schedc_core::args::Schema::List { element: &#element, #rules })
            }
        }
    }

    /// Returns any value of this type, as a placeholder that is never visible.
    pub(crate) fn placeholder(&self) -> TokenStream {
        match self {
            Shape::Boolean => quote!(false),
            Shape::Integer { .. } => quote!(0),
            Shape::Str(_) => quote!(""),
            Shape::Named(ty) => quote_spanned!(ty.span()=> <#ty>::PLACEHOLDER),
            Shape::Optional(_) => quote!(::core::option::Option::None),
            Shape::List(entries) => entries.empty(),
        }
    }

    /// Returns the default of a field without a default attribute; `None` for types that require one.
    pub(crate) fn implied_default(&self) -> Option<TokenStream> {
        match self {
            Shape::Boolean | Shape::Integer { .. } | Shape::Str(_) => None,
            Shape::Named(ty) => Some(quote_spanned!(ty.span()=> <#ty>::DEFAULT)),
            Shape::Optional(_) => Some(quote!(::core::option::Option::None)),
            Shape::List(entries) if entries.min.is_some() => None,
            Shape::List(entries) => Some(entries.empty()),
        }
    }

    /// Returns the default that an attribute gives: the expression in the attribute, or, if the field is a `List` and
    /// the expression an array, a `List` of its entries. Returns an error for a literal that is out of range.
    pub(crate) fn given_default(&self, default: &Expr) -> syn::Result<TokenStream> {
        match (self, default) {
            (Shape::List(Entries { of, bound: Some(_), .. }), Expr::Array(_)) => {
                let fill = of.placeholder();
                Ok(quote_spanned!(default.span()=> ::schedc_core::args::List::from_slice(#fill, &#default)))
            }
            (Shape::Integer { min, max, .. }, _) => {
                let [value, min, max] = [Some(default), min.as_ref(), max.as_ref()].map(|expr| expr.and_then(integer));
                if let Some(value) = value
                    && (min.is_some_and(|min| value < min) || max.is_some_and(|max| value > max))
                {
                    return Err(syn::Error::new(default.span(), "the default is out of range"));
                }
                Ok(quote!(#default))
            }
            _ => Ok(quote!(#default)),
        }
    }

    /// Returns constants that check whether the entries of a list have the fields that `unique` and `increasing` name.
    pub(crate) fn assertions(&self) -> TokenStream {
        match self {
            Shape::Optional(inner) => inner.assertions(),
            Shape::List(Entries { of, unique, increasing, .. }) => {
                let Shape::Named(ty) = &**of else { return TokenStream::new() };
                let fields = [unique, increasing].into_iter().flatten();
                fields
                    .map(|field| quote_spanned!(field.span()=> const _: () = <#ty>::SCHEMA.assert_has_field(#field);))
                    .collect()
            }
            _ => TokenStream::new(),
        }
    }

    /// Returns the bounds of an integer, as expressions of type `Option<i64>`.
    fn bounds(&self) -> (TokenStream, TokenStream) {
        let Shape::Integer { narrow, min, max } = self else { return (option(None), option(None)) };
        let widest = |bound| narrow.then(|| quote!(i32::#bound as i64));
        let bound = |expr: &Option<Expr>, widest| option(expr.as_ref().map(|expr| quote!(#expr)).or(widest));
        (bound(min, widest(quote!(MIN))), bound(max, widest(quote!(MAX))))
    }
}

/// Rules of a list, as far as they are known without rustc.
pub struct Rules {
    /// Minimum number of entries.
    pub min: Option<i64>,
    /// Maximum number of entries.
    pub max: Option<i64>,
    /// The field that must differ in all entries; empty for the entries themselves.
    pub unique: Option<String>,
    /// The integer field that increases; empty for the entries themselves.
    pub increasing: Option<String>,
}

impl Entries {
    /// Evaluates the rules; `value` evaluates numbers.
    pub fn evaluated_rules(&self, value: impl Fn(&Expr) -> Option<i64>) -> Rules {
        let bound = || self.bound.clone().and_then(|bound| syn::parse2(bound).ok());
        let name = |field: &Option<LitStr>| field.as_ref().map(LitStr::value);
        Rules {
            min: self.min.as_ref().and_then(&value),
            max: self.max.clone().or_else(bound).as_ref().and_then(&value),
            unique: name(&self.unique),
            increasing: name(&self.increasing),
        }
    }

    fn empty(&self) -> TokenStream {
        match self.bound {
            Some(_) => {
                let fill = self.of.placeholder();
                quote!(::schedc_core::args::List::new(#fill))
            }
            None => quote!(::schedc_core::args::Seq::EMPTY),
        }
    }

    /// Returns the fields that `Schema::List` and `decode::Entries` share.
    fn rules(&self) -> TokenStream {
        let min = self.min.as_ref().map_or(quote!(0), |min| quote!(#min));
        let max = option(match (&self.max, &self.bound) {
            (Some(max), _) => Some(quote!(#max)),
            (None, bound) => bound.clone(),
        });
        let unique = option(self.unique.as_ref().map(|field| quote!(#field)));
        let increasing = option(self.increasing.as_ref().map(|field| quote!(#field)));
        quote!(min: #min, max: #max, unique: #unique, increasing: #increasing)
    }

    fn decode(&self, key: &str) -> TokenStream {
        let (rules, entry) = (self.rules(), self.of.decode(key));
        let (start, keep, result) = match self.bound {
            Some(_) => {
                let empty = self.empty();
                (quote!(let mut __list = #empty;), quote!(__list.push(#entry);), quote!(__list))
            }
            None => {
                (TokenStream::new(), quote!(let _ = #entry;), quote!(::schedc_core::args::Seq::from_checked(__entries)))
            }
        };
        quote! {{
            let __rules = ::schedc_core::args::decode::Entries { #rules };
            let __entries = ::schedc_core::args::decode::list(__value, &__rules, __errors);
            let __outer = __errors.enter(::schedc_core::args::decode::Decoding::Entry(#key));
            #start
            let mut __index = 0;
            while __index < __entries.len() {
                let __value = &__entries[__index];
                #keep
                __index += 1;
            }
            __errors.enter(__outer);
            #result
        }}
    }
}

/// Returns the generic arguments of `ty`, if its name is `name`.
fn generic(ty: &Type, name: &str) -> Option<Vec<GenericArgument>> {
    let Type::Path(TypePath { qself: None, path, .. }) = ty else { return None };
    let last = path.segments.last()?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) if last.ident == name => {
            Some(arguments.args.iter().cloned().collect())
        }
        _ => None,
    }
}

fn is_path(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(TypePath { qself: None, path, .. }) if path.is_ident(name))
}

fn unsupported(ty: &Type) -> syn::Error {
    let known = "bool, i64, i32, &'static str, Option<T>, List<T, N>, Seq<T>, or a type that derives Args";
    syn::Error::new(ty.span(), format!("not a type of arguments; use {known}"))
}

fn format_path(variant: &str) -> TokenStream {
    let variant = syn::Ident::new(variant, Span::call_site());
    quote!(::schedc_core::args::Format::#variant)
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// Returns the value of an integer literal, which may be negated; `None` for any other expression.
pub fn integer(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => int.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => integer(expr).map(|value| -value),
        _ => None,
    }
}
