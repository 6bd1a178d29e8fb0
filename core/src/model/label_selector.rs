//! Label selectors of pod affinity terms, workloads and disruption budgets.

use std::sync::Arc;

use super::node_selector_parse::{aggregate, quoted};
use super::selector::{Operator, Requirement};
use super::{Labels, RequirementText};
use crate::model::intern::{Interner, Symbol};
use crate::model::symbols::Symbols;

/// Conditions on labels that must all hold: `metav1.LabelSelector`. Without conditions, it matches everything. Clones
/// share the conditions.
///
/// A missing selector is the `None` of an `Option`, and matches nothing. The operators are `In`, `NotIn`, `Exists` and
/// `DoesNotExist`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Symbols)]
pub struct LabelSelector {
    /// The conditions. Each label in `matchLabels` becomes an `In` with one value.
    pub requirements: Arc<[Requirement]>,
}

impl LabelSelector {
    /// Parses a selector: `metav1.LabelSelectorAsSelector` for one that is not nil.
    ///
    /// # Errors
    /// Kubernetes' text for the first wrong condition. `match_labels` are checked in the given order, before
    /// `match_expressions`.
    pub fn parse(
        match_labels: &[(&str, &str)],
        match_expressions: &[RequirementText<'_>],
        interner: &mut Interner,
    ) -> Result<LabelSelector, String> {
        let mut requirements = Vec::with_capacity(match_labels.len() + match_expressions.len());
        let mut read = |text: &RequirementText<'_>, interner: &mut Interner| {
            let mut errors = Vec::new();
            match text.parse("", interner, &mut errors) {
                Some(requirement) => requirements.push(requirement),
                None => return Err(aggregate(&errors)),
            }
            Ok(())
        };
        for &(key, value) in match_labels {
            read(&RequirementText { key, operator: "In", values: Some(vec![value]) }, interner)?;
        }
        for text in match_expressions {
            if !["In", "NotIn", "Exists", "DoesNotExist"].contains(&text.operator) {
                return Err(format!("{} is not a valid label selector operator", quoted(text.operator)));
            }
            // Kubernetes copies the list, and an empty copy counts as missing.
            let values = text.values.clone().filter(|values| !values.is_empty());
            read(&RequirementText { values, ..text.clone() }, interner)?;
        }
        Ok(LabelSelector { requirements: requirements.into() })
    }

    /// Returns the selector that requires all these labels: a plain map, as Services have it.
    pub fn from_labels(labels: &[(Symbol, Symbol)]) -> LabelSelector {
        let requirement =
            |&(key, value): &(Symbol, Symbol)| Requirement { key, operator: Operator::In, values: [value].into() };
        LabelSelector { requirements: labels.iter().map(requirement).collect() }
    }

    /// Returns whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns whether labels meet all conditions.
    #[inline]
    pub fn matches(&self, labels: &[(Symbol, Symbol)]) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(labels, |_| None))
    }

    /// Returns a selector with the conditions of both.
    pub fn and(&self, other: &LabelSelector) -> LabelSelector {
        LabelSelector { requirements: self.requirements.iter().chain(&*other.requirements).cloned().collect() }
    }

    /// Returns the labels of a selector made by [`LabelSelector::from_labels`].
    pub fn labels(&self) -> Labels {
        self.requirements.iter().filter_map(|r| Some((r.key, *r.values.first()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<'a>(key: &'a str, operator: &'a str, values: Option<&[&'a str]>) -> RequirementText<'a> {
        RequirementText { key, operator, values: values.map(<[_]>::to_vec) }
    }

    #[test]
    fn selectors_match_labels() {
        let mut interner = Interner::default();
        let labels = [(interner.intern("app"), interner.intern("web")), (interner.intern("tier"), Symbol::EMPTY)];
        let mut check = |match_labels: &[(&str, &str)], expressions: &[RequirementText<'_>], matches: bool| {
            let selector = LabelSelector::parse(match_labels, expressions, &mut interner).unwrap();
            assert_eq!(selector.matches(&labels), matches, "{match_labels:?} {expressions:?}");
        };
        check(&[], &[], true);
        check(&[("app", "web")], &[], true);
        check(&[("app", "web"), ("tier", "")], &[], true);
        check(&[("app", "db")], &[], false);
        check(&[("zone", "")], &[], false);
        check(&[], &[text("app", "In", Some(&["db", "web"]))], true);
        check(&[], &[text("app", "NotIn", Some(&["db"])), text("zone", "NotIn", Some(&["a"]))], true);
        check(&[], &[text("app", "NotIn", Some(&["web"]))], false);
        check(&[], &[text("tier", "Exists", None), text("zone", "DoesNotExist", Some(&[]))], true);
        check(&[("app", "web")], &[text("app", "DoesNotExist", None)], false);
    }

    #[test]
    fn invalid_selectors_have_kubernetes_errors() {
        let check = |match_labels: &[(&str, &str)], expressions: &[RequirementText<'_>], expected: &str| {
            let error = LabelSelector::parse(match_labels, expressions, &mut Interner::default()).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        };
        check(&[("app", "a b")], &[], r#"values[0][app]: Invalid value: "a b": a valid label must be an empty string"#);
        let empty = "name part must be non-empty; name part must consist of";
        check(&[("", "a")], &[], &format!(r#"key: Invalid value: "": {empty}"#));
        check(&[], &[text("app", "Gt", Some(&["1"]))], r#""Gt" is not a valid label selector operator"#);
        let no_values = "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty";
        check(&[], &[text("app", "In", None)], no_values);
        check(&[], &[text("app", "NotIn", Some(&[]))], no_values);
        let both = r#"[key: Invalid value: "a b": name part must consist"#;
        check(&[], &[text("a b", "In", None), text("app", "Other", None)], both);
        let surplus = r#"values: Invalid value: ["x"]: values set must be empty for exists and does not exist"#;
        check(&[], &[text("app", "Exists", Some(&["x"]))], surplus);
    }
}
