//! Reports of results as self-contained HTML pages.
//!
//! A [`Report`] is a list of views: tables, time series, bars and heat maps. [`Report::html`] returns a page that
//! contains its data, styles and scripts, and makes no request. The scripts in `src/page` draw the views without
//! knowing the command that made the report.
//!
//! Names and messages come from manifests. The page treats them as text only: the data is JSON in a script element that
//! is not executed. The JSON has no character that could end the element, and a content security policy forbids other
//! scripts than those of the page.

mod encoding;
mod heat_map;
mod html;
mod table;
mod unit;
mod view;

use serde::Serialize;

pub use heat_map::{HeatMap, Layer};
pub use table::{Candidate, Column, Decision, Kind, PluginScore, Table};
pub use unit::Unit;
pub use view::{Bar, Bars, Lines, Series, View};

/// A report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Heading.
    pub title: String,
    /// One sentence about the content.
    pub subtitle: String,
    /// Most important numbers, in the order of their display.
    pub facts: Vec<Fact>,
    /// Assumptions and limits that readers must know.
    pub notes: Vec<String>,
    /// Charts and tables, in the order of their display.
    pub views: Vec<View>,
}

/// A number with its name.
#[derive(Clone, Debug, Serialize)]
pub struct Fact {
    /// Name.
    pub label: String,
    /// Number with its unit.
    pub value: String,
}

impl Report {
    /// Creates a report without content.
    pub fn new(title: impl Into<String>, subtitle: impl Into<String>) -> Self {
        Report { title: title.into(), subtitle: subtitle.into(), ..Report::default() }
    }

    /// Adds a fact.
    pub fn fact(&mut self, label: &str, value: impl ToString) {
        self.facts.push(Fact { label: label.to_owned(), value: value.to_string() });
    }

    /// Adds a view.
    pub fn view(&mut self, view: impl Into<View>) {
        self.views.push(view.into());
    }

    /// Returns the page.
    ///
    /// # Errors
    /// Returns an error if the data cannot be written as JSON.
    pub fn html(&self) -> serde_json::Result<String> {
        Ok(html::page(&self.title, &encoding::json(self)?))
    }
}
