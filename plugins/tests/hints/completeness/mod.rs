//! A parked pod that fits now was woken, whatever happened to nodes, pods and other objects.

mod pods;
mod volumes;

use proptest::prelude::*;

/// Most often none, so that it is one plugin that has something to say.
fn rarely<T: std::fmt::Debug + Clone>(up_to: usize, of: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(of, 1..=up_to)]
}
