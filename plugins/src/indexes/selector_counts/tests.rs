use std::sync::Arc;

use proptest::prelude::*;
use schedc_core::intern::Interner;
use schedc_core::model::Namespace;
use schedc_objects::testing::pod;

use super::*;

fn selector(labels: &str, interner: &mut Interner) -> LabelSelector {
    let labels: Vec<_> = labels.split_whitespace().filter_map(|label| label.split_once('=')).collect();
    LabelSelector::parse(&labels, &[], interner).unwrap()
}

/// A change of the cluster, or the registration of a query.
#[derive(Clone, Debug)]
enum Step {
    Toggle(usize),
    Namespace(&'static str, Option<&'static str>),
    Register(Vec<(Vec<&'static str>, Option<&'static str>, Option<&'static str>)>, bool),
}

fn any_step() -> impl Strategy<Value = Step> {
    let namespace = || prop::sample::select(vec!["shop", "bank", "lab"]);
    let labels = || prop::sample::select(vec!["", "app=web", "app=db", "app=web tier=a", "tier=b"]);
    let of_namespaces = || prop::sample::select(vec!["", "team=red", "team=blue"]);
    let term =
        (prop::collection::vec(namespace(), 0..3), prop::option::of(of_namespaces()), prop::option::of(labels()));
    prop_oneof![
        4 => any::<usize>().prop_map(Step::Toggle),
        1 => (namespace(), prop::option::of(of_namespaces())).prop_map(|(name, labels)| Step::Namespace(name, labels)),
        2 => (prop::collection::vec(term, 0..3), any::<bool>()).prop_map(|(terms, all)| Step::Register(terms, all)),
    ]
}

/// Returns the counts by checking every pod.
fn reference_counts(query: &PodQuery, pods: &[(Pod, NodeIndex)], namespaces: &Namespaces) -> NodeCounts {
    let mut counts = NodeCounts::default();
    for (pod, node) in pods {
        let counted = query.terminating || !pod.deleting;
        if counted && query.selects(pod.spec.namespace, &pod.spec.labels, namespaces) {
            counts.add(*node, 1);
        }
    }
    counts
}

proptest! {
    #[test]
    fn counts_follow_pods_and_namespaces(steps in prop::collection::vec(any_step(), 0..60)) {
        let mut interner = Interner::default();
        let mut pods = Vec::new();
        for at in 0..24 {
            let namespace = ["shop", "bank", "lab"][at % 3];
            let labels = ["app: web", "app: db", "app: web, tier: a", "tier: b"][at / 3 % 4];
            let deleting = if at % 5 == 0 { ", deletionTimestamp: 2026-01-01T00:00:00Z" } else { "" };
            let meta = format!("name: p{at}, namespace: {namespace}, labels: {{{labels}}}{deleting}");
            pods.push((pod(&format!("metadata: {{{meta}}}"), &mut interner), NodeIndex(at as u32 % 4)));
        }
        let mut updated = SelectorCounts::default();
        let mut present = vec![false; pods.len()];
        let mut namespaces: Map<Symbol, Arc<Namespace>> = Map::default();
        let mut registered: Vec<(PodQueryId, PodQuery)> = Vec::new();
        for step in steps {
            let before: Vec<_> =
                registered.iter().map(|(id, _)| (updated.log(*id).end(), updated.counts(*id).clone())).collect();
            match step {
                Step::Toggle(at) => {
                    let at = at % pods.len();
                    let (pod, node) = &pods[at];
                    if present[at] { updated.remove_pod(*node, pod) } else { updated.add_pod(*node, pod) }
                    present[at] = !present[at];
                }
                Step::Namespace(name, labels) => {
                    let name = interner.intern(name);
                    let new = labels.map(|labels| {
                        Arc::new(Namespace { name, labels: selector(labels, &mut interner).labels() })
                    });
                    let old = match &new {
                        Some(new) => namespaces.insert(name, new.clone()),
                        None => namespaces.remove(&name),
                    };
                    let [old, new] = [old, new].map(|namespace| namespace.map(Object::Namespace));
                    updated.set_object(old.as_ref(), new.as_ref());
                }
                Step::Register(terms, terminating) => {
                    let terms = terms.into_iter().map(|(names, namespaces, labels)| PodTerm {
                        namespaces: names.into_iter().map(|name| interner.intern(name)).collect(),
                        namespace_selector: namespaces.map(|labels| selector(labels, &mut interner)),
                        selector: labels.map(|labels| selector(labels, &mut interner)),
                    });
                    let query = PodQuery { terms: terms.collect(), terminating };
                    registered.push((updated.register(query.clone()), query));
                }
            }
            for ((id, query), (position, mut counts)) in registered.iter().zip(before) {
                match updated.log(*id).since(position) {
                    Some(entries) => {
                        for &(node, by) in entries {
                            if by > 0 { counts.add(node, 1) } else { counts.subtract(node, 1) }
                        }
                        prop_assert_eq!(updated.counts(*id), &counts, "{:?}", query);
                    }
                    None => prop_assert_ne!(updated.counts(*id), &counts, "truncated without need: {:?}", query),
                }
            }
        }
        let placed: Vec<_> = pods.iter().zip(&present).filter(|(_, present)| **present).map(|(p, _)| p.clone()).collect();
        let mut rebuilt = SelectorCounts::default();
        for namespace in namespaces.values() {
            rebuilt.set_object(None, Some(&Object::Namespace(namespace.clone())));
        }
        placed.iter().for_each(|(pod, node)| rebuilt.add_pod(*node, pod));
        let classes = |index: &SelectorCounts| {
            let mut classes: Vec<_> = index.classes.all.iter().flatten().collect();
            classes.sort_by_key(|class| (class.namespace, class.labels.clone(), class.deleting));
            classes.into_iter().map(|class| (class.labels.clone(), class.nodes.clone())).collect::<Vec<_>>()
        };
        prop_assert_eq!(classes(&updated), classes(&rebuilt));
        for (id, query) in &registered {
            let expected = reference_counts(query, &placed, &updated.namespaces);
            prop_assert_eq!(updated.counts(*id), &expected, "{:?}", query);
            let id = rebuilt.register(query.clone());
            prop_assert_eq!(rebuilt.counts(id), &expected, "{:?}", query);
        }
        for ((pod, node), _) in pods.iter().zip(&present).filter(|(_, present)| **present) {
            updated.remove_pod(*node, pod);
        }
        prop_assert!(updated.classes.of_namespace.is_empty());
        prop_assert_eq!(updated.classes.all.len(), updated.classes.free.len());
        prop_assert!(registered.iter().all(|(id, _)| updated.counts(*id).is_empty()));
    }
}

#[test]
fn an_empty_namespace_selector_selects_every_namespace() {
    let mut interner = Interner::default();
    let mut index = SelectorCounts::default();
    index.add_pod(NodeIndex(1), &pod("metadata: {name: a, namespace: never-seen}", &mut interner));
    let mut registered = |namespace_selector: Option<&str>| {
        let term = PodTerm {
            namespaces: [interner.intern("shop")].into(),
            namespace_selector: namespace_selector.map(|labels| selector(labels, &mut interner)),
            selector: Some(LabelSelector::default()),
        };
        let id = index.register(PodQuery { terms: [term].into(), terminating: true });
        index.counts(id).get(NodeIndex(1))
    };
    assert_eq!(registered(None), 0);
    assert_eq!(registered(Some("")), 1, "every namespace, known or not");
    assert_eq!(registered(Some("team=red")), 0, "known namespaces only");
}

#[test]
fn old_queries_are_evicted_even_if_no_pod_is_placed() {
    let mut interner = Interner::default();
    let mut index = SelectorCounts::default();
    let (web, default) = (pod("metadata: {name: a}", &mut interner), interner.intern("default"));
    for at in 0..3 * MAX_QUERIES {
        let selector = selector(&format!("app={at}"), &mut interner);
        index.register(PodQuery::new(default, selector, true));
        index.set_pending(None, Some(&web));
        assert!(index.queries.len() <= MAX_QUERIES);
    }
}

#[test]
fn old_queries_are_evicted_when_pods_are_added() {
    let mut interner = Interner::default();
    let mut index = SelectorCounts::default();
    let web = pod("metadata: {name: a, labels: {app: web}}", &mut interner);
    index.add_pod(NodeIndex(0), &web);
    let default = interner.intern("default");
    let mut register_query = |index: &mut SelectorCounts, at: usize| {
        let selector = selector(&format!("app={at}"), &mut interner);
        index.register(PodQuery::new(default, selector, true))
    };
    let ids: Vec<_> = (0..=MAX_QUERIES).map(|at| register_query(&mut index, at)).collect();
    assert!(ids.iter().all(|id| index.queries.get(id.0).is_some()), "no query is evicted while a pod is compiled");
    index.add_pod(NodeIndex(0), &web);
    assert_eq!(index.queries.iter_mut().count(), MAX_QUERIES / 2);
    assert_eq!(index.by_namespace[&default].len(), MAX_QUERIES / 2);
    let app_web = LabelSelector::from_labels(&web.spec.labels);
    let id = index.register(PodQuery::new(default, app_web, true));
    assert_eq!(index.counts(id).get(NodeIndex(0)), 2);
}
