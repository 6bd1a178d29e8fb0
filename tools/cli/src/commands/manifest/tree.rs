//! Generated files in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::commands::failure::Failure;
use crate::commands::output;

/// Files by path.
pub(super) struct Tree {
    /// File whose first line identifies generated folders.
    main: &'static str,
    files: BTreeMap<String, String>,
}

impl Tree {
    pub(super) fn new(main: &'static str, text: String, others: impl Iterator<Item = (String, String)>) -> Self {
        let mut files: BTreeMap<_, _> = others.collect();
        files.insert(main.to_owned(), text);
        Tree { main, files }
    }

    /// Writes the files into a folder that is empty, does not exist, or contains generated files of the same form.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let cannot =
            |path: &Path, error: io::Error| Failure::new(format_args!("cannot write {}: {error}", path.display()));
        let is_empty = match fs::read_dir(folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => return Err(cannot(folder, error)),
        };
        if !is_empty && !self.is_generated(folder) {
            return Err(Failure::new(format_args!(
                "{} contains other files than `schedc manifest` generates: choose a new or an empty folder",
                folder.display()
            )));
        }
        for (path, text) in &self.files {
            let path = folder.join(path);
            path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| cannot(&path, error))?;
            fs::write(&path, text).map_err(|error| cannot(&path, error))?;
        }
        self.warn_of_stale_templates(folder);
        Ok(())
    }

    fn is_generated(&self, folder: &Path) -> bool {
        let main = fs::read_to_string(folder.join(self.main)).unwrap_or_default();
        main.lines().next() == self.files[self.main].lines().next()
    }

    /// Warns of stale files in `templates`, which Helm would render too.
    fn warn_of_stale_templates(&self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder.join("templates")) else { return };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        for path in names.map(|name| format!("templates/{name}")).filter(|path| !self.files.contains_key(path)) {
            output::warning(format_args!(
                "{} is not part of this version of the chart: delete it unless you added it",
                folder.join(path).display()
            ));
        }
    }
}
