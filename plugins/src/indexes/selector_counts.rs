//! For label selectors, the number of selected pods on each node.

use std::sync::Arc;

use schedc_core::change_log::ChangeLog;
use schedc_core::column::{CacheSize, Index};
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{LabelSelector, Labels, NodeIndex, Object, Pod, PodSpec};
use smallvec::SmallVec;

use super::NodeCounts;
use super::registry::{Id, Registry};

/// Number of registered queries above which older ones are evicted.
const MAX_QUERIES: usize = 4096;

/// Selection of pods by namespace and labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodTerm {
    /// Namespaces by name.
    pub namespaces: Arc<[Symbol]>,
    /// Additional namespaces, by their labels. An empty selector selects every namespace; other selectors select
    /// only known namespaces. `None` selects none.
    pub namespace_selector: Option<LabelSelector>,
    /// The selector of pods in these namespaces. `None` selects no pod.
    pub selector: Option<LabelSelector>,
}

/// Selection of pods that match all terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodQuery {
    /// The terms.
    pub terms: SmallVec<[PodTerm; 1]>,
    /// Whether pods that are being deleted are counted.
    pub terminating: bool,
}

impl PodQuery {
    /// Returns the query for pods of one namespace.
    pub fn new(namespace: Symbol, selector: LabelSelector, terminating: bool) -> PodQuery {
        let term = PodTerm { namespaces: [namespace].into(), namespace_selector: None, selector: Some(selector) };
        PodQuery { terms: [term].into(), terminating }
    }

    /// Returns the namespaces of the first term that has no namespace selector: every selected pod is in one of them.
    /// `None` if all terms have a namespace selector.
    fn namespaces(&self) -> Option<&[Symbol]> {
        let named = self.terms.iter().find(|term| term.namespace_selector.is_none())?;
        Some(&named.namespaces)
    }

    /// Returns whether a change of a namespace's labels can change the selected pods. Labels are `None` if
    /// the namespace is unknown.
    fn is_affected_by_labels(&self, old: Option<&Labels>, new: Option<&Labels>) -> bool {
        self.terms.iter().filter_map(|term| term.namespace_selector.as_ref()).any(|selector| {
            let matches = |labels: Option<&Labels>| labels.is_some_and(|labels| selector.matches(labels));
            !selector.is_empty() && matches(old) != matches(new)
        })
    }

    fn selects(&self, namespace: Symbol, labels: &[(Symbol, Symbol)], namespaces: &Namespaces) -> bool {
        let in_namespace = |term: &PodTerm| {
            term.namespaces.contains(&namespace)
                || term.namespace_selector.as_ref().is_some_and(|selector| {
                    selector.is_empty() || namespaces.get(&namespace).is_some_and(|labels| selector.matches(labels))
                })
        };
        self.terms
            .iter()
            .all(|term| in_namespace(term) && term.selector.as_ref().is_some_and(|selector| selector.matches(labels)))
    }
}

/// Id of a registered query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PodQueryId(Id);

type Namespaces = Map<Symbol, Labels>;

/// Id of a pod class.
#[derive(Clone, Copy, Debug, Default)]
struct PodClassId(u32);

/// Pods that no query can distinguish: equal namespace, labels and deletion state.
#[derive(Clone, Debug)]
struct PodClass {
    namespace: Symbol,
    labels: Arc<[(Symbol, Symbol)]>,
    deleting: bool,
    nodes: NodeCounts,
    /// The queries that select these pods.
    queries: Vec<PodQueryId>,
}

impl PodClass {
    fn new(pod: &Pod) -> PodClass {
        let PodSpec { namespace, labels, .. } = &*pod.spec;
        let (labels, queries) = (labels.clone(), Vec::new());
        PodClass { namespace: *namespace, labels, deleting: pod.deleting, nodes: NodeCounts::default(), queries }
    }

    #[inline]
    fn has(&self, pod: &Pod) -> bool {
        let labels = &pod.spec.labels;
        // Pods of one template share their labels in memory.
        self.namespace == pod.spec.namespace
            && self.deleting == pod.deleting
            && (Arc::ptr_eq(&self.labels, labels) || self.labels == *labels)
    }

    fn matches(&self, query: &PodQuery, namespaces: &Namespaces) -> bool {
        (query.terminating || !self.deleting) && query.selects(self.namespace, &self.labels, namespaces)
    }
}

/// The classes of one namespace, by labels: one map for pods that are not being deleted, then one for pods that are.
type NamespaceClasses = [Map<Arc<[(Symbol, Symbol)]>, PodClassId>; 2];

/// All pods by class.
#[derive(Clone, Debug, Default)]
struct PodClasses {
    of_namespace: Map<Symbol, NamespaceClasses>,
    /// Slots of classes without pods are reused.
    all: Vec<Option<PodClass>>,
    free: Vec<PodClassId>,
    /// The class of the last lookup: the next pod often has the same template.
    recent: PodClassId,
}

impl PodClasses {
    #[inline(always)]
    fn find(&mut self, pod: &Pod) -> Option<PodClassId> {
        if self.get_mut(self.recent).is_some_and(|class| class.has(pod)) {
            return Some(self.recent);
        }
        let of_namespace = self.of_namespace.get(&pod.spec.namespace)?;
        self.recent = *of_namespace[usize::from(pod.deleting)].get(&*pod.spec.labels)?;
        Some(self.recent)
    }

    #[inline]
    fn get_mut(&mut self, id: PodClassId) -> Option<&mut PodClass> {
        self.all.get_mut(id.0 as usize)?.as_mut()
    }

    fn insert(&mut self, class: PodClass) -> PodClassId {
        let id = self.free.pop().unwrap_or(PodClassId(self.all.len() as u32));
        let of_namespace = self.of_namespace.entry(class.namespace).or_default();
        of_namespace[usize::from(class.deleting)].insert(class.labels.clone(), id);
        match self.all.get_mut(id.0 as usize) {
            Some(slot) => *slot = Some(class),
            None => self.all.push(Some(class)),
        }
        id
    }

    fn remove(&mut self, id: PodClassId) {
        let Some(class) = self.all.get_mut(id.0 as usize).and_then(Option::take) else { return };
        self.free.push(id);
        let Some(of_namespace) = self.of_namespace.get_mut(&class.namespace) else { return };
        of_namespace[usize::from(class.deleting)].remove(&class.labels);
        if of_namespace.iter().all(Map::is_empty) {
            self.of_namespace.remove(&class.namespace);
        }
    }

    /// Visits the classes of one namespace.
    fn each_of(&mut self, namespace: Symbol, mut visit: impl FnMut(&mut PodClass)) {
        let of_namespace = self.of_namespace.get(&namespace);
        for id in of_namespace.into_iter().flatten().flat_map(Map::values) {
            if let Some(class) = &mut self.all[id.0 as usize] {
                visit(class);
            }
        }
    }

    fn each(&mut self, visit: impl FnMut(&mut PodClass)) {
        self.all.iter_mut().flatten().for_each(visit);
    }
}

/// State of one query.
#[derive(Clone, Debug)]
struct QueryCounts {
    nodes: NodeCounts,
    log: ChangeLog<(NodeIndex, i32)>,
}

/// Maximum number of logged changes for each query.
const LOG_CAPACITY: usize = 2048;

impl QueryCounts {
    fn join(&mut self, id: PodQueryId, class: &mut PodClass) {
        class.queries.push(id);
        class.nodes.iter().for_each(|(node, count)| self.nodes.add(node, count));
    }

    fn leave(&mut self, id: PodQueryId, class: &mut PodClass) {
        if let Some(at) = class.queries.iter().position(|other| *other == id) {
            class.queries.swap_remove(at);
            class.nodes.iter().for_each(|(node, count)| self.nodes.subtract(node, count));
        }
    }
}

/// For each registered query, the number of selected pods on each node.
///
/// A plugin registers a query when a pod is compiled ([`SelectorCounts::register`]). The id is valid until
/// [`SelectorCounts::epoch`] changes, and is never reused for another query.
///
/// Pods with equal namespace, labels and deletion state are one class. Therefore a new query is compared with classes
/// instead of pods, and a new pod of a known class is not compared with queries. The index also tracks the labels of
/// namespaces.
#[derive(Clone, Debug, Default)]
pub struct SelectorCounts {
    namespaces: Namespaces,
    classes: PodClasses,
    queries: Registry<PodQuery, QueryCounts>,
    /// The queries that select only pods of named namespaces ([`PodQuery::namespaces`]), by namespace.
    by_namespace: Map<Symbol, Vec<PodQueryId>>,
    /// The other queries, which can select pods of any namespace.
    any_namespace: Vec<PodQueryId>,
}

impl SelectorCounts {
    /// Registers a query.
    pub fn register(&mut self, query: PodQuery) -> PodQueryId {
        let SelectorCounts { namespaces, classes, queries, by_namespace, any_namespace } = self;
        PodQueryId(queries.register(query, |id, query| {
            let id = PodQueryId(id);
            let mut counted = QueryCounts { nodes: NodeCounts::default(), log: ChangeLog::with_capacity(LOG_CAPACITY) };
            let mut join = |class: &mut PodClass| {
                if class.matches(query, namespaces) {
                    counted.join(id, class);
                }
            };
            match query.namespaces() {
                Some(names) => {
                    for (at, &name) in names.iter().enumerate() {
                        if names[..at].contains(&name) {
                            continue;
                        }
                        by_namespace.entry(name).or_default().push(id);
                        classes.each_of(name, &mut join);
                    }
                }
                None => {
                    any_namespace.push(id);
                    classes.each(join);
                }
            }
            counted
        }))
    }

    /// Returns a number that grows when ids returned by [`SelectorCounts::register`] become invalid.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.queries.epoch()
    }

    /// Returns the number of selected pods on each node.
    pub fn counts(&self, id: PodQueryId) -> &NodeCounts {
        static EMPTY: std::sync::LazyLock<NodeCounts> = std::sync::LazyLock::new(NodeCounts::default);
        self.queries.get(id.0).map_or(&EMPTY, |(_, counted)| &counted.nodes)
    }

    /// Returns the changes of a query's counts: a pod was added to a node (1) or removed from it (-1). A namespace
    /// change that affects the counts truncates the log.
    #[inline]
    pub fn log(&self, id: PodQueryId) -> &ChangeLog<(NodeIndex, i32)> {
        static EMPTY: std::sync::LazyLock<ChangeLog<(NodeIndex, i32)>> = std::sync::LazyLock::new(ChangeLog::default);
        self.queries.get(id.0).map_or_else(|| &*EMPTY, |(_, counted)| &counted.log)
    }

    /// Returns whether a query selects a hypothetical pod. Ignores whether the pod is being deleted.
    pub fn selects(&self, id: PodQueryId, pod: &PodSpec) -> bool {
        self.selects_labels(id, pod.namespace, &pod.labels)
    }

    /// Returns whether a query selects pods with these labels in this namespace.
    pub(crate) fn selects_labels(&self, id: PodQueryId, namespace: Symbol, labels: &[(Symbol, Symbol)]) -> bool {
        let query = self.queries.get(id.0).map(|(query, _)| query);
        query.is_some_and(|query| query.selects(namespace, labels, &self.namespaces))
    }

    #[inline]
    fn forget(&mut self) {
        if self.queries.len() > MAX_QUERIES {
            self.evict_oldest();
        }
    }

    #[cold]
    fn evict_oldest(&mut self) {
        for (id, query) in self.queries.forget(MAX_QUERIES) {
            let id = PodQueryId(id);
            let leave = |ids: &mut Vec<PodQueryId>| ids.retain(|other| *other != id);
            let Some(names) = query.namespaces() else {
                leave(&mut self.any_namespace);
                self.classes.each(|class| leave(&mut class.queries));
                continue;
            };
            for name in names {
                self.classes.each_of(*name, |class| leave(&mut class.queries));
                if let Some(ids) = self.by_namespace.get_mut(name) {
                    leave(ids);
                    if ids.is_empty() {
                        self.by_namespace.remove(name);
                    }
                }
            }
        }
    }

    /// Adds the class of a pod whose class does not exist yet.
    #[cold]
    fn insert_class(&mut self, pod: &Pod) -> PodClassId {
        let mut class = PodClass::new(pod);
        let named = self.by_namespace.get(&class.namespace).into_iter().flatten();
        let registered = |id: &&PodQueryId| {
            let query = self.queries.get(id.0).map(|(query, _)| query);
            query.is_some_and(|query| class.matches(query, &self.namespaces))
        };
        class.queries = named.chain(&self.any_namespace).filter(registered).copied().collect();
        self.classes.insert(class)
    }
}

impl Index for SelectorCounts {
    fn cache_sizes(&self) -> Vec<CacheSize> {
        let classes = self.classes.all.len() - self.classes.free.len();
        vec![
            CacheSize::limited("pod_queries", self.queries.len(), MAX_QUERIES),
            CacheSize::of_objects("pod_classes", classes),
        ]
    }
    fn add_pod(&mut self, node: NodeIndex, pod: &Pod) {
        self.forget();
        let id = self.classes.find(pod).unwrap_or_else(|| self.insert_class(pod));
        let Some(class) = self.classes.get_mut(id) else { return };
        class.nodes.add(node, 1);
        for id in &class.queries {
            if let Some(counted) = self.queries.get_mut(id.0) {
                counted.nodes.add(node, 1);
                counted.log.push((node, 1));
            }
        }
    }

    fn remove_pod(&mut self, node: NodeIndex, pod: &Pod) {
        let Some(id) = self.classes.find(pod) else { return };
        let Some(class) = self.classes.get_mut(id) else { return };
        class.nodes.subtract(node, 1);
        for id in &class.queries {
            if let Some(counted) = self.queries.get_mut(id.0) {
                counted.nodes.subtract(node, 1);
                counted.log.push((node, -1));
            }
        }
        if class.nodes.is_empty() {
            self.classes.remove(id);
        }
    }

    /// Evicts queries, as [`Index::add_pod`] does. Pods without a feasible node register queries, too, but are never
    /// passed to `add_pod`.
    #[inline]
    fn set_pending(&mut self, _: Option<&Pod>, new: Option<&Pod>) {
        if new.is_some() {
            self.forget();
        }
    }

    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let Some(Object::Namespace(namespace)) = new.or(old) else { return };
        let name = namespace.name;
        let old = match new {
            Some(Object::Namespace(new)) => self.namespaces.insert(name, new.labels.clone()),
            _ => self.namespaces.remove(&name),
        };
        let new = self.namespaces.get(&name);
        for (id, query, counted) in self.queries.iter_mut() {
            if !query.is_affected_by_labels(old.as_ref(), new) {
                continue;
            }
            let id = PodQueryId(id);
            let mut changed = false;
            self.classes.each_of(name, |class| {
                let is_in = class.matches(query, &self.namespaces);
                if class.queries.contains(&id) == is_in {
                    return;
                }
                changed = true;
                if is_in { counted.join(id, class) } else { counted.leave(id, class) }
            });
            if changed {
                counted.log.cut();
            }
        }
    }
}

#[cfg(test)]
mod tests;
