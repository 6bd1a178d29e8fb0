//! The arguments of plugins, read from the sources of their crate: a declaration with `#[derive(Args)]` is the only description.
//!
//! A declaration that sources alone do not determine is left out: one that a macro generates, one from another crate, or one
//! with a mistake. Then rustc alone checks the arguments.

use std::collections::HashMap;

use schedc_derive_model::{Field, Kind, Model, Shape};
use syn::{DeriveInput, ImplItem, Item, Path, Type};

use crate::catalog::ArgsSchema;
use crate::schema::{FieldSchema, Format, Schema};

/// The type of plugins without arguments.
const NO_ARGS: &str = "NoArgs";

/// Maximum nesting of declarations.
const DEEPEST: usize = 32;

/// The declarations of a crate, by the last names of paths.
#[derive(Default)]
pub(crate) struct DeclaredArgs {
    /// `type Args` of each plugin.
    of_plugins: Named<String>,
    types: Named<DeriveInput>,
    /// Types that are read from strings by hand-written code, with the format in their `SCHEMA`.
    strings: Named<Format>,
    constants: Named<i64>,
}

/// A source file, by its place among the sources.
type FileNumber = usize;

/// Items by name, each with its file.
struct Named<T>(HashMap<String, Vec<(FileNumber, T)>>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> Named<T> {
    fn insert(&mut self, name: String, file: FileNumber, item: T) {
        self.0.entry(name).or_default().push((file, item));
    }

    /// The item that a file means by this name: its own one, else the only one of the crate.
    fn find(&self, name: &str, file: Option<FileNumber>) -> Option<&(FileNumber, T)> {
        let items = self.0.get(name)?;
        let mut own = items.iter().filter(|(of, _)| Some(*of) == file);
        match (own.next(), own.next(), items.as_slice()) {
            (Some(only), None, _) | (None, None, [only]) => Some(only),
            _ => None,
        }
    }
}

impl DeclaredArgs {
    /// Reads the texts of Rust files. Files that are not Rust are left out: rustc reports them.
    pub(crate) fn read(sources: &[String]) -> Self {
        let mut declared = Self::default();
        for (file, text) in sources.iter().enumerate() {
            if let Ok(parsed) = syn::parse_file(text) {
                declared.add(file, parsed.items);
            }
        }
        declared
    }

    /// The arguments of the plugin whose type is at this path.
    pub(crate) fn of(&self, path: &str) -> ArgsSchema {
        let path = path.split('<').next().unwrap_or(path);
        let name = path.rsplit("::").next().unwrap_or(path).trim();
        match self.of_plugins.find(name, None) {
            Some((file, args)) => match self.schema(args, *file, DEEPEST) {
                Some(schema) => ArgsSchema::Known(schema),
                None if args == NO_ARGS => ArgsSchema::None,
                None => ArgsSchema::Opaque,
            },
            None => ArgsSchema::Opaque,
        }
    }

    fn add(&mut self, file: FileNumber, items: Vec<Item>) {
        for item in items {
            match item {
                Item::Mod(module) if !is_for_tests(&module.attrs) => {
                    self.add(file, module.content.map(|(_, items)| items).unwrap_or_default());
                }
                Item::Struct(item) if derives_args(&item.attrs) => {
                    self.types.insert(item.ident.to_string(), file, item.into());
                }
                Item::Enum(item) if derives_args(&item.attrs) => {
                    self.types.insert(item.ident.to_string(), file, item.into());
                }
                Item::Const(item) => {
                    if let Some(value) = schedc_derive_model::integer(&item.expr) {
                        self.constants.insert(item.ident.to_string(), file, value);
                    }
                }
                Item::Impl(item) => {
                    // The type of an `impl` is one of the crate, whatever module its path names.
                    let Some(plugin) = type_path(&item.self_ty).and_then(last_name) else { continue };
                    if let Some(format) = item.items.iter().find_map(string_schema) {
                        self.strings.insert(plugin, file, format);
                        continue;
                    }
                    let Some((of_trait, _)) = &item.trait_ else { continue };
                    let of_trait = of_trait.segments.last().map(|segment| segment.ident.to_string());
                    let args = match of_trait.as_deref() {
                        Some("SimpleFilter") => Some(NO_ARGS.to_owned()),
                        Some("Plugin") => item.items.iter().find_map(|item| match item {
                            ImplItem::Type(item) if item.ident == "Args" => args_name(&item.ty),
                            _ => None,
                        }),
                        _ => None,
                    };
                    if let Some(args) = args {
                        self.of_plugins.insert(plugin, file, args);
                    }
                }
                _ => {}
            }
        }
    }

    /// The shape of a type that a file names.
    fn schema(&self, name: &str, file: FileNumber, depth: usize) -> Option<Schema> {
        // A type that contains itself has no end; rustc reports it.
        let depth = depth.checked_sub(1)?;
        if let Some((_, format)) = self.strings.find(name, Some(file)) {
            return Some(Schema::String { format: *format });
        }
        let (file, declaration) = self.types.find(name, Some(file))?;
        Some(match Model::read(declaration.clone()).ok()?.kind {
            Kind::Struct { fields, .. } => {
                let fields = fields.iter().map(|field| self.field(field, *file, depth)).collect::<Option<_>>();
                Schema::Table { fields: fields? }
            }
            Kind::Enum { variants } => {
                Schema::Enum { values: variants.into_iter().map(|variant| variant.value).collect() }
            }
        })
    }

    fn field(&self, field: &Field, file: FileNumber, depth: usize) -> Option<FieldSchema> {
        let schema = self.shape(&field.shape, file, depth)?;
        let (name, doc) = (field.key.clone(), field.doc.clone());
        Some(FieldSchema { name, required: field.default.is_none(), doc, schema })
    }

    fn shape(&self, shape: &Shape, file: FileNumber, depth: usize) -> Option<Schema> {
        Some(match shape {
            Shape::Boolean => Schema::Boolean,
            Shape::Integer { narrow, min, max } => {
                let widest = |bound: i32| narrow.then_some(bound.into());
                Schema::Integer {
                    min: min.as_ref().map_or(widest(i32::MIN), |min| self.integer(min, file)),
                    max: max.as_ref().map_or(widest(i32::MAX), |max| self.integer(max, file)),
                }
            }
            Shape::Str(format) => Schema::String { format: string_format(format) },
            Shape::Named(ty) => self.schema(&own_name(type_path(ty)?)?, file, depth)?,
            Shape::Optional(of) => self.shape(of, file, depth)?,
            Shape::List(entries) => {
                let rules = entries.rules_read(|expr| self.integer(expr, file));
                let of = Box::new(self.shape(&entries.of, file, depth)?);
                let count = |count: i64| usize::try_from(count).ok();
                Schema::List {
                    of,
                    min: Some(rules.min.and_then(count).unwrap_or_default()),
                    max: rules.max.and_then(count),
                    unique: rules.unique,
                    increasing: rules.increasing,
                }
            }
        })
    }

    /// The value of a literal, or of a constant of the crate. None: rustc alone knows it.
    fn integer(&self, expr: &syn::Expr, file: FileNumber) -> Option<i64> {
        if let Some(value) = schedc_derive_model::integer(expr) {
            return Some(value);
        }
        match expr {
            syn::Expr::Path(path) => {
                let name = own_name(&path.path).filter(|_| path.qself.is_none())?;
                self.constants.find(&name, Some(file)).map(|(_, value)| *value)
            }
            _ => None,
        }
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test")
    })
}

fn derives_args(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|attribute| {
        let mut derives = false;
        // What is not a list of paths is for rustc to report.
        let _ = attribute.parse_nested_meta(|meta| {
            derives |= meta.path.segments.last().is_some_and(|segment| segment.ident == "Args");
            Ok(())
        });
        derives
    })
}

fn type_path(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(path) if path.qself.is_none() => Some(&path.path),
        _ => None,
    }
}

fn last_name(path: &Path) -> Option<String> {
    path.segments.last().map(|segment| segment.ident.to_string())
}

/// The last name of a path into this crate. Other paths may lead to other crates or to types, such as `i64::MAX`.
fn own_name(path: &Path) -> Option<String> {
    let first = &path.segments.first()?.ident;
    let is_own = path.segments.len() == 1 || ["crate", "self", "super"].iter().any(|own| first == own);
    last_name(path).filter(|_| is_own && path.leading_colon.is_none())
}

fn args_name(ty: &Type) -> Option<String> {
    let path = type_path(ty)?;
    own_name(path).or_else(|| last_name(path).filter(|name| name == NO_ARGS))
}

/// The format in `const SCHEMA: Schema = Schema::String(Format::QualifiedName);`
fn string_schema(item: &ImplItem) -> Option<Format> {
    let ImplItem::Const(constant) = item else { return None };
    let syn::Expr::Call(call) = &constant.expr else { return None };
    let (syn::Expr::Path(function), Some(syn::Expr::Path(format))) = (&*call.func, call.args.first()) else {
        return None;
    };
    let is_string = function.path.segments.last()?.ident == "String";
    (constant.ident == "SCHEMA" && is_string).then_some(())?;
    Some(string_format(&format.path.segments.last()?.ident.to_string()))
}

/// A format by its variant in `schedc_core`.
fn string_format(variant: &str) -> Format {
    match variant {
        "QualifiedName" => Format::QualifiedName,
        "NamePrefix" => Format::NamePrefix,
        "LabelValue" => Format::LabelValue,
        "NonEmpty" => Format::NonEmpty,
        "Duration" => Format::Duration,
        _ => Format::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
        const MOST: i64 = 100;

        #[derive(Clone, Copy, schedc_core::args::Args)]
        pub struct SpeedArgs {
            /// The label with the
            /// speed.
            #[args(default = "example.com/speed", format = "qualified-name")]
            pub label: &'static str,
            #[args(required, range = 1..=MOST)]
            pub least: i64,
            pub mode: Mode,
            #[args(unique = "")]
            pub zones: List<&'static str, 4>,
        }

        #[derive(Clone, Copy, Args)]
        pub enum Mode {
            #[args(default)]
            Slow,
            Fast,
        }

        impl Plugin for Speed {
            type Args = SpeedArgs;
        }

        impl Plugin for Plain {
            type Args = NoArgs;
        }

        impl schedc_core::SimpleFilter for Simple {}

        impl Plugin for Generated {
            type Args = made_by_a_macro::Args;
        }

        #[cfg(test)]
        mod tests {
            impl Plugin for Speed {
                type Args = NoArgs;
            }
        }
    "#;

    #[test]
    fn a_derive_is_the_description_of_arguments() {
        let declared = DeclaredArgs::read(&[SOURCE.to_owned(), "not Rust".to_owned()]);
        let ArgsSchema::Known(Schema::Table { fields }) = declared.of("fast::Speed") else {
            panic!("the arguments are declared");
        };
        let fields: Vec<_> =
            fields.into_iter().map(|field| (field.name, field.required, field.doc, field.schema)).collect();
        let field = |name: &str, required, doc: &str, schema| (name.to_owned(), required, doc.to_owned(), schema);
        let of = Box::new(Schema::String { format: Format::Any });
        assert_eq!(
            fields,
            [
                field("label", false, "The label with the speed.", Schema::String { format: Format::QualifiedName }),
                field("least", true, "", Schema::Integer { min: Some(1), max: Some(100) }),
                field("mode", false, "", Schema::Enum { values: vec!["Slow".to_owned(), "Fast".to_owned()] }),
                field(
                    "zones",
                    false,
                    "",
                    Schema::List { of, min: Some(0), max: Some(4), unique: Some(String::new()), increasing: None }
                ),
            ]
        );
        assert_eq!(declared.of("fast::Plain"), ArgsSchema::None);
        assert_eq!(declared.of("fast::Simple"), ArgsSchema::None);
    }

    /// `plugins/tests/catalog` holds the file against the structs.
    #[test]
    fn sources_describe_the_arguments_of_all_in_tree_plugins() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let sources = crate::load::rust_sources(&folder.join("../plugins"));
        let declared = DeclaredArgs::read(&sources);
        let known: std::collections::BTreeMap<String, Schema> =
            serde_json::from_str(include_str!("../catalog/in-tree-args.json")).unwrap();
        assert!(known.len() > 7);
        for (plugin, schema) in known {
            assert_eq!(declared.of(&format!("schedc_plugins::{plugin}")), ArgsSchema::Known(schema), "{plugin}");
        }
        assert_eq!(declared.of("schedc_plugins::NodeUnschedulable"), ArgsSchema::None);
    }

    #[test]
    fn what_sources_do_not_determine_is_left_to_rustc() {
        let declared = DeclaredArgs::read(&[SOURCE.to_owned()]);
        assert_eq!(declared.of("fast::Generated"), ArgsSchema::Opaque);
        assert_eq!(declared.of("fast::Unknown"), ArgsSchema::Opaque);
        let twice = DeclaredArgs::read(&[SOURCE.to_owned(), SOURCE.to_owned()]);
        assert_eq!(twice.of("fast::Speed"), ArgsSchema::Opaque);
    }

    #[test]
    fn a_type_that_contains_itself_is_left_to_rustc() {
        for field in ["next: Option<A>", "entries: Seq<A>", "other: B"] {
            let source = format!(
                "#[derive(Args)] pub struct A {{ pub {field} }}
                #[derive(Args)] pub struct B {{ pub a: Option<A> }}
                impl Plugin for Endless {{ type Args = A; }}"
            );
            assert_eq!(DeclaredArgs::read(&[source]).of("Endless"), ArgsSchema::Opaque, "{field}");
        }
    }

    #[test]
    fn paths_into_other_crates_are_left_to_rustc() {
        let schema = |args: &str, max: &str, mode: &str| {
            let source = format!(
                "const MAX: i64 = 9;
                #[derive(Args)] pub enum Mode {{ #[args(default)] Slow }}
                #[derive(Args)] pub struct SpeedArgs {{
                    #[args(default = 1, range = 0..={max})] pub most: i64,
                    pub mode: {mode},
                }}
                impl Plugin for limits::Speed {{ type Args = {args}; }}"
            );
            DeclaredArgs::read(&[source]).of("Speed")
        };
        let most = |schema: ArgsSchema| match schema {
            ArgsSchema::Known(Schema::Table { fields }) => fields.into_iter().next().map(|field| field.schema),
            _ => None,
        };
        for (path, max) in [("MAX", Some(9)), ("self::MAX", Some(9)), ("i64::MAX", None), ("other::MAX", None)] {
            let expected = Some(Schema::Integer { min: Some(0), max });
            assert_eq!(most(schema("SpeedArgs", path, "crate::Mode")), expected, "{path}");
        }
        assert_eq!(schema("SpeedArgs", "9", "other::Mode"), ArgsSchema::Opaque);
        assert_eq!(schema("other::SpeedArgs", "9", "Mode"), ArgsSchema::Opaque);
        assert_eq!(schema("schedc_core::args::NoArgs", "9", "Mode"), ArgsSchema::None);
    }
}
