//! The `schedc` command: the real binary with manifests and profiles.

mod backtest;
mod bad_input;
#[cfg(feature = "bench")]
mod bench;
mod book;
mod budgets;
mod build;
mod capacity;
mod check;
mod check_manifests;
mod completions;
#[cfg(feature = "bench")]
mod cost;
mod defragment;
mod devices;
mod diff;
mod drain;
mod evaluate;
mod explain;
mod explain_pods;
mod explain_remedies;
mod export;
mod extenders;
mod harness;
mod import;
mod interpret;
mod kubectl;
mod large_input;
#[cfg(feature = "run")]
mod live;
mod lookup;
mod man;
mod manifest;
mod new;
mod profiles;
mod provision;
#[cfg(feature = "run")]
mod record;
mod report;
mod report_pages;
#[cfg(feature = "run")]
mod run_settings;
mod schema;
#[cfg(feature = "run")]
mod serve;
mod simulate;
mod simulate_over_time;
mod simulate_rows;
mod validate;

#[cfg(feature = "wire")]
mod wire;
