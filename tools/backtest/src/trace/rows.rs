//! Rows of tables: CSV with a header, or JSON lines.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use schedc_bounds::suggest::closest;
use schedc_bounds::text::shortened;
use serde_json::Value;

use super::TraceError;
use super::mapping::Maps;
use super::text::{Part, Text};

/// Maximum number of bytes in a line of JSON.
const MAX_LINE: u64 = 1 << 20;

/// The placeholder for the number of a row.
const INDEX: &str = "index";

/// Rows of a file, or a number of rows without columns.
pub(super) struct Rows {
    file: Arc<str>,
    source: Source,
    /// Number of rows so far.
    index: u64,
    line: u64,
    fields: Rc<RefCell<Fields>>,
}

/// JSON fields that the mapping reads, and whether any object has them.
type Fields = BTreeMap<String, bool>;

enum Source {
    Csv(Box<csv::Reader<File>>, Arc<HashMap<String, usize>>),
    Json(BufReader<File>),
    Count(u64),
}

/// A row.
pub(super) struct Row<'a> {
    pub(super) file: Arc<str>,
    pub(super) line: u64,
    index: u64,
    maps: &'a Maps,
    values: Values,
    fields: Rc<RefCell<Fields>>,
}

enum Values {
    Csv(csv::StringRecord, Arc<HashMap<String, usize>>),
    Json(Value),
    None,
}

impl Rows {
    /// Opens a file: `.csv`, or `.json` and `.jsonl` with an object on each line.
    pub(super) fn open(path: &Path) -> Result<Rows, TraceError> {
        let name: Arc<str> = path.display().to_string().into();
        let failed = |message: String| TraceError::new(&name, 0, message);
        let file = File::open(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
        let source = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => {
                let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
                let header = reader.headers().map_err(|error| csv_error(&name, 1, &error))?;
                let mut columns: HashMap<String, usize> = HashMap::new();
                for (at, column) in header.iter().enumerate().filter(|(_, column)| !column.is_empty()) {
                    if columns.insert(column.to_owned(), at).is_some() {
                        let column = shortened(column, 100);
                        let message = format!("two columns are named `{column}`; rename one of them");
                        return Err(TraceError::new(&name, 1, message));
                    }
                }
                Source::Csv(Box::new(reader), Arc::new(columns))
            }
            Some("json" | "jsonl" | "ndjson") => Source::Json(BufReader::new(file)),
            _ => {
                let message = "the format is not known; use .csv with a header, or .jsonl with an object on each line; \
                               unpack compressed files";
                return Err(failed(message.to_owned()));
            }
        };
        Ok(Rows::of(name, source))
    }

    fn of(file: Arc<str>, source: Source) -> Rows {
        Rows { file, source, index: 0, line: 0, fields: Rc::default() }
    }

    /// Returns a number of rows without columns.
    pub(super) fn count(file: Arc<str>, count: u64) -> Rows {
        Rows::of(file, Source::Count(count))
    }

    /// Returns an error if the mapping names a field that no object has.
    pub(super) fn finish(self) -> Result<(), TraceError> {
        match self.fields.borrow().iter().find(|(_, exists)| !**exists) {
            Some((field, _)) => {
                let message = format!("no object has the field `{}`; correct the mapping", shortened(field, 100));
                Err(TraceError::new(&self.file, 0, message))
            }
            None => Ok(()),
        }
    }

    /// Returns the next row.
    pub(super) fn next<'a>(&mut self, maps: &'a Maps) -> Result<Option<Row<'a>>, TraceError> {
        let Some(values) = self.next_values()? else { return Ok(None) };
        self.index += 1;
        let fields = self.fields.clone();
        Ok(Some(Row { file: self.file.clone(), line: self.line, index: self.index, maps, values, fields }))
    }

    fn next_values(&mut self) -> Result<Option<Values>, TraceError> {
        match &mut self.source {
            Source::Csv(reader, columns) => {
                let mut record = csv::StringRecord::new();
                let line = reader.position().line();
                let has_more = reader.read_record(&mut record).map_err(|error| csv_error(&self.file, line, &error))?;
                self.line = record.position().map_or(line, csv::Position::line);
                Ok(has_more.then(|| Values::Csv(record, columns.clone())))
            }
            Source::Json(reader) => loop {
                let mut text = Vec::new();
                self.line += 1;
                let failed = |message: String| TraceError::new(&self.file, self.line, message);
                let read = (&mut *reader).take(MAX_LINE + 1).read_until(b'\n', &mut text);
                if read.map_err(|error| failed(format!("cannot be read: {error}")))? == 0 {
                    return Ok(None);
                }
                if text.len() as u64 > MAX_LINE {
                    return Err(failed("the line is longer than 1 MiB".to_owned()));
                }
                // Some programs begin files with a byte-order mark.
                let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
                if text.trim_ascii().is_empty() {
                    continue;
                }
                let value: Value = serde_json::from_slice(text)
                    .map_err(|error| failed(format!("this is not an object in JSON: {error}")))?;
                if !value.is_object() {
                    return Err(failed("this is not an object in JSON; write one object on each line".to_owned()));
                }
                return Ok(Some(Values::Json(value)));
            },
            Source::Count(count) => Ok((self.index < *count).then_some(Values::None)),
        }
    }
}

fn csv_error(file: &Arc<str>, line: u64, error: &csv::Error) -> TraceError {
    let line = error.position().map_or(line, csv::Position::line);
    let message = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} values, and the header {expected_len} columns")
        }
        csv::ErrorKind::Utf8 { .. } => "the row is not UTF-8".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    TraceError::new(file, line, message)
}

impl Row<'_> {
    /// Returns an error in this row.
    pub(super) fn error(&self, message: impl std::fmt::Display) -> TraceError {
        TraceError::new(&self.file, self.line, message)
    }

    /// Returns whether each of these columns has one of the values that are listed for it.
    pub(super) fn is_selected(&self, only: &BTreeMap<String, Vec<String>>) -> Result<bool, TraceError> {
        for (column, values) in only {
            let value = self.value(column)?;
            if !values.contains(&value) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns a text with the values of this row; `None` if one of them is empty.
    pub(super) fn text(&self, text: &Text) -> Result<Option<String>, TraceError> {
        let mut result = String::new();
        for part in &text.0 {
            match part {
                Part::Literal(literal) => result.push_str(literal),
                Part::Column { name, map } => {
                    let value = self.value(name)?;
                    let value = match map {
                        Some(map) => self.mapped(map, value)?,
                        None => value,
                    };
                    if value.is_empty() {
                        return Ok(None);
                    }
                    result.push_str(&value);
                }
            }
        }
        Ok(Some(result).filter(|result| !result.is_empty()))
    }

    fn mapped(&self, map: &str, value: String) -> Result<String, TraceError> {
        let Some(entries) = self.maps.get(map) else {
            return Err(self.error(format_args!("the mapping has no [maps.{map}]")));
        };
        let replaced = entries.get(&value).or_else(|| entries.get("*")).cloned();
        replaced.ok_or_else(|| {
            self.error(format_args!(
                "[maps.{map}] has no entry for `{}`; add one, or the entry `\"*\"` for all other values",
                shortened(&value, 100)
            ))
        })
    }

    fn note_field(&self, field: &str, exists: bool) {
        let mut fields = self.fields.borrow_mut();
        match fields.get_mut(field) {
            Some(known) => *known |= exists,
            None => drop(fields.insert(field.to_owned(), exists)),
        }
    }

    /// Returns the value of a column, or the number of the row for [`INDEX`].
    fn value(&self, column: &str) -> Result<String, TraceError> {
        let unknown = |columns: Vec<&str>| {
            let similar = closest(column, columns.iter().copied());
            let hint = match similar {
                Some(similar) => format!("; did you mean `{similar}`?"),
                None => format!("; the columns are {}", columns.join(", ")),
            };
            self.error(format_args!("there is no column `{}`{hint}", shortened(column, 100)))
        };
        match &self.values {
            Values::Csv(record, columns) => match columns.get(column) {
                Some(at) => Ok(record.get(*at).unwrap_or_default().to_owned()),
                None if column == INDEX => Ok(self.index.to_string()),
                None => {
                    let mut columns: Vec<&str> = columns.keys().map(String::as_str).collect();
                    columns.sort_unstable();
                    Err(unknown(columns))
                }
            },
            Values::Json(object) => {
                let column_value = column.split('.').try_fold(object, |value, name| value.get(name));
                if column != INDEX {
                    self.note_field(column, column_value.is_some());
                }
                match column_value {
                    None if column == INDEX => Ok(self.index.to_string()),
                    // Fields without a value are often left out.
                    None | Some(Value::Null) => Ok(String::new()),
                    Some(Value::String(text)) => Ok(text.trim().to_owned()),
                    Some(value @ (Value::Bool(_) | Value::Number(_))) => Ok(value.to_string()),
                    Some(_) => Err(self.error(format_args!("`{column}` is not a value; name a field of it"))),
                }
            }
            Values::None if column == INDEX => Ok(self.index.to_string()),
            Values::None => Err(unknown(vec![INDEX])),
        }
    }
}
