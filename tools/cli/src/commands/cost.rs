//! `schedc bench --cost`

use clap::Args;
use schedc_core::erased::AnyBundle;
use schedc_core::profile::ProfileInfo;
use schedc_perf::cost::{self, Costs, Exceeded};

use super::failure::Failure;
use super::output::{self, Format};
use super::tables::cost::{amount, table};

/// Arguments that select workloads; they conflict with the arguments of `--cost`.
const WORKLOAD_FLAGS: [&str; 4] = ["file", "workload", "labels", "seed"];

/// Default number of nodes that the plugins evaluate.
const DEFAULT_NODES: usize = 5000;

#[derive(Args)]
pub(crate) struct Cost {
    /// Measure the cost per node of each plugin of a profile, and the memory per node, instead of running a workload
    ///
    /// Measures all profiles, unless --profile selects one. docs/bench.md describes the method.
    #[arg(long, conflicts_with_all = WORKLOAD_FLAGS)]
    cost: bool,

    /// Number of nodes that the plugins evaluate; default: 5000, and 1000 with --wire
    #[arg(long, value_name = "NUMBER", conflicts_with_all = WORKLOAD_FLAGS)]
    nodes: Option<usize>,

    /// Measure the cost, and fail if a profile exceeds its budget; with --wire, fail if a goal is exceeded
    #[arg(long, conflicts_with_all = WORKLOAD_FLAGS)]
    check: bool,

    /// Number of decisions for the plain and for the demanding pod, for callgrind; nothing is measured
    #[arg(long, hide = true, value_name = "PLAIN,DEMANDING", value_parser = parse_decisions)]
    decisions: Option<(usize, usize)>,
}

impl Cost {
    /// Returns whether to measure cost instead of a workload.
    pub(crate) fn is_requested(&self) -> bool {
        self.cost || self.check
    }

    /// Returns the number of nodes, if it is given.
    pub(crate) fn nodes(&self) -> Option<usize> {
        self.nodes
    }

    /// Returns whether an exceeded limit is an error.
    pub(crate) fn is_check(&self) -> bool {
        self.check
    }

    pub(crate) fn run(&self, bundle: &AnyBundle, profile: Option<usize>, format: Format) -> Result<(), Failure> {
        let nodes = self.nodes.unwrap_or(DEFAULT_NODES);
        if let Some((plain, demanding)) = self.decisions {
            let decided = cost::decide(bundle, profile.unwrap_or(0), nodes, [plain, demanding]);
            return decided.map_err(Failure::from);
        }
        let profiles = match profile {
            Some(profile) => profile..profile + 1,
            None => 0..bundle.profiles.len(),
        };
        let arguments = |profile: &ProfileInfo, [plain, demanding]: [usize; 2]| {
            let (nodes, decisions) = (nodes.to_string(), format!("{plain},{demanding}"));
            let arguments =
                ["bench", "--cost", "--profile", profile.name, "--nodes", &nodes, "--decisions", &decisions];
            arguments.map(str::to_owned).to_vec()
        };
        let costs = cost::measure(bundle, profiles, nodes, &arguments)?;
        output::print(format, &costs, table)?;
        if self.check { check(&costs) } else { Ok(()) }
    }
}

fn parse_decisions(text: &str) -> Result<(usize, usize), String> {
    let numbers =
        text.split_once(',').and_then(|(plain, demanding)| Some((plain.parse().ok()?, demanding.parse().ok()?)));
    numbers.ok_or_else(|| "two numbers with a comma are necessary".to_owned())
}

/// Returns an error if a limit of a budget is exceeded or was not measured.
fn check(costs: &Costs) -> Result<(), Failure> {
    let mut problems = Vec::new();
    for profile in &costs.profiles {
        for Exceeded { limit, allowed, measured, most_expensive } in &profile.exceeded {
            let part = most_expensive.as_ref().map(|part| format!("; {part} costs most")).unwrap_or_default();
            let measured = amount(*measured);
            problems
                .push(format!("profile {}: {limit} is {measured}, its budget allows {allowed}{part}", profile.name));
        }
        for limit in &profile.unverified {
            let reason = costs.no_instructions.as_deref().unwrap_or("this program does not count allocations");
            problems.push(format!("profile {}: {limit} of its budget was not measured: {reason}", profile.name));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::new(problems.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use schedc_perf::cost::ProfileCost;

    use super::*;

    #[test]
    fn a_check_names_each_exceeded_or_unmeasured_limit() {
        let exceeded = |limit, allowed, measured, most_expensive: Option<&str>| Exceeded {
            limit,
            allowed,
            measured,
            most_expensive: most_expensive.map(str::to_owned),
        };
        let profile = ProfileCost {
            name: "edge",
            exceeded: vec![
                exceeded("instructions-per-decision", 1000, 70_000.0, Some("plugin NodeAffinity")),
                exceeded("binary-size", 10, 20.0, None),
            ],
            unverified: vec!["allocations-per-decision"],
            ..ProfileCost::default()
        };
        let check = |profiles| check(&Costs { nodes: 10, no_instructions: None, profiles });
        assert!(check(vec![ProfileCost::default()]).is_ok());
        let Err(Failure::Message(text)) = check(vec![profile]) else { panic!("limits are exceeded") };
        expect![[r#"
            profile edge: instructions-per-decision is 70000, its budget allows 1000; plugin NodeAffinity costs most
            profile edge: binary-size is 20.0, its budget allows 10
            profile edge: allocations-per-decision of its budget was not measured: this program does not count allocations"#]]
        .assert_eq(&text);
    }
}
