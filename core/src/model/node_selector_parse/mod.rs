//! Parsing of node selectors, with Kubernetes' error texts.

use std::sync::Arc;

use super::{FieldRequirement, NodeSelector, NodeSelectorTerm, Operator, PreferredTerm, Requirement};
use crate::model::intern::{Interner, Symbol};

/// A requirement of a node selector as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequirementText<'a> {
    /// The label, or for `matchFields` the field.
    pub key: &'a str,
    /// The operator's name.
    pub operator: &'a str,
    /// The values, if the list is present.
    pub values: Option<Vec<&'a str>>,
}

/// A term of a node selector as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermText<'a> {
    /// Conditions on labels.
    pub match_expressions: Vec<RequirementText<'a>>,
    /// Conditions on fields.
    pub match_fields: Vec<RequirementText<'a>>,
}

/// The only field that node selectors support.
const NAME_FIELD: &str = "metadata.name";

impl NodeSelector {
    /// Parses a selector that must be valid as a whole, as kube-scheduler's `NewNodeSelector` does.
    ///
    /// # Errors
    /// Kubernetes' text for all wrong terms.
    pub fn parse(terms: &[TermText<'_>], interner: &mut Interner) -> Result<NodeSelector, String> {
        let mut parsed = Vec::with_capacity(terms.len());
        let mut errors = Vec::new();
        for (i, term) in terms.iter().enumerate().filter(|(_, term)| !term.is_empty()) {
            match NodeSelectorTerm::parse(term, &format!("nodeSelectorTerms[{i}]"), interner) {
                Ok(term) => parsed.push(term),
                Err(mut more) => errors.append(&mut more),
            }
        }
        if errors.is_empty() { Ok(NodeSelector { terms: parsed.into() }) } else { Err(aggregate(&errors)) }
    }

    /// Parses the required node affinity of a pod. Wrong or empty terms match nothing (`NewLazyErrorNodeSelector`).
    ///
    /// NodeAffinity's PreFilter returns the node names that the terms require, if *every* term requires some; wrong
    /// terms count, too. If omitting a wrong term would change this result, a term that matches no node and requires
    /// the same names replaces it.
    pub fn parse_lenient(terms: &[TermText<'_>], interner: &mut Interner) -> NodeSelector {
        let mut parsed = Vec::with_capacity(terms.len());
        // Whether one of the dropped terms requires no names.
        let mut has_unnamed = false;
        // The names that the other dropped terms require.
        let mut dropped_names = Vec::new();
        for term in terms {
            if !term.is_empty()
                && let Ok(term) = NodeSelectorTerm::parse(term, "", interner)
            {
                parsed.push(term);
                continue;
            }
            match term.names() {
                None => has_unnamed = true,
                Some(names) => dropped_names.extend(names),
            }
        }
        let all_named = |terms: &[NodeSelectorTerm]| terms.iter().all(|t| t.match_fields.iter().any(|f| !f.negated));
        if parsed.len() < terms.len() && all_named(&parsed) {
            if has_unnamed {
                parsed.extend((!parsed.is_empty()).then(|| NodeSelectorTerm::never(&[])));
            } else {
                dropped_names.sort_unstable();
                dropped_names.dedup();
                let dropped_names: Vec<_> = dropped_names.into_iter().map(|name| interner.intern(name)).collect();
                parsed.extend(dropped_names.iter().map(|&name| NodeSelectorTerm::never(&[name])));
                if parsed.is_empty() {
                    let other = interner.intern(NAME_FIELD);
                    parsed.push(NodeSelectorTerm::never(&[Symbol::EMPTY, other]));
                }
            }
        }
        NodeSelector { terms: parsed.into() }
    }
}

impl PreferredTerm {
    /// Parses the preferred terms of node affinity. Empty terms and terms of weight 0 are left out unparsed
    /// (`NewPreferredSchedulingTerms`). If no term is left, one that never matches replaces them. Every wrong term has
    /// the error text of all wrong terms, because Kubernetes reports them together.
    pub fn parse_all(terms: &[(i32, TermText<'_>)], interner: &mut Interner) -> Box<[PreferredTerm]> {
        let mut errors = Vec::new();
        let mut parsed = Vec::with_capacity(terms.len());
        for (i, (weight, term)) in terms.iter().enumerate() {
            if *weight != 0 && !term.is_empty() {
                let term = NodeSelectorTerm::parse(term, &format!("[{i}]"), interner);
                parsed.push((i64::from(*weight), term.map_err(|mut more| errors.append(&mut more))));
            }
        }
        if parsed.is_empty() && !terms.is_empty() {
            // The pod has preferences, even if all are void: NodeAffinity scores every node 0.
            parsed.push((0, Ok(NodeSelectorTerm::never(&[]))));
        }
        let text: Arc<str> = aggregate(&errors).into();
        parsed
            .into_iter()
            .map(|(weight, term)| PreferredTerm { weight, term: term.map_err(|()| text.clone()) })
            .collect()
    }
}

impl NodeSelectorTerm {
    /// Parses one term. `path` is the path of the term's field, with which error texts begin.
    ///
    /// # Errors
    /// Kubernetes' texts for all errors in it.
    pub fn parse(term: &TermText<'_>, path: &str, interner: &mut Interner) -> Result<NodeSelectorTerm, Vec<String>> {
        let mut errors = Vec::new();
        let path = |list: &str, i| if path.is_empty() { format!("{list}[{i}]") } else { format!("{path}.{list}[{i}]") };
        let expressions = &term.match_expressions;
        let mut parsed: Vec<_> = expressions
            .iter()
            .enumerate()
            .filter_map(|(i, text)| text.parse(&path("matchExpressions", i), interner, &mut errors))
            .collect();
        let mut fields = Vec::new();
        for (i, text) in term.match_fields.iter().enumerate() {
            match text.parse_field(&path("matchFields", i), interner, &mut errors) {
                Some(Field::Name(name)) => fields.push(name),
                Some(Field::Other { holds: true }) | None => {}
                Some(Field::Other { holds: false }) => parsed.push(Requirement::never()),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(NodeSelectorTerm { match_expressions: parsed.into(), match_fields: fields.into() })
    }

    /// Returns a term that matches no node and requires all these names.
    fn never(names: &[Symbol]) -> NodeSelectorTerm {
        NodeSelectorTerm {
            match_expressions: [Requirement::never()].into(),
            match_fields: names.iter().map(|&name| FieldRequirement { negated: false, name }).collect(),
        }
    }
}

impl Requirement {
    /// Returns a requirement that no node meets.
    fn never() -> Requirement {
        Requirement { key: Symbol::EMPTY, operator: Operator::In, values: [].into() }
    }
}

/// A condition on a field.
enum Field {
    /// On the node's name.
    Name(FieldRequirement),
    /// On another field, which nodes do not have: the result is the same on every node.
    Other {
        /// Whether nodes meet the condition.
        holds: bool,
    },
}

impl<'a> TermText<'a> {
    fn is_empty(&self) -> bool {
        self.match_expressions.is_empty() && self.match_fields.is_empty()
    }

    /// Returns the names that all `In` requirements on the name have in common, including requirements with
    /// errors. `None` if there is no such requirement.
    fn names(&self) -> Option<Vec<&'a str>> {
        let mut by_name = self.match_fields.iter().filter(|r| r.key == NAME_FIELD && r.operator == "In");
        let mut names = by_name.next()?.values.clone().unwrap_or_default();
        for requirement in by_name {
            names.retain(|name| requirement.values.iter().flatten().any(|value| value == name));
        }
        Some(names)
    }
}

impl RequirementText<'_> {
    /// Parses a condition on a label; `path` as in [`NodeSelectorTerm::parse`].
    pub(super) fn parse(&self, path: &str, interner: &mut Interner, errors: &mut Vec<String>) -> Option<Requirement> {
        let path = if path.is_empty() { String::new() } else { format!("{path}.") };
        let mut reported: Vec<String> = Vec::new();
        let mut report = |text: String| {
            if !reported.contains(&text) {
                reported.push(text);
            }
        };
        let values = self.values.as_deref().unwrap_or_default();
        let known = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
        if !known.contains(&self.operator) {
            errors.push(unsupported(&path, self.operator, &known));
            return None;
        }
        let problems = label_key_problems(self.key);
        if !problems.is_empty() {
            report(format!("{path}key: Invalid value: {}: {}", quoted(self.key), problems.join("; ")));
        }
        let mut list_is_wrong =
            |why: &str| report(format!("{path}values: Invalid value: {}: {why}", self.values_json()));
        let operator = match self.operator {
            "In" | "NotIn" => {
                if values.is_empty() {
                    list_is_wrong("for 'in', 'notin' operators, values set can't be empty");
                }
                if self.operator == "In" { Operator::In } else { Operator::NotIn }
            }
            "Exists" | "DoesNotExist" => {
                if !values.is_empty() {
                    list_is_wrong("values set must be empty for exists and does not exist");
                }
                if self.operator == "Exists" { Operator::Exists } else { Operator::DoesNotExist }
            }
            comparison => {
                if values.len() != 1 {
                    list_is_wrong("for 'Gt', 'Lt' operators, exactly one value is required");
                }
                let mut bound = 0;
                for (i, value) in values.iter().enumerate() {
                    match value.parse() {
                        Ok(integer) => bound = integer,
                        Err(_) => report(format!(
                            "{path}values[{i}]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer",
                            quoted(value)
                        )),
                    }
                }
                if comparison == "Gt" { Operator::Gt(bound) } else { Operator::Lt(bound) }
            }
        };
        for (i, value) in values.iter().enumerate() {
            let problems = label_value_problems(value);
            if !problems.is_empty() {
                let (key, value) = (self.key, quoted(value));
                report(format!("{path}values[{i}][{key}]: Invalid value: {value}: {}", problems.join("; ")));
            }
        }
        if !reported.is_empty() {
            errors.append(&mut reported);
            return None;
        }
        let values = match operator {
            Operator::In | Operator::NotIn => values.iter().map(|value| interner.intern(value)).collect(),
            _ => Box::default(),
        };
        Some(Requirement { key: interner.intern(self.key), operator, values })
    }

    /// Parses a condition on a field. Nodes have one field, the name; the value of any other field is empty.
    fn parse_field(&self, path: &str, interner: &mut Interner, errors: &mut Vec<String>) -> Option<Field> {
        if !["In", "NotIn"].contains(&self.operator) {
            errors.push(unsupported(&format!("{path}."), self.operator, &["In", "NotIn"]));
            return None;
        }
        let &[value] = self.values.as_deref().unwrap_or_default() else {
            errors.push(format!("{path}.values: Invalid value: {}: must have one element", self.values_json()));
            return None;
        };
        let negated = self.operator == "NotIn";
        if self.key == NAME_FIELD {
            return Some(Field::Name(FieldRequirement { negated, name: interner.intern(value) }));
        }
        Some(Field::Other { holds: value.is_empty() != negated })
    }

    fn values_json(&self) -> String {
        match &self.values {
            None => "null".to_owned(),
            Some(values) => {
                let values: Vec<_> = values.iter().map(|value| json(value)).collect();
                format!("[{}]", values.join(","))
            }
        }
    }
}

fn unsupported(path: &str, operator: &str, known: &[&str]) -> String {
    let known: Vec<_> = known.iter().map(|known| quoted(known)).collect();
    format!("{path}operator: Unsupported value: {}: supported values: {}", json(operator), known.join(", "))
}

/// Joins errors into one text.
pub(super) fn aggregate(errors: &[String]) -> String {
    match errors {
        [error] => error.clone(),
        _ => format!("[{}]", errors.join(", ")),
    }
}

/// Quotes a string as Go's `%q`.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if c.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Quotes a string as Go's `encoding/json`.
fn json(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

const NAME_PROBLEM: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// Returns the errors of a label key, in Kubernetes' words (`IsLabelKey`); empty if there are none.
pub fn label_key_problems(key: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let name = match key.split_once('/') {
        None => key,
        Some((_, name)) if name.contains('/') => {
            let with_prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {NAME_PROBLEM} {with_prefix}")];
        }
        Some(("", name)) => {
            problems.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            problems.extend(dns_subdomain_problems(prefix).into_iter().map(|problem| format!("prefix part {problem}")));
            name
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        problems.push("name part must be no more than 63 bytes".to_owned());
    }
    if name.is_empty() || !is_label_name(name) {
        problems.push(format!("name part {NAME_PROBLEM}"));
    }
    problems
}

/// Returns the errors of a label value, in Kubernetes' words (`IsLabelValue`); empty if there are none.
pub fn label_value_problems(value: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > 63 {
        problems.push("must be no more than 63 bytes".to_owned());
    }
    if !is_label_name(value) {
        problems.push(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
             validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .to_owned(),
        );
    }
    problems
}

/// Returns the errors of a DNS subdomain, in Kubernetes' words (`IsDNS1123Subdomain`); empty if there are none.
pub fn dns_subdomain_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > 253 {
        problems.push("must be no more than 253 bytes".to_owned());
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if !name.split('.').all(is_label) {
        problems.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .to_owned(),
        );
    }
    problems
}

/// Returns whether a text is empty, or consists of letters and digits with `-`, `_` and `.` between them.
fn is_label_name(name: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        && ends(name.chars().next())
        && ends(name.chars().next_back())
}

#[cfg(test)]
mod tests;
