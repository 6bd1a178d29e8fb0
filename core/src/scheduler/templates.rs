//! Sharing of specs between pods of one template.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;

use crate::model::cache_size::CacheSize;
use crate::model::map::FixedHasher;
use crate::model::{Pod, PodSpec, PodUsage};

/// Number of templates at which the young table becomes the old one.
const LIMIT: usize = 4096;
/// Minimum number of removed pods between two searches for unused templates.
const MIN_REMOVALS: usize = 256;

/// The common parts of pods of one template.
struct PodTemplate {
    hash: u64,
    spec: Arc<PodSpec>,
    usage: Arc<PodUsage>,
}

/// Recently seen templates. Shared specs let the engine find compiled pods by the address of their spec, and let a
/// million pods of few templates take little memory.
#[derive(Default)]
pub struct Templates {
    young: HashTable<PodTemplate>,
    /// Older templates; those that are seen again move to the young ones.
    old: HashTable<PodTemplate>,
    /// Number of removed pods since the last search for unused templates.
    removals: usize,
}

impl Templates {
    pub(super) fn cache_size(&self) -> CacheSize {
        CacheSize::limited("templates", self.len(), 2 * LIMIT)
    }

    fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Counts a removed pod. After as many removals as there are templates, and at least 256, frees the templates whose
    /// spec neither a pod nor the engine refers to. A burst of distinct pods therefore leaves no templates.
    pub(super) fn count_removal(&mut self) {
        self.removals += 1;
        if self.removals >= MIN_REMOVALS.max(self.len()) {
            self.free_unused();
        }
    }

    #[cold]
    fn free_unused(&mut self) {
        self.removals = 0;
        for table in [&mut self.young, &mut self.old] {
            table.retain(|template| Arc::strong_count(&template.spec) > 1);
            table.shrink_to_fit(|template| template.hash);
        }
    }

    /// Replaces a pod's spec with the shared one of its template. The spec of a pod that names its node stays separate,
    /// and refers to the template without the name.
    pub fn share(&mut self, pod: &mut Pod) {
        let named_node = pod.spec.required_node_affinity.named_node();
        let pinned =
            named_node.map(|node| (node, std::mem::take(&mut Arc::make_mut(&mut pod.spec).required_node_affinity)));
        let mut hasher = FixedHasher::default();
        pod.spec.hash(&mut hasher);
        let hash = hasher.finish();
        let template = match self.young.find(hash, |known| known.hash == hash && known.spec == pod.spec) {
            Some(template) => template,
            None => self.promote(hash, pod),
        };
        if template.usage == pod.usage {
            pod.usage = template.usage.clone();
        }
        match pinned {
            Some((node, mut affinity)) => {
                affinity.set_pin(node, template.spec.clone());
                Arc::make_mut(&mut pod.spec).required_node_affinity = affinity;
            }
            None => pod.spec = template.spec.clone(),
        }
    }

    /// Moves the template of a pod to the young ones, or adds it.
    fn promote(&mut self, hash: u64, pod: &Pod) -> &PodTemplate {
        let template = match self.old.find_entry(hash, |known| known.hash == hash && known.spec == pod.spec) {
            Ok(found) => found.remove().0,
            Err(_) => PodTemplate { hash, spec: pod.spec.clone(), usage: pod.usage.clone() },
        };
        if self.young.len() == LIMIT {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        self.young.insert_unique(hash, template, |known| known.hash).into_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::intern::Interner;
    use crate::model::{FieldRequirement, NodeSelector, NodeSelectorTerm};

    #[test]
    fn pods_that_name_their_nodes_share_a_template_without_the_name() {
        let mut interner = Interner::default();
        let names = ["n0", "n1"].map(|name| interner.intern(name));
        let pod = |name| {
            let field = FieldRequirement { negated: false, name };
            let term = NodeSelectorTerm { match_expressions: Box::default(), match_fields: [field].into() };
            let selector = Some(NodeSelector { terms: [term].into() });
            Pod {
                spec: Arc::new(PodSpec { required_node_affinity: selector.into(), ..PodSpec::default() }),
                ..Pod::default()
            }
        };
        let mut templates = Templates::default();
        let mut pods = names.map(pod);
        pods.iter_mut().for_each(|pod| templates.share(pod));
        assert_eq!(pods, names.map(pod));
        let [one, other] = pods.each_ref().map(|pod| pod.spec.required_node_affinity.pin().unwrap());
        assert_eq!([one.0, other.0], names);
        assert!(Arc::ptr_eq(one.1, other.1));
        assert_eq!(**one.1, PodSpec::default());
        let mut plain = Pod::default();
        templates.share(&mut plain);
        assert!(Arc::ptr_eq(one.1, &plain.spec));
        assert_eq!(PodSpec::clone(&pods[0].spec).required_node_affinity.pin(), None, "a copy may be changed");
    }

    #[test]
    fn a_burst_of_distinct_pods_leaves_no_template() {
        let mut templates = Templates::default();
        let mut pods: Vec<_> = (0..1000)
            .map(|priority| {
                let mut pod = Pod { spec: Arc::new(PodSpec { priority, ..PodSpec::default() }), ..Pod::default() };
                templates.share(&mut pod);
                pod
            })
            .collect();
        let kept = pods.pop();
        assert_eq!(templates.len(), 1000);
        for pod in pods {
            drop(pod);
            templates.count_removal();
        }
        templates.count_removal();
        assert_eq!((templates.len(), kept.is_some()), (1, true));
    }
}
