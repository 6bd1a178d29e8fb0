//! Label selectors in the syntax of `kubectl -l`.

use std::collections::BTreeMap;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{LabelSelector, RequirementText};

/// A label selector of the command line, such as `app=web,tier in (cache,db),!canary`.
#[derive(Clone, Debug)]
pub(crate) struct Selector {
    text: String,
    interner: Interner,
    /// Symbol that replaces every value that the selector does not contain.
    other: Symbol,
    selector: LabelSelector,
}

impl Selector {
    /// Parses a selector.
    ///
    /// # Errors
    /// Returns the reason why the first invalid requirement is invalid.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut interner = Interner::default();
        let requirements: Result<Vec<_>, String> = split(text).into_iter().map(requirement).collect();
        let selector = LabelSelector::parse(&[], &requirements?, &mut interner)?;
        // No label has this value, because a label value has no parentheses.
        let other = interner.intern("(other)");
        Ok(Selector { text: text.to_owned(), interner, other, selector })
    }

    /// Returns the original text of the selector.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether labels meet all requirements.
    pub(crate) fn matches(&self, labels: Option<&BTreeMap<String, String>>) -> bool {
        // Only keys and values in requirements matter.
        let symbols = |(key, value): (&String, &String)| {
            Some((self.interner.get(key)?, self.interner.get(value).unwrap_or(self.other)))
        };
        let mut labels: Vec<(Symbol, Symbol)> = labels.into_iter().flatten().filter_map(symbols).collect();
        labels.sort_unstable();
        self.selector.matches(&labels)
    }
}

/// Splits at commas outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Parses one requirement: `KEY`, `!KEY`, `KEY=VALUE`, `KEY==VALUE`, `KEY!=VALUE`, `KEY in (VALUE,...)` or
/// `KEY notin (VALUE,...)`.
fn requirement(text: &str) -> Result<RequirementText<'_>, String> {
    let text = text.trim();
    fn with<'t>(key: &'t str, operator: &'t str, values: Option<Vec<&'t str>>) -> RequirementText<'t> {
        RequirementText { key: key.trim(), operator, values }
    }
    if let Some(set) = text.strip_suffix(')') {
        let invalid = || format!("`{text}`: write KEY in (VALUE,...) or KEY notin (VALUE,...)");
        let (before, values) = set.split_once('(').ok_or_else(invalid)?;
        let (key, operator) = match before.split_whitespace().collect::<Vec<_>>()[..] {
            [key, "in"] => (key, "In"),
            [key, "notin"] => (key, "NotIn"),
            _ => return Err(invalid()),
        };
        return Ok(with(key, operator, Some(values.split(',').map(str::trim).collect())));
    }
    if let Some((key, value)) = text.split_once("!=") {
        return Ok(with(key, "NotIn", Some(vec![value.trim()])));
    }
    if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return Ok(with(key, "In", Some(vec![value.trim()])));
    }
    match text.strip_prefix('!') {
        Some(key) => Ok(with(key, "DoesNotExist", None)),
        None if text.is_empty() => Err("a requirement is empty: write KEY, !KEY, KEY=VALUE or KEY!=VALUE".to_owned()),
        None => Ok(with(text, "Exists", None)),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(selector: &str, expected: bool) {
        let labels = [("app", "web"), ("tier", "front"), ("empty", "")];
        let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().collect();
        let selector = Selector::parse(selector).expect(selector);
        assert_eq!(selector.matches(Some(&labels)), expected, "{}", selector.text());
    }

    #[test]
    fn requirements_match_kubectl() {
        check("app=web", true);
        check(" app == web , tier=front ", true);
        check("app=web,tier=back", false);
        check("app!=web", false);
        check("app!=api", true);
        check("other!=api", true);
        check("app in (api, web)", true);
        check("app in (api)", false);
        check("app notin (api,web),tier", false);
        check("tier notin (back)", true);
        check("app", true);
        check("other", false);
        check("!other", true);
        check("!app", false);
        check("empty=", true);
        assert!(!Selector::parse("app").expect("a selector").matches(None));
        assert!(Selector::parse("!app").expect("a selector").matches(None));
    }

    fn check_error(selector: &str, expected: Expect) {
        expected.assert_eq(&Selector::parse(selector).map(|_| ()).expect_err(selector));
    }

    #[test]
    fn invalid_requirements_are_reported() {
        check_error("", expect!["a requirement is empty: write KEY, !KEY, KEY=VALUE or KEY!=VALUE"]);
        check_error("app=web,", expect!["a requirement is empty: write KEY, !KEY, KEY=VALUE or KEY!=VALUE"]);
        check_error(
            "app within (web)",
            expect!["`app within (web)`: write KEY in (VALUE,...) or KEY notin (VALUE,...)"],
        );
        check_error(
            "app=a b",
            expect![[
                r#"values[0][app]: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"#
            ]],
        );
        check_error(
            "app>1",
            expect![[
                r#"key: Invalid value: "app>1": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#
            ]],
        );
    }
}
