//! A column with data of pods.

use schedc_core::prelude::*;

/// Number of pods with the label `example.com/noisy` on a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoisyPods {
    label: Option<Symbol>,
    pods: i64,
}

impl NoisyPods {
    fn has_label(&self, pod: &Pod) -> bool {
        self.label.is_some_and(|label| pod.spec.labels.value(label).is_some())
    }
}

impl Column for NoisyPods {
    fn begin(interner: &mut Interner) {
        interner.intern("example.com/noisy");
    }

    fn build(_: &Node, interner: &Interner) -> Self {
        NoisyPods { label: interner.get("example.com/noisy"), pods: 0 }
    }

    fn add_pod(&mut self, pod: &Pod) {
        self.pods += i64::from(self.has_label(pod));
    }

    fn remove_pod(&mut self, pod: &Pod) {
        self.pods -= i64::from(self.has_label(pod));
    }
}

#[test]
fn labels_of_later_pods_are_found() {
    let mut interner = Interner::default();
    NoisyPods::begin(&mut interner);
    assert!(NoisyPods::build(&Node::default(), &interner).label.is_some());
}
