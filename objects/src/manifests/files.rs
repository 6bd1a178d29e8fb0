//! Files, folders and standard input.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Place, Problem, Reading, document};

pub(super) fn read(path: &Path, reading: &mut Reading) {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        let result = io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes);
        return read_text("standard input", result, reading);
    }
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let mut files = Vec::new();
            collect(path, &mut files, reading);
            files.sort();
            if files.is_empty() {
                problem(path, "is a folder without .yaml, .yml, .json or .jsonl files", reading);
            }
            for file in files {
                read_text(&file.to_string_lossy(), fs::read(&file), reading);
            }
        }
        Ok(_) => read_text(&path.to_string_lossy(), fs::read(path), reading),
        Err(error) => problem(path, &format!("cannot be read: {error}"), reading),
    }
}

/// Finds the manifests below a folder. Links to folders are not followed, since they may lead in circles.
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

fn read_text(name: &str, bytes: io::Result<Vec<u8>>, reading: &mut Reading) {
    match bytes {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => document::read(name, &text, reading),
            Err(_) => problem(Path::new(name), "is not UTF-8 text", reading),
        },
        Err(error) => problem(Path::new(name), &format!("cannot be read: {error}"), reading),
    }
}

fn problem(path: &Path, message: &str, reading: &mut Reading) {
    reading.problems.push(Problem {
        place: Place { file: path.to_string_lossy().into(), line: 0, item: None },
        object: None,
        field: None,
        message: message.to_owned(),
    });
}
