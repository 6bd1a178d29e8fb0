//! A test kit for authors of plugins: what a plugin promises the framework, held against histories drawn at random.
//!
//! A plugin's functions are tested by calling them, and the whole of it in a cluster in memory, [`Simulator`]. What neither
//! shows is whether it keeps its promises whatever happens. That takes one line, and a few manifests of what the plugin looks at:
//!
//! ```ignore
//! schedc_testing::contracts!(my_scheduler::scheduler::Profiles, "KeptNodes", include_str!("contracts.yaml"));
//! ```
//!
//! It makes a test of each [`Contract`]. The manifests are of nodes, pods and any other objects. Several of one name are what
//! that object may turn into: in a history it comes as one of them, changes to another one, goes, and comes again. Pods
//! with a node run there; the others are scheduled. So what the plugin looks at should differ between them: a label that is
//! there and is not, a node with room and without. Objects are taken as they are: nothing is added that an API server would
//! add.
//!
//! A history that breaks a contract is shortened. The report names the plugins and fields that differ, the steps, and the
//! manifests that they apply. `CONTRACT_CASES` is the number of histories, and `CONTRACT_SEED` the first of them.

mod contracts;
mod history;
mod shrink;
mod test_cluster;
mod test_object;

pub use contracts::{Contract, check};
pub use schedc_in_memory::{CallTreatment, Options, SimulationEnd, SimulationHooks, Simulator, TimedInput};
pub use schedc_objects::testing as objects;
pub use shrink::shrink;

/// A test of each [`Contract`]: the profiles (a [`Bundle`](schedc_core::profile::Bundle)), the name of a plugin that one of them
/// runs, and manifests.
#[macro_export]
macro_rules! contracts {
    ($profiles:ty, $plugin:expr, $manifests:expr $(,)?) => {
        #[test]
        fn add_pod_and_remove_pod_equal_a_changed_cluster() {
            $crate::assert_contract::<$profiles>($plugin, $crate::Contract::AddAndRemovePod, $manifests);
        }

        #[test]
        fn unreserve_undoes_reserve() {
            $crate::assert_contract::<$profiles>($plugin, $crate::Contract::ReserveAndUnreserve, $manifests);
        }

        #[test]
        fn hints_wake_every_pod_that_fits() {
            $crate::assert_contract::<$profiles>($plugin, $crate::Contract::Hints, $manifests);
        }

        #[test]
        fn cached_answers_equal_full_evaluations() {
            $crate::assert_contract::<$profiles>($plugin, $crate::Contract::CachedAnswers, $manifests);
        }

        #[test]
        fn state_after_events_equals_a_rebuild() {
            $crate::assert_contract::<$profiles>($plugin, $crate::Contract::Rebuilt, $manifests);
        }
    };
}

/// Fails the test that it is called in if the plugin does not keep the promise.
///
/// # Panics
/// It does not, or the manifests are none.
#[track_caller]
pub fn assert_contract<B: schedc_core::profile::Bundle>(plugin: &str, contract: Contract, manifests: &str) {
    if let Err(told) = check::<B>(plugin, contract, manifests) {
        panic!("{told}");
    }
}
