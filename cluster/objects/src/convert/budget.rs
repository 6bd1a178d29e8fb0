//! Conversion of PodDisruptionBudgets.

use k8s_openapi::api::policy::v1 as policy;
use schedc_core::intern::Interner;
use schedc_core::model::PodDisruptionBudget;

use super::label_selector::label_selector;
use super::{namespace, symbol};

/// Converts a budget. A missing namespace is `default`.
pub(super) fn convert_budget(budget: &policy::PodDisruptionBudget, interner: &mut Interner) -> PodDisruptionBudget {
    let selector = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    let status = budget.status.as_ref();
    let disrupted = status.and_then(|status| status.disrupted_pods.as_ref());
    PodDisruptionBudget {
        namespace: interner.intern(namespace(&budget.metadata)),
        name: symbol(budget.metadata.name.as_ref(), interner),
        selector: label_selector(selector, interner).ok().flatten(),
        disruptions_allowed: status.and_then(|status| status.disruptions_allowed).unwrap_or(0),
        disrupted_pods: disrupted.into_iter().flatten().map(|(name, _)| name.as_str().into()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use schedc_core::model::{LabelSelector, Object};

    use super::*;
    use crate::testing::object;

    fn budget(fields: &str, interner: &mut Interner) -> PodDisruptionBudget {
        match object(&format!("{{kind: PodDisruptionBudget, {fields}}}"), interner) {
            Object::PodDisruptionBudget(budget) => (*budget).clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn fields_of_a_budget_are_converted() {
        let mut interner = Interner::default();
        let web = budget(
            "metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}},
            status: {disruptionsAllowed: 2, disruptedPods: {web-1: 2026-01-01T00:00:00Z, web-0: 2026-01-01T00:00:00Z}}",
            &mut interner,
        );
        assert_eq!((interner.resolve(web.namespace), interner.resolve(web.name)), ("shop", "web"));
        let label = (interner.intern("app"), interner.intern("web"));
        assert_eq!(web.selector, Some(LabelSelector::from_labels(&[label])));
        assert_eq!(web.disruptions_allowed, 2);
        assert_eq!(web.disrupted_pods.iter().map(|name| &**name).collect::<Vec<_>>(), ["web-0", "web-1"]);
    }

    #[test]
    fn an_incomplete_budget_allows_nothing() {
        let mut interner = Interner::default();
        let mut check = |spec: &str, selector: Option<LabelSelector>| {
            let budget = budget(&format!("metadata: {{name: a}}, spec: {spec}"), &mut interner);
            assert_eq!((interner.resolve(budget.namespace), budget.disruptions_allowed), ("default", 0));
            assert_eq!(budget.selector, selector, "{spec}");
        };
        check("{}", None);
        check("{selector: {}}", Some(LabelSelector::default()));
        check("{selector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}}", None);
    }
}
