//! Tests of the scheduler.

mod scheduling;

// The contracts that every plugin must satisfy, checked with random histories of the objects in contracts.yaml.
schedc_testing::contracts!(crate::scheduler::Profiles, "@PLUGIN@", include_str!("contracts.yaml"));
