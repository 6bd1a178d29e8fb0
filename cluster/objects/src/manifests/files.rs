//! Files, folders and standard input.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Problem, Reading, SourceLocation, document};

pub(super) fn read(path: &Path, reading: &mut Reading) {
    if path.as_os_str() == "-" {
        return read_file(path, reading);
    }
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let mut files = Vec::new();
            let problems = reading.problems.len();
            collect(path, &mut files, reading);
            files.sort();
            if files.is_empty() && reading.problems.len() == problems {
                problem(path, "is a folder without .yaml, .yml, .json or .jsonl files", reading);
            }
            for file in files {
                read_file(&file, reading);
            }
        }
        Ok(_) => read_file(path, reading),
        Err(error) => problem(path, &format!("cannot be read: {error}"), reading),
    }
}

/// Finds the manifests below a folder. Links to folders are not followed, because they may form cycles.
fn collect(folder: &Path, files: &mut Vec<PathBuf>, reading: &mut Reading) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return problem(folder, &format!("cannot be read: {error}"), reading),
    };
    for entry in entries {
        let (path, kind) = match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
            Ok(found) => found,
            Err(error) => {
                problem(folder, &format!("cannot be read: {error}"), reading);
                continue;
            }
        };
        if kind.is_dir() {
            collect(&path, files, reading);
        } else if path.extension().is_some_and(|e| ["yaml", "yml", "json", "jsonl"].iter().any(|known| e == *known))
            && (kind.is_file() || path.is_file())
        {
            files.push(path);
        }
    }
}

fn read_file(path: &Path, reading: &mut Reading) {
    match text(path) {
        Ok((name, text)) => document::read(&name, &text, reading),
        Err(problem) => reading.problems.push(problem),
    }
}

/// Returns the text of a file or, for `-`, of standard input, with its name for problems.
pub(super) fn text(path: &Path) -> Result<(String, String), Problem> {
    let (name, bytes) = match path.as_os_str() == "-" {
        true => {
            let mut bytes = Vec::new();
            ("standard input".to_owned(), io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes))
        }
        false => (path.to_string_lossy().into_owned(), fs::read(path)),
    };
    let bytes = bytes.map_err(|error| file_problem(&name, &format!("cannot be read: {error}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(_) => Err(file_problem(&name, "is not UTF-8 text")),
    }
}

fn problem(path: &Path, message: &str, reading: &mut Reading) {
    reading.problems.push(file_problem(&path.to_string_lossy(), message));
}

/// Returns a problem that concerns a whole file.
fn file_problem(file: &str, message: &str) -> Problem {
    let place = SourceLocation { file: file.into(), line: 0, item: None };
    Problem { place, object: None, field: None, message: message.to_owned() }
}
