//! What a pod's labels say of its group.

use std::fmt;
use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{LabelsExt, PodSpec};

/// The label with the name of a pod's group.
pub const POD_GROUP: &str = "scheduling.x-k8s.io/pod-group";
/// The label that says how many pods of the group must have a node before any of them is bound.
pub const MIN_MEMBER: &str = "scheduling.x-k8s.io/min-member";
/// The label that says for how many seconds the pod waits for the others, in place of the profile.
pub const SCHEDULE_TIMEOUT: &str = "scheduling.x-k8s.io/schedule-timeout-seconds";

/// A Permit plugin can make a pod wait for 15 minutes.
const LONGEST_WAIT: i64 = 900;

/// Which group. Pods that name different schedulers are in different groups, whatever their label says: nobody could
/// promise them a node at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKey {
    scheduler: Symbol,
    namespace: Symbol,
    name: Symbol,
}

impl GroupKey {
    /// The group of a pod. `label` is the symbol of [`POD_GROUP`].
    pub fn of(spec: &PodSpec, label: Symbol) -> Option<GroupKey> {
        let name = spec.labels.value(label)?;
        Some(GroupKey { scheduler: spec.scheduler_name, namespace: spec.namespace, name })
    }

    /// As people write it: `namespace/name`.
    pub fn display(self, interner: &Interner) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "{}/{}", interner.resolve(self.namespace), interner.resolve(self.name)))
    }
}

/// A pod's place in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Membership {
    /// The group.
    pub group: GroupKey,
    /// How many pods of it must have a node before this one is bound.
    pub min_member: usize,
    /// For how many seconds the pod waits for them, if it says so itself.
    pub timeout: Option<i64>,
}

impl Membership {
    /// What a pod's labels say; none if it is in no group.
    ///
    /// # Errors
    /// It says that it is in a group, and then nothing of use.
    pub fn of(spec: &PodSpec, interner: &Interner) -> Result<Option<Membership>, Arc<str>> {
        let Some(group) = interner.get(POD_GROUP).and_then(|label| GroupKey::of(spec, label)) else { return Ok(None) };
        let min_member = number(spec, interner, MIN_MEMBER, i64::from(u32::MAX))?;
        let Some(min_member) = min_member.and_then(|number| usize::try_from(number).ok()) else {
            let group = group.display(interner);
            return Err(format!("pod of group {group} has no label {MIN_MEMBER}").into());
        };
        let timeout = number(spec, interner, SCHEDULE_TIMEOUT, LONGEST_WAIT)?;
        Ok(Some(Membership { group, min_member, timeout }))
    }
}

/// The number in a label, from 1 on.
fn number(spec: &PodSpec, interner: &Interner, label: &str, most: i64) -> Result<Option<i64>, Arc<str>> {
    let Some(value) = interner.get(label).and_then(|label| spec.labels.value(label)) else { return Ok(None) };
    let value = interner.resolve(value);
    match value.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(Some(number)),
        _ => Err(format!("label {label} is {value:?}: a number from 1 to {most} is wanted").into()),
    }
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::pod;

    use super::*;

    fn membership(labels: &str) -> Result<Option<(usize, Option<i64>)>, String> {
        let mut interner = Interner::default();
        let pod = pod(&format!("metadata: {{ name: a, namespace: ml, labels: {{ {labels} }} }}"), &mut interner);
        let membership = Membership::of(&pod.spec, &interner).map_err(|reason| reason.to_string())?;
        Ok(membership.map(|membership| (membership.min_member, membership.timeout)))
    }

    #[test]
    fn labels_name_the_group() {
        let no_number = |label: &str, value: &str, most: i64| {
            Err(format!("label {label} is {value:?}: a number from 1 to {most} is wanted"))
        };
        for (labels, expected) in [
            ("app: web", Ok(None)),
            ("scheduling.x-k8s.io/pod-group: a, scheduling.x-k8s.io/min-member: '3'", Ok(Some((3, None)))),
            (
                "scheduling.x-k8s.io/pod-group: a, scheduling.x-k8s.io/min-member: '3', \
                 scheduling.x-k8s.io/schedule-timeout-seconds: '20'",
                Ok(Some((3, Some(20)))),
            ),
            (
                "scheduling.x-k8s.io/pod-group: a",
                Err("pod of group ml/a has no label scheduling.x-k8s.io/min-member".to_owned()),
            ),
            (
                "scheduling.x-k8s.io/pod-group: a, scheduling.x-k8s.io/min-member: '0'",
                no_number(MIN_MEMBER, "0", i64::from(u32::MAX)),
            ),
            (
                "scheduling.x-k8s.io/pod-group: a, scheduling.x-k8s.io/min-member: few",
                no_number(MIN_MEMBER, "few", i64::from(u32::MAX)),
            ),
            (
                "scheduling.x-k8s.io/pod-group: a, scheduling.x-k8s.io/min-member: '1', \
                 scheduling.x-k8s.io/schedule-timeout-seconds: '901'",
                no_number(SCHEDULE_TIMEOUT, "901", 900),
            ),
        ] {
            assert_eq!(membership(labels), expected, "{labels}");
        }
    }
}
