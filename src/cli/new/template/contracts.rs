//! What every plugin promises the framework, held against random histories of the objects in contracts.yaml.

use @CRATE@::scheduler::Profiles;

schedc_testing::contracts!(Profiles, "KeptNodes", include_str!("contracts.yaml"));
