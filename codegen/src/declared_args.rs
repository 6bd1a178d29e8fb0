//! The arguments of plugins, read from the sources of their crate. The catalog need not repeat what the type with
//! `#[derive(Args)]` declares.
//!
//! A declaration that sources alone do not determine is omitted: one that a macro generates, one from another
//! crate, or an invalid one. rustc then checks the arguments.

mod imports;

use std::collections::HashMap;

use imports::{Imports, Origin};
use proc_macro2::Span;
use schedc_derive_model::{Field, Kind, Model, Shape};
use syn::{DeriveInput, ImplItem, Item, Path, Type};

use crate::schema::{ArgsSchema, FieldSchema, Format, Schema};

/// The argument type of plugins without arguments.
const NO_ARGS: &str = "NoArgs";

/// Maximum nesting of declarations.
const MAX_DEPTH: usize = 32;

/// The declarations of a crate, by the last segments of their paths.
#[derive(Default)]
pub(crate) struct DeclaredArgs {
    /// The imports of each file.
    imports: Vec<Imports>,
    /// `type Args` of each plugin.
    of_plugins: ItemsByName<Path>,
    /// Structs, enums and type aliases; `None` for those without `#[derive(Args)]`.
    types: ItemsByName<Option<DeriveInput>>,
    /// Types with handwritten code that reads them from strings, and the format in their `SCHEMA`.
    strings: ItemsByName<Format>,
    /// Constants; `None` for a value that is not a literal.
    constants: ItemsByName<Option<i64>>,
}

/// Index of a source file.
type FileNumber = usize;

/// Items by name, each with its file.
struct ItemsByName<T>(HashMap<String, Vec<(FileNumber, T)>>);

impl<T> Default for ItemsByName<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> ItemsByName<T> {
    fn insert(&mut self, name: String, file: FileNumber, item: T) {
        self.0.entry(name).or_default().push((file, item));
    }

    /// Returns the item with this name. `None`: the crate has no such item, or several.
    fn only(&self, name: &str) -> Option<&(FileNumber, T)> {
        match self.0.get(name)?.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    fn in_file(&self, name: &str, file: FileNumber) -> impl Iterator<Item = &(FileNumber, T)> {
        self.0.get(name).into_iter().flatten().filter(move |(item_file, _)| *item_file == file)
    }
}

impl DeclaredArgs {
    /// Reads the texts of Rust files. Files that are not Rust are omitted: rustc reports them.
    pub(crate) fn read(sources: &[String]) -> Self {
        let mut declared = Self::default();
        for (file, text) in sources.iter().enumerate() {
            let mut imports = Imports::default();
            if let Ok(parsed) = syn::parse_file(text) {
                add_imports(&parsed.items, &mut imports);
                declared.add(file, parsed.items);
            }
            declared.imports.push(imports);
        }
        declared
    }

    /// Returns the item that a path in a file refers to. `None`: sources do not determine it, or it is in another
    /// crate.
    fn find<'a, T>(&'a self, items: &'a ItemsByName<T>, path: &Path, file: FileNumber) -> Option<&'a (FileNumber, T)> {
        let first = &path.segments.first().filter(|_| path.leading_colon.is_none())?.ident;
        let name = &last_name(path)?;
        match path.segments.len() {
            1 => self.find_local(items, name, file),
            2 if first == "self" => self.find_local(items, name, file),
            _ if first == "crate" || first == "self" || first == "super" => self.find_in_crate(items, name),
            // The path may refer to another crate or to a type, such as `i64::MAX`.
            _ => None,
        }
    }

    fn find_local<'a, T>(
        &'a self,
        items: &'a ItemsByName<T>,
        name: &str,
        file: FileNumber,
    ) -> Option<&'a (FileNumber, T)> {
        let imports = self.imports.get(file)?;
        let mut own = items.in_file(name, file);
        match (own.next(), own.next(), imports.origin(name)) {
            (Some(only), None, None) => Some(only),
            (None, _, Some(Origin::Own(name))) => self.find_in_crate(items, &name),
            (None, _, None) if imports.has_own_glob && !imports.has_foreign_glob => self.find_in_crate(items, name),
            _ => None,
        }
    }

    fn find_in_crate<'a, T>(&'a self, items: &'a ItemsByName<T>, name: &str) -> Option<&'a (FileNumber, T)> {
        let exports_foreign = |imports: &Imports| imports.exports_foreign_glob || imports.exports_foreign(name);
        items.only(name).filter(|_| !self.imports.iter().any(exports_foreign))
    }

    /// Returns the arguments of the plugin with this type path; `Opaque` if the sources do not determine them.
    pub(crate) fn of(&self, path: &str) -> ArgsSchema {
        let path = path.split('<').next().unwrap_or(path);
        let name = path.rsplit("::").next().unwrap_or(path).trim();
        match self.of_plugins.only(name) {
            Some((file, args)) => match self.schema(args, *file, MAX_DEPTH) {
                Some(Schema::Table { fields }) if fields.is_empty() => ArgsSchema::None,
                Some(schema) => ArgsSchema::Known(schema),
                None if last_name(args).is_some_and(|name| name == NO_ARGS) => ArgsSchema::None,
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
                Item::Struct(item) => {
                    let declaration = derives_args(&item.attrs).then(|| item.clone().into());
                    self.types.insert(item.ident.to_string(), file, declaration);
                }
                Item::Enum(item) => {
                    let declaration = derives_args(&item.attrs).then(|| item.clone().into());
                    self.types.insert(item.ident.to_string(), file, declaration);
                }
                Item::Type(item) => self.types.insert(item.ident.to_string(), file, None),
                Item::Const(item) => {
                    self.constants.insert(item.ident.to_string(), file, schedc_derive_model::integer(&item.expr));
                }
                Item::Impl(item) => {
                    // The type of an `impl` belongs to the crate, regardless of the module in its path.
                    let Some(plugin) = type_path(&item.self_ty).and_then(last_name) else { continue };
                    if let Some(format) = item.items.iter().find_map(string_schema) {
                        self.strings.insert(plugin, file, format);
                        continue;
                    }
                    let Some((of_trait, _)) = &item.trait_ else { continue };
                    let of_trait = of_trait.segments.last().map(|segment| segment.ident.to_string());
                    let args = match of_trait.as_deref() {
                        // The fields of the plugin are its arguments.
                        Some("SimpleFilter" | "SimpleScore") => type_path(&item.self_ty).cloned(),
                        Some("Plugin") => {
                            let written = item.items.iter().find_map(|item| match item {
                                ImplItem::Type(item) if item.ident == "Args" => Some(type_path(&item.ty).cloned()),
                                _ => None,
                            });
                            // `#[plugin]` adds `type Args = NoArgs`.
                            written.unwrap_or_else(|| Some(syn::Ident::new(NO_ARGS, Span::call_site()).into()))
                        }
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

    /// Returns the shape of a type that a file names.
    fn schema(&self, path: &Path, file: FileNumber, depth: usize) -> Option<Schema> {
        // A type that contains itself is infinite; rustc reports it.
        let depth = depth.checked_sub(1)?;
        if let Some((_, format)) = self.find(&self.strings, path, file) {
            return Some(Schema::String { format: *format });
        }
        let (file, declaration) = self.find(&self.types, path, file)?;
        Some(match Model::read(declaration.clone()?).ok()?.kind {
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
            Shape::Named(ty) => self.schema(type_path(ty)?, file, depth)?,
            Shape::Optional(of) => self.shape(of, file, depth)?,
            Shape::List(entries) => {
                let rules = entries.evaluated_rules(|expr| self.integer(expr, file));
                let element = Box::new(self.shape(&entries.of, file, depth)?);
                let count = |count: i64| usize::try_from(count).ok();
                Schema::List {
                    element,
                    min: Some(rules.min.and_then(count).unwrap_or_default()),
                    max: rules.max.and_then(count),
                    unique: rules.unique,
                    increasing: rules.increasing,
                }
            }
        })
    }

    /// Returns the value of a literal, or of a constant of the crate. `None`: only rustc can evaluate it.
    fn integer(&self, expr: &syn::Expr, file: FileNumber) -> Option<i64> {
        if let Some(value) = schedc_derive_model::integer(expr) {
            return Some(value);
        }
        match expr {
            syn::Expr::Path(path) if path.qself.is_none() => self.find(&self.constants, &path.path, file)?.1,
            _ => None,
        }
    }
}

fn add_imports(items: &[Item], imports: &mut Imports) {
    // Modules first: a `use` of a module may precede it.
    for item in items {
        if let Item::Mod(module) = item
            && !is_for_tests(&module.attrs)
        {
            imports.add_module(&module.ident);
            let items = module.content.as_ref().map(|(_, items)| items.as_slice());
            add_imports(items.unwrap_or_default(), imports);
        }
    }
    for item in items {
        if let Item::Use(item) = item {
            imports.add(item);
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
        // rustc reports an invalid list of paths.
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

/// Returns the format in `const SCHEMA: Schema = Schema::String(Format::QualifiedName);`
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

/// Returns a format by its variant in `schedc_core`.
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
mod tests;
