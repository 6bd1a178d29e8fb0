//! A test kit for plugin authors: checks the contracts between a plugin and the framework with random histories.
//!
//! Unit tests cover a plugin's functions, and tests with an in-memory cluster ([`Simulator`]) cover its results.
//! Contracts cover random orders of events. They need one line, and a few manifests of the objects that the plugin
//! reads:
//!
//! ```ignore
//! schedc_testing::contracts!(my_scheduler::scheduler::Profiles, "KeptNodes", include_str!("contracts.yaml"));
//! ```
//!
//! The macro creates a test of each [`Contract`]. The manifests contain nodes, pods and any other objects. Several
//! manifests with one name are variants: in a history, the object is created as one of them, changes to another one, is
//! deleted, and is created again. Therefore variants should differ in everything that the plugin reads: a label that is
//! present or missing, a node with and without free resources. A pod whose manifest has a node runs on that node; all
//! other pods are scheduled. API server defaults are not applied.
//!
//! A history that violates a contract is shortened. The report names the plugins and fields that differ, the steps, and
//! the manifests that they apply. The environment variable `CONTRACT_CASES` sets the number of histories (default 60),
//! and `CONTRACT_SEED` sets the seed of the first history (default 0). The seed of each further history is one higher.

mod contracts;
mod history;
mod shrink;
mod test_cluster;
mod test_object;

pub use contracts::{Contract, check};
pub use schedc_in_memory::{CallTreatment, Options, SimulationEnd, SimulationHooks, Simulator, TimedInput};
pub use schedc_objects::testing as objects;
pub use shrink::shrink;

/// Creates a test of each [`Contract`]. Arguments: the profiles (a [`Bundle`](schedc_core::profile::Bundle)), the name
/// of a plugin in one of them, and manifests.
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

/// Checks a plugin against a contract.
///
/// # Panics
/// Panics if the plugin violates the contract, or the manifests are invalid.
#[track_caller]
pub fn assert_contract<B: schedc_core::profile::Bundle>(plugin: &str, contract: Contract, manifests: &str) {
    if let Err(problem) = check::<B>(plugin, contract, manifests) {
        panic!("{problem}");
    }
}
