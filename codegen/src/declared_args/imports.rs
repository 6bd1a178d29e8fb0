//! The `use` declarations of a file.

use std::collections::{HashMap, HashSet};

use syn::{ItemUse, UseTree, Visibility};

/// The names that the `use` declarations of a file bring into scope.
#[derive(Default)]
pub(super) struct Imports {
    names: HashMap<String, Vec<Import>>,
    /// Modules that the file declares: a `use` path may start with one.
    modules: HashSet<String>,
    /// Whether a `use` with `*` imports from this crate.
    pub(super) has_own_glob: bool,
    /// Whether a `use` with `*` imports from another crate. The framework does not count: most files import its
    /// prelude.
    pub(super) has_foreign_glob: bool,
    /// Whether a `use` with `*` from another crate is public.
    pub(super) exports_foreign_glob: bool,
}

struct Import {
    origin: Origin,
    is_public: bool,
}

/// The item that an imported name stands for.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// An item of this crate, by its declared name.
    Own(String),
    /// An item of another crate.
    Foreign,
}

/// The root of a `use` path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Own,
    Framework,
    Foreign,
}

impl Imports {
    pub(super) fn add_module(&mut self, name: &syn::Ident) {
        self.modules.insert(name.to_string());
    }

    pub(super) fn add(&mut self, item: &ItemUse) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        self.add_tree(&item.tree, None, item.leading_colon.is_some(), is_public);
    }

    /// Returns the item that a name refers to. `None`: no `use` imports it. An ambiguous name is foreign.
    pub(super) fn origin(&self, name: &str) -> Option<Origin> {
        let imports = self.names.get(name)?;
        let first = &imports.first()?.origin;
        Some(if imports.iter().all(|import| import.origin == *first) { first.clone() } else { Origin::Foreign })
    }

    /// Returns whether the file re-exports an item of another crate by this name.
    pub(super) fn exports_foreign(&self, name: &str) -> bool {
        let imports = self.names.get(name).map(Vec::as_slice).unwrap_or_default();
        imports.iter().any(|import| import.is_public && import.origin == Origin::Foreign)
    }

    /// Adds the imports of a tree. `parent`: the root of the path so far, and its last name. `is_absolute`: the path
    /// begins with `::`.
    fn add_tree(&mut self, tree: &UseTree, parent: Option<(Root, &str)>, is_absolute: bool, is_public: bool) {
        match tree {
            UseTree::Path(path) => {
                let name = path.ident.to_string();
                let root = parent.map_or_else(|| self.root(&name, is_absolute), |(root, _)| root);
                self.add_tree(&path.tree, Some((root, &name)), false, is_public);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_tree(tree, parent, is_absolute, is_public);
                }
            }
            UseTree::Name(item) => self.add_name(&item.ident, &item.ident, parent, is_public),
            UseTree::Rename(item) => self.add_name(&item.ident, &item.rename, parent, is_public),
            UseTree::Glob(_) => match parent {
                Some((Root::Own, _)) => self.has_own_glob = true,
                Some((Root::Framework, _)) => {}
                Some((Root::Foreign, _)) | None => {
                    self.has_foreign_glob = true;
                    self.exports_foreign_glob |= is_public;
                }
            },
        }
    }

    fn add_name(&mut self, item: &syn::Ident, name: &syn::Ident, parent: Option<(Root, &str)>, is_public: bool) {
        // `use speed;` imports a crate, not an item.
        let Some((root, last)) = parent else { return };
        let real = |ident: &syn::Ident| if ident == "self" { last.to_owned() } else { ident.to_string() };
        let origin = if root == Root::Own { Origin::Own(real(item)) } else { Origin::Foreign };
        self.names.entry(real(name)).or_default().push(Import { origin, is_public });
    }

    fn root(&self, first: &str, is_absolute: bool) -> Root {
        let is_own = matches!(first, "crate" | "self" | "super") || self.modules.contains(first);
        match first {
            _ if is_own && !is_absolute => Root::Own,
            "schedc_core" => Root::Framework,
            _ => Root::Foreign,
        }
    }
}
