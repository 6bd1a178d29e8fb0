//! Verifies the contracts of plugins with random histories of the objects in contracts.yaml.

use out_of_tree::scheduler::Profiles;

schedc_testing::contracts!(Profiles, "Maintenance", include_str!("contracts.yaml"));
