//! Index of the pods of each group.

use std::collections::BTreeMap;

use schedc_core::column::Index;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{NodeIndex, Pod, Uid};

use crate::group::{GroupKey, POD_GROUP};

/// Pods of each group that are not being deleted: pending pods, and pods with a node, whether running or just assumed.
#[derive(Debug, PartialEq)]
pub struct PodGroups {
    /// Symbol of the label with the group's name.
    label: Symbol,
    groups: Map<GroupKey, Group>,
    /// Number of groups created so far.
    founded: i64,
}

impl Default for PodGroups {
    fn default() -> Self {
        PodGroups { label: Symbol::EMPTY, groups: Map::default(), founded: 0 }
    }
}

#[derive(Debug, Default, PartialEq)]
struct Group {
    /// Time of the group in the queue's order, from its first pod with a creation time.
    time: Option<i64>,
    /// Sequence number of the group.
    number: i64,
    pods: BTreeMap<Uid, MemberState>,
}

/// State of a pod of a group. For an assumed pod, both fields are true until it is bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct MemberState {
    is_pending: bool,
    has_node: bool,
}

impl PodGroups {
    /// Returns the number of pods of a group.
    pub fn size(&self, group: GroupKey) -> usize {
        self.groups.get(&group).map_or(0, |group| group.pods.len())
    }

    /// Returns the pods of a group.
    pub fn pods(&self, group: GroupKey) -> impl Iterator<Item = &Uid> {
        self.members(group).map(|(uid, _)| uid)
    }

    /// Returns the number of pods with a node.
    pub fn placed(&self, group: GroupKey) -> usize {
        self.members(group).filter(|(_, member)| member.has_node).count()
    }

    /// Returns the pods without a node.
    pub fn unplaced(&self, group: GroupKey) -> impl Iterator<Item = &Uid> {
        self.members(group).filter(|(_, member)| !member.has_node).map(|(uid, _)| uid)
    }

    /// Returns the time of a pod's group in nanoseconds since 1970: equal for all of its pods, and different from that
    /// of other groups. `None`: the pod is in no group, or no pod of its group has a creation time.
    pub fn time(&self, pod: &Pod) -> Option<i64> {
        self.groups.get(&self.group(pod)?)?.time
    }

    /// Returns the symbol of the label with a group's name.
    pub fn label(&self) -> Symbol {
        self.label
    }

    /// Returns the group of a pod, unless the pod is being deleted.
    pub fn group(&self, pod: &Pod) -> Option<GroupKey> {
        if pod.deleting { None } else { GroupKey::of(&pod.spec, self.label) }
    }

    fn members(&self, group: GroupKey) -> impl Iterator<Item = (&Uid, &MemberState)> {
        self.groups.get(&group).into_iter().flat_map(|group| &group.pods)
    }

    fn update_member(&mut self, pod: &Pod, change: impl FnOnce(&mut MemberState)) {
        let Some(key) = self.group(pod) else { return };
        let group = self.groups.entry(key).or_insert_with(|| {
            self.founded += 1;
            Group { number: self.founded, ..Group::default() }
        });
        if let (None, Some(created)) = (group.time, pod.created) {
            // Creation times are whole seconds; the sequence number distinguishes groups of the same second.
            group.time = Some(created + group.number % 1_000_000_000);
        }
        change(group.pods.entry(pod.uid.clone()).or_default());
    }

    fn clear_member(&mut self, pod: &Pod, change: impl FnOnce(&mut MemberState)) {
        let Some(key) = self.group(pod) else { return };
        let Some(group) = self.groups.get_mut(&key) else { return };
        let Some(member) = group.pods.get_mut(&pod.uid) else { return };
        change(member);
        if *member == MemberState::default() {
            group.pods.remove(&pod.uid);
        }
        if group.pods.is_empty() {
            self.groups.remove(&key);
        }
    }
}

impl Index for PodGroups {
    fn begin(&mut self, interner: &mut Interner) {
        self.label = interner.intern(POD_GROUP);
    }
    fn add_pod(&mut self, _: NodeIndex, pod: &Pod) {
        self.update_member(pod, |member| member.has_node = true);
    }
    fn remove_pod(&mut self, _: NodeIndex, pod: &Pod) {
        self.clear_member(pod, |member| member.has_node = false);
    }
    fn set_pending(&mut self, old: Option<&Pod>, new: Option<&Pod>) {
        // Add before removing: a group whose only pod changes stays the same group.
        if let Some(new) = new {
            self.update_member(new, |member| member.is_pending = true);
        }
        if let Some(old) = old
            && new.is_none_or(|new| new.uid != old.uid || self.group(new) != self.group(old))
        {
            self.clear_member(old, |member| member.is_pending = false);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schedc_objects::testing;

    use super::*;

    const NODE: NodeIndex = NodeIndex(0);

    struct Cluster {
        interner: Interner,
        index: PodGroups,
    }

    impl Cluster {
        fn new() -> Self {
            let (mut interner, mut index) = (Interner::default(), PodGroups::default());
            index.begin(&mut interner);
            Cluster { interner, index }
        }
        /// Creates a pod of a group with this creation second.
        fn pod(&mut self, name: &str, group: &str, second: usize) -> Pod {
            let yaml = format!(
                "{{ metadata: {{ name: {name}, uid: {name}, creationTimestamp: '2026-01-01T00:00:0{second}Z', \
                 labels: {{ scheduling.x-k8s.io/pod-group: {group} }} }} }}"
            );
            testing::pod(&yaml, &mut self.interner)
        }
        fn unplaced(&self, pod: &Pod) -> Vec<&str> {
            let Some(group) = self.index.group(pod) else { return Vec::new() };
            self.index.unplaced(group).map(|uid| &*uid.0).collect()
        }
    }

    #[test]
    fn a_pod_counts_from_creation_to_deletion() {
        let mut cluster = Cluster::new();
        let (a, b) = (cluster.pod("a", "g", 0), cluster.pod("b", "g", 1));
        let Some(group) = cluster.index.group(&a) else { panic!("it has a label") };
        type Happens = fn(&mut PodGroups, &Pod, &Pod);
        let steps: [(&str, Happens, usize, &[&str]); 7] = [
            ("a comes", |index, a, _| index.set_pending(None, Some(a)), 1, &["a"]),
            ("b comes", |index, _, b| index.set_pending(None, Some(b)), 2, &["a", "b"]),
            ("a is assumed", |index, a, _| index.add_pod(NODE, a), 2, &["b"]),
            ("a is bound", |index, a, _| index.set_pending(Some(a), None), 2, &["b"]),
            ("b is assumed", |index, _, b| index.add_pod(NODE, b), 2, &[]),
            ("b is forgotten", |index, _, b| index.remove_pod(NODE, b), 2, &["b"]),
            ("a ends", |index, a, _| index.remove_pod(NODE, a), 1, &["b"]),
        ];
        for (what, happens, size, unplaced) in steps {
            happens(&mut cluster.index, &a, &b);
            assert_eq!((cluster.index.size(group), cluster.unplaced(&a).as_slice()), (size, unplaced), "{what}");
            assert_eq!(cluster.index.placed(group), size - unplaced.len(), "{what}");
        }
        cluster.index.set_pending(Some(&b), None);
        assert!(cluster.index.groups.is_empty());
    }

    #[test]
    fn terminating_pods_do_not_count() {
        let mut cluster = Cluster::new();
        let a = cluster.pod("a", "g", 0);
        let leaving = Pod { deleting: true, ..a.clone() };
        cluster.index.set_pending(None, Some(&a));
        cluster.index.set_pending(Some(&a), Some(&leaving));
        assert!(cluster.index.groups.is_empty());
        cluster.index.set_pending(Some(&leaving), None);
        assert!(cluster.index.groups.is_empty());
    }

    #[test]
    fn another_scheduler_has_other_groups() {
        let mut cluster = Cluster::new();
        let yaml = |scheduler| {
            format!(
                "{{ metadata: {{ name: a, labels: {{ scheduling.x-k8s.io/pod-group: g }} }}, \
                 spec: {{ schedulerName: {scheduler} }} }}"
            )
        };
        let [one, two] = ["one", "two"].map(|scheduler| testing::pod(&yaml(scheduler), &mut cluster.interner));
        assert_ne!(cluster.index.group(&one), cluster.index.group(&two));
    }

    #[test]
    fn pods_of_a_group_share_a_unique_time() {
        let mut cluster = Cluster::new();
        let pods = [("a", "g", 0), ("b", "h", 0), ("c", "g", 5)].map(|(name, group, at)| cluster.pod(name, group, at));
        for pod in &pods {
            cluster.index.set_pending(None, Some(pod));
        }
        let [a, b, c] = pods.map(|pod| cluster.index.time(&pod));
        assert_eq!(a, c);
        assert!(a < b, "it was there first");
    }

    proptest! {
        /// The index depends on the current objects only, not on their history.
        #[test]
        fn histories_leave_no_trace(steps in prop::collection::vec((0..4_usize, 0..5_usize), 0..40)) {
            let mut cluster = Cluster::new();
            let pods: Vec<Pod> = (0..8).map(|at| cluster.pod(&format!("p{}", at % 4), ["g", "h"][at / 4], 0)).collect();
            // For each pod: the version that is pending, and the version that has a node.
            let mut current_versions: [(Option<usize>, Option<usize>); 4] = Default::default();
            for (pod, what) in steps {
                let version = |group: usize| &pods[group * 4 + pod];
                let (pending, node) = &mut current_versions[pod];
                match what {
                    0 | 1 => {
                        cluster.index.set_pending(pending.map(version), Some(version(what)));
                        *pending = Some(what);
                    }
                    2 => {
                        if let Some(old) = pending.take() {
                            cluster.index.set_pending(Some(version(old)), None);
                        }
                    }
                    3 => {
                        if node.is_none() {
                            cluster.index.add_pod(NODE, version(0));
                            *node = Some(0);
                        }
                    }
                    _ => {
                        if node.take().is_some() {
                            cluster.index.remove_pod(NODE, version(0));
                        }
                    }
                }
            }
            for group in 0..2 {
                let members = current_versions.map(|(pending, node)| (pending == Some(group), node == Some(group)));
                let Some(key) = cluster.index.group(&pods[group * 4]) else { panic!("it has a label") };
                prop_assert_eq!(cluster.index.size(key), members.iter().filter(|s| s.0 || s.1).count());
                prop_assert_eq!(cluster.index.placed(key), members.iter().filter(|s| s.1).count());
            }
        }
    }
}
