//! `schedc bench --cost`

use clap::Args;
use schedc_core::erased::AnyBundle;
use schedc_perf::cost;

use super::failure::Failure;
use super::output::{self, Format};
use super::tables::cost::{amount, table};

/// Arguments that select a workload. The flags here list them, because `requires` is not checked where they
/// are given.
const WORKLOAD_FLAGS: [&str; 4] = ["file", "workload", "labels", "seed"];

#[derive(Args)]
pub(crate) struct Cost {
    /// Measure the cost of each plugin of a profile per node, and memory per node, instead of a workload
    ///
    /// All profiles, unless --profile selects one. docs/bench.md describes the method.
    #[arg(long, conflicts_with_all = WORKLOAD_FLAGS)]
    cost: bool,

    /// Number of nodes that the plugins evaluate
    #[arg(long, value_name = "NUMBER", default_value_t = 5000, requires = "cost", conflicts_with_all = WORKLOAD_FLAGS)]
    nodes: usize,

    /// Fail if a profile exceeds its budget
    #[arg(long, requires = "cost", conflicts_with_all = WORKLOAD_FLAGS)]
    check: bool,
}

impl Cost {
    /// Returns whether to measure cost instead of a workload.
    pub(crate) fn is_requested(&self) -> bool {
        self.cost
    }

    pub(crate) fn run(&self, bundle: &AnyBundle, profile: Option<usize>, format: Format) -> Result<(), Failure> {
        let profiles = match profile {
            Some(profile) => profile..profile + 1,
            None => 0..bundle.profiles.len(),
        };
        let costs = cost::measure(bundle, profiles, self.nodes)?;
        output::print(format, &costs, table)?;
        if !self.check {
            return Ok(());
        }
        let exceeded =
            costs.profiles.iter().flat_map(|profile| profile.exceeded.iter().map(move |e| (profile.name, e)));
        let exceeded: Vec<String> = exceeded
            .map(|(profile, exceeded)| {
                let measured = amount(exceeded.measured);
                format!("profile {profile}: {} is {measured}, its budget allows {}", exceeded.limit, exceeded.allowed)
            })
            .collect();
        if exceeded.is_empty() { Ok(()) } else { Err(Failure::new(exceeded.join("\n"))) }
    }
}
