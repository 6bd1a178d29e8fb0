//! On which nodes how many pods are that a selector means.

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::{Map, Set};
use schedc_core::model::{LabelSelector, Labels, NodeIndex, Object, Pod, PodSpec};

use super::registry::Registry;

/// How many questions are kept at most.
const LIMIT: usize = 4096;

/// Some pods of some namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodTerm {
    /// The namespaces.
    pub namespaces: Box<[Symbol]>,
    /// Further namespaces, by their labels. An empty selector means every namespace, another one only namespaces that are
    /// known. `None` adds none.
    pub namespace_selector: Option<LabelSelector>,
    /// Their pods. `None` means no pod.
    pub selector: Option<LabelSelector>,
}

/// Which pods are counted: those that match all terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodQuestion {
    /// The terms.
    pub terms: Box<[PodTerm]>,
    /// Whether pods that are being deleted are counted.
    pub terminating: bool,
}

impl PodQuestion {
    /// The question about pods of one namespace.
    pub fn new(namespace: Symbol, selector: LabelSelector, terminating: bool) -> PodQuestion {
        let term = PodTerm { namespaces: [namespace].into(), namespace_selector: None, selector: Some(selector) };
        PodQuestion { terms: [term].into(), terminating }
    }

    /// The namespaces that its pods must be in, if it says so by name.
    fn namespaces(&self) -> Option<&[Symbol]> {
        let named = self.terms.iter().find(|term| term.namespace_selector.is_none())?;
        Some(&named.namespaces)
    }

    fn depends_on_namespaces(&self) -> bool {
        self.terms.iter().any(|term| term.namespace_selector.as_ref().is_some_and(|selector| !selector.is_empty()))
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

/// A question that a pod asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionId(u32);

/// A number of pods for each node that has some: read more often than changed, and mostly from one end to the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeCounts {
    /// Sorted by node.
    nodes: Vec<(NodeIndex, u32)>,
}

impl NodeCounts {
    /// The nodes with pods, ascending, and how many.
    pub fn iter(&self) -> impl Iterator<Item = (NodeIndex, u32)> {
        self.nodes.iter().copied()
    }

    /// How many pods a node has.
    pub fn get(&self, node: NodeIndex) -> u32 {
        self.find(node).map_or(0, |at| self.nodes[at].1)
    }

    /// Whether there are no pods at all.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn add(&mut self, node: NodeIndex, count: u32) {
        match self.find(node) {
            Ok(at) => self.nodes[at].1 += count,
            Err(at) => self.nodes.insert(at, (node, count)),
        }
    }

    pub(super) fn subtract(&mut self, node: NodeIndex, count: u32) {
        if let Ok(at) = self.find(node) {
            self.nodes[at].1 -= count;
            if self.nodes[at].1 == 0 {
                self.nodes.remove(at);
            }
        }
    }

    /// Where a node is, or belongs.
    fn find(&self, node: NodeIndex) -> Result<usize, usize> {
        self.nodes.binary_search_by_key(&node, |entry| entry.0)
    }
}

type Namespaces = Map<Symbol, Labels>;

/// Pods that no question can tell apart.
#[derive(Clone, Debug, Default)]
struct Class {
    nodes: NodeCounts,
    /// The questions that count them.
    questions: Vec<QuestionId>,
}

/// The classes of one namespace, by labels: pods that stay, and pods that are being deleted.
type Classes = [Map<Labels, Class>; 2];

/// For each question that pods asked, how many pods on which nodes are meant.
///
/// [`SelectorCounts::register`] a question when a pod is compiled; what it returns is good until [`SelectorCounts::epoch`]
/// is another one. Pods with equal namespace and labels are one class, so that a new question is compared with classes, and a new pod with nothing
/// if there are others of its class. Namespaces are looked up here: counts follow their labels.
#[derive(Clone, Debug, Default)]
pub struct SelectorCounts {
    namespaces: Namespaces,
    classes: Map<Symbol, Classes>,
    questions: Registry<PodQuestion, NodeCounts>,
    /// The questions about namespaces by name, under each of these names.
    by_namespace: Map<Symbol, Vec<QuestionId>>,
    /// All others.
    anywhere: Vec<QuestionId>,
}

impl SelectorCounts {
    /// Asks a question.
    pub fn register(&mut self, question: PodQuestion) -> QuestionId {
        let SelectorCounts { namespaces, classes, questions, by_namespace, anywhere } = self;
        QuestionId(questions.register(question, |id, question| {
            let id = QuestionId(id);
            let mut counts = NodeCounts::default();
            match question.namespaces() {
                Some(names) => {
                    let names: Set<Symbol> = names.iter().copied().collect();
                    for name in &names {
                        by_namespace.entry(*name).or_default().push(id);
                        if let Some(classes) = classes.get_mut(name) {
                            join(id, question, &mut counts, *name, classes, namespaces);
                        }
                    }
                }
                None => {
                    anywhere.push(id);
                    for (name, classes) in classes {
                        join(id, question, &mut counts, *name, classes, namespaces);
                    }
                }
            }
            counts
        }))
    }

    /// Grows when what [`SelectorCounts::register`] returned does not hold any more.
    pub fn epoch(&self) -> u64 {
        self.questions.epoch()
    }

    /// The pods that a question means, by node.
    pub fn counts(&self, id: QuestionId) -> &NodeCounts {
        static NOTHING: std::sync::LazyLock<NodeCounts> = std::sync::LazyLock::new(NodeCounts::default);
        self.questions.get(id.0).map_or(&NOTHING, |(_, counts)| counts)
    }

    /// Whether a question means a pod, whether or not it is being deleted: for pods that come and go in thought.
    pub fn selects(&self, id: QuestionId, pod: &PodSpec) -> bool {
        self.selects_labels(id, pod.namespace, &pod.labels)
    }

    /// Whether a question means pods with these labels in this namespace.
    pub fn selects_labels(&self, id: QuestionId, namespace: Symbol, labels: &[(Symbol, Symbol)]) -> bool {
        let question = self.questions.get(id.0).map(|(question, _)| question);
        question.is_some_and(|question| question.selects(namespace, labels, &self.namespaces))
    }

    fn forget(&mut self) {
        for (id, question) in self.questions.forget(LIMIT) {
            let id = QuestionId(id);
            let leave = |ids: &mut Vec<QuestionId>| ids.retain(|other| *other != id);
            let mut leave_classes = |classes: &mut Classes| {
                classes.iter_mut().flat_map(Map::values_mut).for_each(|class| leave(&mut class.questions));
            };
            let Some(names) = question.namespaces() else {
                leave(&mut self.anywhere);
                self.classes.values_mut().for_each(leave_classes);
                continue;
            };
            for name in names {
                self.classes.get_mut(name).map(&mut leave_classes);
                if let Some(ids) = self.by_namespace.get_mut(name) {
                    leave(ids);
                    if ids.is_empty() {
                        self.by_namespace.remove(name);
                    }
                }
            }
        }
    }

    /// The questions that mean pods of a class which nobody has seen yet.
    fn questions_about(&self, pod: &Pod) -> Vec<QuestionId> {
        let named = self.by_namespace.get(&pod.spec.namespace);
        let asked = |id: &&QuestionId| {
            let question = self.questions.get(id.0).map(|(question, _)| question);
            question.is_some_and(|question| {
                (question.terminating || !pod.deleting)
                    && question.selects(pod.spec.namespace, &pod.spec.labels, &self.namespaces)
            })
        };
        named.into_iter().flatten().chain(&self.anywhere).filter(asked).copied().collect()
    }
}

/// Counts the pods of one namespace that a new question means.
fn join(
    id: QuestionId,
    question: &PodQuestion,
    counts: &mut NodeCounts,
    namespace: Symbol,
    classes: &mut Classes,
    namespaces: &Namespaces,
) {
    let [staying, terminating] = classes;
    let asked = staying.iter_mut().chain(question.terminating.then_some(terminating).into_iter().flatten());
    for (labels, class) in asked {
        if question.selects(namespace, labels, namespaces) {
            class.questions.push(id);
            class.nodes.iter().for_each(|(node, count)| counts.add(node, count));
        }
    }
}

impl Index for SelectorCounts {
    fn add_pod(&mut self, node: NodeIndex, pod: &Pod) {
        self.forget();
        let known = |classes: &Classes| classes[usize::from(pod.deleting)].contains_key(&pod.spec.labels);
        if !self.classes.get(&pod.spec.namespace).is_some_and(known) {
            let class = Class { questions: self.questions_about(pod), nodes: NodeCounts::default() };
            let classes = self.classes.entry(pod.spec.namespace).or_default();
            classes[usize::from(pod.deleting)].insert(pod.spec.labels.clone(), class);
        }
        let Some(classes) = self.classes.get_mut(&pod.spec.namespace) else { return };
        let Some(class) = classes[usize::from(pod.deleting)].get_mut(&pod.spec.labels) else { return };
        class.nodes.add(node, 1);
        for id in &class.questions {
            if let Some(counts) = self.questions.get_mut(id.0) {
                counts.add(node, 1);
            }
        }
    }

    fn remove_pod(&mut self, node: NodeIndex, pod: &Pod) {
        let Some(classes) = self.classes.get_mut(&pod.spec.namespace) else { return };
        let Some(class) = classes[usize::from(pod.deleting)].get_mut(&pod.spec.labels) else { return };
        class.nodes.subtract(node, 1);
        for id in &class.questions {
            if let Some(counts) = self.questions.get_mut(id.0) {
                counts.subtract(node, 1);
            }
        }
        if class.nodes.is_empty() {
            classes[usize::from(pod.deleting)].remove(&pod.spec.labels);
            if classes.iter().all(Map::is_empty) {
                self.classes.remove(&pod.spec.namespace);
            }
        }
    }

    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let Some(Object::Namespace(namespace)) = new.or(old) else { return };
        let name = namespace.name;
        match new {
            Some(Object::Namespace(new)) => self.namespaces.insert(name, new.labels.clone()),
            _ => self.namespaces.remove(&name),
        };
        let Some(classes) = self.classes.get_mut(&name) else { return };
        for (id, question, counts) in self.questions.iter_mut() {
            if !question.depends_on_namespaces() {
                continue;
            }
            let id = QuestionId(id);
            for class in classes.iter_mut().flat_map(Map::values_mut) {
                if let Some(at) = class.questions.iter().position(|other| *other == id) {
                    class.questions.swap_remove(at);
                    class.nodes.iter().for_each(|(node, count)| counts.subtract(node, count));
                }
            }
            join(id, question, counts, name, classes, &self.namespaces);
        }
    }
}

#[cfg(test)]
mod tests;
