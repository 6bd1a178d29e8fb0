//! `#[args(...)]` and doc comments.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, ExprRange, Lit, LitStr, Meta, Path, RangeLimits, Token};

/// Content of `#[args(...)]` at one item. Each part keeps its span for later errors.
#[derive(Default)]
pub(crate) struct Attributes {
    /// `default` alone, on a variant.
    pub(crate) is_default: Option<Span>,
    pub(crate) default: Option<Expr>,
    pub(crate) required: Option<Span>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) range: Option<Range>,
    pub(crate) format: Option<LitStr>,
    pub(crate) min: Option<Expr>,
    pub(crate) max: Option<Expr>,
    pub(crate) unique: Option<LitStr>,
    pub(crate) increasing: Option<LitStr>,
    pub(crate) check: Option<Path>,
}

/// The bounds of an integer.
pub(crate) struct Range {
    pub(crate) min: Option<Expr>,
    pub(crate) max: Option<Expr>,
    pub(crate) span: Span,
}

/// The item of an attribute, which determines the permitted parts.
#[derive(Clone, Copy)]
pub(crate) enum AttributeTarget {
    Struct,
    Enum,
    Field,
    Variant,
}

impl AttributeTarget {
    fn allowed(self) -> &'static [&'static str] {
        match self {
            AttributeTarget::Struct => &["check"],
            AttributeTarget::Enum => &[],
            AttributeTarget::Field => {
                &["default", "required", "rename", "range", "format", "min", "max", "unique", "increasing"]
            }
            AttributeTarget::Variant => &["default", "rename"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            AttributeTarget::Struct => "a struct",
            AttributeTarget::Enum => "an enum",
            AttributeTarget::Field => "a field",
            AttributeTarget::Variant => "a variant",
        }
    }
}

impl Attributes {
    pub(crate) fn read(attributes: &[Attribute], target: AttributeTarget) -> syn::Result<Self> {
        let mut read = Attributes::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("args")) {
            attribute.parse_nested_meta(|meta| {
                let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                if !target.allowed().contains(&key.as_str()) {
                    let allowed = match target.allowed() {
                        [] => format!("{} takes no `#[args(...)]`", target.name()),
                        keys => format!("known here are `{}`", keys.join("`, `")),
                    };
                    return Err(meta.error(format!("unknown attribute on {}; {allowed}", target.name())));
                }
                match key.as_str() {
                    "default" if matches!(target, AttributeTarget::Variant) => read.is_default = Some(meta.path.span()),
                    "default" => read.default = Some(meta.value()?.parse()?),
                    "required" => read.required = Some(meta.path.span()),
                    "rename" => read.rename = Some(meta.value()?.parse()?),
                    "range" => read.range = Some(Range::read(meta.value()?.parse()?)?),
                    "format" => read.format = Some(meta.value()?.parse()?),
                    "min" => read.min = Some(meta.value()?.parse()?),
                    "max" => read.max = Some(meta.value()?.parse()?),
                    "unique" => read.unique = Some(meta.value()?.parse()?),
                    "increasing" => read.increasing = Some(meta.value()?.parse()?),
                    _ => read.check = Some(meta.value()?.parse()?),
                }
                if meta.input.is_empty() || meta.input.peek(Token![,]) {
                    Ok(())
                } else {
                    Err(meta.error("this attribute takes no value"))
                }
            })?;
        }
        Ok(read)
    }
}

impl Range {
    fn read(expr: Expr) -> syn::Result<Self> {
        let span = expr.span();
        match expr {
            Expr::Range(ExprRange { start, limits, end, .. })
                if matches!(limits, RangeLimits::Closed(_)) || end.is_none() =>
            {
                Ok(Range { min: start.map(|expr| *expr), max: end.map(|expr| *expr), span })
            }
            _ => Err(syn::Error::new(span, "write a range that names its last value, such as `1..=100`, or `1..`")),
        }
    }
}

/// Returns the doc comment as one paragraph.
pub(crate) fn doc(attributes: &[Attribute]) -> String {
    let mut words: Vec<String> = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        if let Meta::NameValue(meta) = &attribute.meta
            && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value
        {
            words.extend(text.value().split_whitespace().map(str::to_owned));
        }
    }
    words.join(" ")
}
