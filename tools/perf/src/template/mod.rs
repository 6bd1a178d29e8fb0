//! Text templates of objects in the syntax of Go's `text/template`, and the objects created from them.
//!
//! | module | content |
//! |---|---|
//! | `expression` | expressions in braces |
//! | `fields` | field names |
//! | `shape` | documents of which only parts depend on the index |
//! | `factory` | creation of objects |

mod expression;
mod factory;
mod fields;
mod shape;

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

pub use factory::ObjectFactory;

use crate::Error;
use crate::config::yaml;
use expression::Expression;

/// Values for expressions: the index of an object, from 0, and the number of objects.
#[derive(Clone, Copy, Debug)]
pub struct TemplateContext {
    /// `.Index`
    pub index: usize,
    /// `.Count`
    pub count: usize,
}

/// A text with expressions in double braces.
#[derive(Clone, Debug)]
pub struct Template {
    /// Name of the template in errors.
    name: Arc<str>,
    parts: Vec<Part>,
}

/// A piece of text or an expression.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Expression(Expression),
}

impl Template {
    /// Reads a template from a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or contains an unknown expression.
    pub fn read(path: &Path) -> Result<Template, Error> {
        Template::parse(&path.display().to_string(), &yaml::text(path)?)
    }

    /// Reads a file as plain text, in which braces do not begin expressions.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub(crate) fn verbatim(path: &Path) -> Result<Template, Error> {
        let text = yaml::text(path)?;
        Ok(Template { name: path.display().to_string().into(), parts: vec![Part::Text(text)] })
    }

    /// Parses a template. `name` is its name in errors.
    ///
    /// # Errors
    /// Returns an error for an unknown expression.
    pub fn parse(name: &str, text: &str) -> Result<Template, Error> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(begin) = rest.find("{{") {
            let (before, after) = rest.split_at(begin);
            let line = 1 + text[..text.len() - after.len()].matches('\n').count();
            let at = |error: String| Error::new(error).at(format_args!("{name}:{line}"));
            let Some(end) = after.find("}}") else { return Err(at("`{{` without `}}`".to_owned())) };
            let inner = &after[2..end];
            rest = &after[end + 2..];
            let (before, inner) = match inner.strip_prefix("- ") {
                Some(inner) => (before.trim_end(), inner),
                None => (before, inner),
            };
            let inner = match inner.strip_suffix(" -") {
                Some(inner) => {
                    rest = rest.trim_start();
                    inner
                }
                None => inner,
            };
            parts.push(Part::Text(before.to_owned()));
            if !inner.trim().starts_with("/*") {
                parts.push(Part::Expression(Expression::parse(inner).map_err(at)?));
            }
        }
        parts.push(Part::Text(rest.to_owned()));
        parts.retain(|part| *part != Part::Text(String::new()));
        Ok(Template { name: name.into(), parts })
    }

    /// Returns the text of one object.
    fn text(&self, context: TemplateContext) -> Result<String, Error> {
        render(&self.parts, context).map_err(|error| Error::new(error).at(&self.name))
    }

    /// Returns the document of one object, by parsing its text.
    fn document(&self, context: TemplateContext) -> Result<Value, Error> {
        yaml::document(&self.name, &self.text(context)?)
    }

    /// Returns the template with `.Count` replaced: parts that do not depend on the index become text.
    fn counted(&self, count: usize) -> Result<Template, Error> {
        let mut parts: Vec<Part> = Vec::new();
        for part in &self.parts {
            let part = match part {
                Part::Expression(expression) if !expression.depends_on_index() => {
                    let context = TemplateContext { index: 0, count };
                    Part::Text(
                        render(std::slice::from_ref(part), context)
                            .map_err(|error| Error::new(error).at(&self.name))?,
                    )
                }
                part => part.clone(),
            };
            match (parts.last_mut(), part) {
                (Some(Part::Text(text)), Part::Text(more)) => text.push_str(&more),
                (_, part) => parts.push(part),
            }
        }
        Ok(Template { name: self.name.clone(), parts })
    }
}

fn render(parts: &[Part], context: TemplateContext) -> Result<String, String> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Expression(expression) => text.push_str(&expression.value(context)?.to_string()),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
