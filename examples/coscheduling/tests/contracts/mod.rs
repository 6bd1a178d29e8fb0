//! Verifies the contracts of plugins with random histories of the objects in contracts.yaml.

use coscheduling::scheduler::Profiles;

schedc_testing::contracts!(Profiles, "Coscheduling", include_str!("contracts.yaml"));
