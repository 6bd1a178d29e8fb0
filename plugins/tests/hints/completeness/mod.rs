//! Hints wake every pod that has become schedulable, for random changes of nodes, pods and other objects.

mod pods;
mod volumes;

use proptest::prelude::*;

/// Generates a list that is usually empty, so that usually only one plugin rejects the pod.
fn rarely<T: std::fmt::Debug + Clone>(up_to: usize, value: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(value, 1..=up_to)]
}
