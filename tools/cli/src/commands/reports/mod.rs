//! Reports as HTML pages.

#[cfg(feature = "recordings")]
pub(crate) mod backtest;
#[cfg(feature = "bench")]
pub(crate) mod bench;
mod charts;
#[cfg(all(feature = "recordings", feature = "run"))]
pub(crate) mod closed_loop;
pub(crate) mod diff;
pub(crate) mod explanation;
#[cfg(all(feature = "recordings", feature = "run"))]
pub(crate) mod replay;
pub(crate) mod simulation;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use schedc_report::Report;

use super::failure::Failure;
use super::output;

/// The option for a report.
#[derive(Args)]
pub(crate) struct ReportFile {
    /// Also write the result as an HTML page with charts, searchable tables and CSV files
    ///
    /// The page is one self-contained file. docs/reports.md describes it.
    #[arg(long = "report", value_name = "FILE.html", value_parser = file)]
    path: Option<PathBuf>,
}

/// Returns the path of a report. Its folder must exist: otherwise, the result of a long simulation would be lost.
fn file(path: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(path);
    if path.is_empty() || path == "-" || file.file_name().is_none() {
        return Err("a report needs a file name, such as report.html".to_owned());
    }
    if file.is_dir() {
        return Err("this is a folder; add a file name, such as report.html".to_owned());
    }
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(format!("there is no folder {}; create it first", folder.display()))
        }
        _ => Ok(file),
    }
}

impl ReportFile {
    /// Returns whether a report is requested.
    pub(crate) fn is_requested(&self) -> bool {
        self.path.is_some()
    }

    /// Writes a report, if it is requested.
    pub(crate) fn write(&self, report: impl FnOnce() -> Report) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Ok(()) };
        let html = report().html().map_err(Failure::new)?;
        let name = path.display();
        fs::write(path, html).map_err(|error| Failure::new(format_args!("cannot write {name}: {error}")))?;
        output::note(format_args!("the report is in {name}"));
        Ok(())
    }
}

/// Returns the input for the subtitle of a report: the first names of the files and the number of the others, or the live
/// cluster if there are no files.
pub(crate) fn names(files: &[PathBuf]) -> String {
    const SHOWN: usize = 3;
    let name = |file: &PathBuf| Path::new(file).display().to_string();
    let shown = files.iter().take(SHOWN).map(name).collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(SHOWN) {
        0 if files.is_empty() => "the live cluster".to_owned(),
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_needs_a_file_in_an_existing_folder() {
        for path in ["", "-", "/", "."] {
            assert!(file(path).is_err(), "{path}");
        }
        assert!(
            file("absent-folder/report.html").is_err_and(|error| error.contains("there is no folder absent-folder"))
        );
        assert_eq!(file("report.html"), Ok(PathBuf::from("report.html")));
    }

    #[test]
    fn subtitles_have_a_few_names() {
        let files = ["a", "b", "c", "d", "e"].map(PathBuf::from);
        assert_eq!(names(&files), "a, b, c and 2 more");
        assert_eq!(names(&files[..2]), "a, b");
        assert_eq!(names(&[]), "the live cluster");
    }
}
