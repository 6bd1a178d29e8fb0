//! Parsing and checking of declarations.

use super::ErrorCollector;
use super::attributes::{self, AttributeTarget, Attributes};
use super::shape::Shape;
use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DataStruct, DeriveInput, Fields, Ident, Path, Visibility};

/// A declaration with `#[derive(Args)]`.
pub struct Model {
    pub(crate) name: Ident,
    pub(crate) vis: Visibility,
    /// Struct or enum, with its parts.
    pub kind: Kind,
}

/// A struct or an enum.
pub enum Kind {
    /// A table in the profile.
    Struct {
        /// The fields, in the order of the declaration.
        fields: Vec<Field>,
        /// The function that checks conditions that attributes cannot express.
        check: Option<Path>,
    },
    /// A string in the profile.
    Enum {
        /// The variants; at least one.
        variants: Vec<Variant>,
    },
}

/// A field of a struct.
pub struct Field {
    pub(crate) member: Ident,
    pub(crate) ty: syn::Type,
    /// The key in the profile.
    pub key: String,
    /// The doc comment as one paragraph.
    pub doc: String,
    /// The type and its rules.
    pub shape: Shape,
    /// The default value; `None` if the field is required.
    pub default: Option<TokenStream>,
}

/// A variant of an enum.
pub struct Variant {
    pub(crate) ident: Ident,
    /// The string in the profile.
    pub value: String,
    pub(crate) is_default: bool,
}

impl Model {
    /// Parses a declaration.
    ///
    /// # Errors
    /// All errors, each with its location.
    pub fn read(input: DeriveInput) -> syn::Result<Self> {
        let mut problems = ErrorCollector::default();
        if !input.generics.params.is_empty() {
            problems.add(syn::Error::new(input.generics.span(), "arguments cannot be generic"));
        }
        let target = if matches!(input.data, Data::Enum(_)) { AttributeTarget::Enum } else { AttributeTarget::Struct };
        let attributes = problems.ok(Attributes::read(&input.attrs, target)).unwrap_or_default();
        let kind = match input.data {
            Data::Struct(data) => {
                Kind::Struct { fields: read_fields(&input.ident, data, &mut problems), check: attributes.check }
            }
            Data::Enum(data) => Kind::Enum { variants: read_variants(&input.ident, data, &mut problems) },
            Data::Union(data) => {
                problems.add(syn::Error::new(data.union_token.span, "arguments are a struct or an enum"));
                Kind::Struct { fields: Vec::new(), check: None }
            }
        };
        problems.finish(Model { name: input.ident, vis: input.vis, kind })
    }
}

fn read_fields(name: &Ident, data: DataStruct, problems: &mut ErrorCollector) -> Vec<Field> {
    let named = match data.fields {
        Fields::Named(named) => named,
        Fields::Unit => return Vec::new(),
        Fields::Unnamed(_) => {
            problems.add(syn::Error::new(name.span(), "arguments are a struct with named fields or without fields"));
            return Vec::new();
        }
    };
    let mut fields: Vec<Field> = Vec::new();
    for field in named.named {
        if let Some(field) = problems.ok(read_field(field)) {
            if fields.iter().any(|other| other.key == field.key) {
                let message = format!("two fields are called `{}` in a profile", field.key);
                problems.add(syn::Error::new(field.member.span(), message));
            }
            fields.push(field);
        }
    }
    fields
}

fn read_field(field: syn::Field) -> syn::Result<Field> {
    let member = match field.ident {
        Some(member) => member,
        None => return Err(syn::Error::new(field.ty.span(), "arguments are named fields")),
    };
    let mut attributes = Attributes::read(&field.attrs, AttributeTarget::Field)?;
    let shape = Shape::read(&field.ty, &mut attributes)?;
    let default = match (attributes.required, &attributes.default) {
        (Some(required), Some(_)) => {
            return Err(syn::Error::new(required, "a required field has no default"));
        }
        (Some(_), None) => None,
        (None, Some(default)) => Some(shape.given_default(default)?),
        (None, None) => match shape.implied_default() {
            Some(default) => Some(default),
            None => {
                let message = "this field needs a default: `#[args(default = ...)]`, or `#[args(required)]`";
                return Err(syn::Error::new(member.span(), message));
            }
        },
    };
    let key = match &attributes.rename {
        Some(name) => name.value(),
        None => member.unraw().to_string().replace('_', "-"),
    };
    let doc = attributes::doc(&field.attrs);
    Ok(Field { member, ty: field.ty, key, doc, shape, default })
}

fn read_variants(name: &Ident, data: DataEnum, problems: &mut ErrorCollector) -> Vec<Variant> {
    if data.variants.is_empty() {
        problems.add(syn::Error::new(name.span(), "no variants: no value could be written in a profile"));
    }
    let mut variants: Vec<Variant> = Vec::new();
    for variant in data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            let message = "variants of arguments hold no values: a profile writes them as strings";
            problems.add(syn::Error::new(variant.fields.span(), message));
            continue;
        }
        let Some(attributes) = problems.ok(Attributes::read(&variant.attrs, AttributeTarget::Variant)) else {
            continue;
        };
        let value = attributes.rename.map_or_else(|| variant.ident.unraw().to_string(), |name| name.value());
        if variants.iter().any(|other| other.value == value) {
            let message = format!("two variants are called \"{value}\" in a profile");
            problems.add(syn::Error::new(variant.ident.span(), message));
        }
        if let Some(default) = attributes.is_default
            && variants.iter().any(|other| other.is_default)
        {
            problems.add(syn::Error::new(default, "there is another default variant"));
        }
        let is_default = attributes.is_default.is_some();
        variants.push(Variant { ident: variant.ident, value, is_default });
    }
    variants
}
