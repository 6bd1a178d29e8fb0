//! Instructions and nanoseconds of one decision, and of the work before and after it, while pods of one template come
//! and go. `cargo bench -p schedc-benches --bench decisions`; `-- --scenario gated --nodes 1000` selects a scenario and a cluster size.
//!
//! A decision lasts from popping a pod until the pod is assumed and reserved, as `scheduler::Observer` reports it. The
//! program runs itself under callgrind, which counts the same instructions every time.
//!
//! `-- --scenario daemon --parts` prints the instructions of the decision by function.
//!
//! `-- --limits` only checks the limits: it fails if a decision takes more than [`LIMIT`] instructions, or in a cluster
//! of [`LARGE`] nodes more than [`GROWTH`] times as many as in one of the usual size. That takes minutes, because the
//! large cluster is also created under callgrind; `-- --limits --large 100000` sets another size of the large cluster. A
//! run without `--limits` also fails if a decision takes more than [`LIMIT`] instructions.

#[path = "support/callgrind.rs"]
mod callgrind;
#[path = "decisions/churn.rs"]
mod churn;
#[path = "decisions/counted.rs"]
mod counted;
#[path = "decisions/objects.rs"]
mod objects;
#[path = "decisions/storms.rs"]
mod storms;

use std::process::ExitCode;
use std::time::Duration;

use churn::{Churn, Phase, PhaseEnd};

/// Maximum instructions of a decision in [`Scenario::LIMITED`], in a cluster of the usual size.
const LIMIT: u64 = 2_500;
/// Nodes of a large cluster.
const LARGE: usize = 1_000_000;
/// Maximum instructions in the large cluster, relative to the usual size.
const GROWTH: f64 = 1.5;
/// Number of turns whose instructions are counted. As many turns without counting come first. Storms have fewer turns.
const COUNTED: usize = 300;
/// Number of timed turns. Storms have fewer turns.
const TIMED: usize = 20_000;

/// Scenario of a measurement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scenario {
    /// Pods of one template.
    Template,
    /// Pods of one template, among pods that a PreEnqueue plugin holds.
    Gated,
    /// Pods of one template, among unschedulable pods.
    Unschedulable,
    /// Pods of a DaemonSet: each names its node.
    Daemon,
    /// Pods of one template that are spread over zones. With nearly every pod, a zone becomes feasible or infeasible.
    Spread,
    /// Pods of one template that prefer zones with fewer pods.
    PreferredSpread,
    /// Only heartbeats of nodes; no pod is decided.
    Heartbeat,
    /// 500 nodes join, then a pod is decided.
    NewNodes,
    /// The 5,000 pods of a namespace are deleted, then a pod is decided.
    DeletedPods,
    /// A changed node concerns 1,000 waiting pods with different specs, which still fit nowhere.
    WokenPods,
}

impl Scenario {
    const ALL: [Scenario; 10] = [
        Scenario::Template,
        Scenario::Gated,
        Scenario::Unschedulable,
        Scenario::Daemon,
        Scenario::Spread,
        Scenario::PreferredSpread,
        Scenario::Heartbeat,
        Scenario::NewNodes,
        Scenario::DeletedPods,
        Scenario::WokenPods,
    ];
    const LIMITED: Scenario = Scenario::Template;

    fn name(self) -> &'static str {
        match self {
            Scenario::Template => "template",
            Scenario::Gated => "gated",
            Scenario::Unschedulable => "unschedulable",
            Scenario::Daemon => "daemon",
            Scenario::Spread => "spread",
            Scenario::PreferredSpread => "preferred-spread",
            Scenario::Heartbeat => "heartbeat",
            Scenario::NewNodes => "new-nodes",
            Scenario::DeletedPods => "deleted-pods",
            Scenario::WokenPods => "woken-pods",
        }
    }
    /// Returns the number of turns whose instructions are counted. As many turns without counting come first.
    fn counted(self) -> usize {
        if self.is_storm() { 3 } else { COUNTED }
    }
    /// Returns the number of timed turns.
    fn timed(self) -> usize {
        if self.is_storm() { 20 } else { TIMED }
    }
    fn is_storm(self) -> bool {
        matches!(self, Scenario::NewNodes | Scenario::DeletedPods | Scenario::WokenPods)
    }
    fn nodes(self) -> usize {
        match self {
            Scenario::Daemon => 15_000,
            _ => 5_000,
        }
    }
    fn churn(self, nodes: usize) -> Churn {
        let template = match self {
            Scenario::Spread => objects::spread,
            Scenario::PreferredSpread => objects::preferring_zones,
            _ => objects::plain,
        };
        let mut churn = Churn::new(nodes, template, self == Scenario::Daemon);
        match self {
            Scenario::Gated => churn.crowd(10_000, objects::gated),
            Scenario::Unschedulable => churn.crowd(1_000, objects::too_large),
            Scenario::WokenPods => churn.crowd_of_distinct(1_000),
            _ => {}
        }
        churn
    }
    fn turn(self, churn: &mut Churn, phases: &mut PhaseEnd<'_>) {
        match self {
            Scenario::Heartbeat => churn.heartbeat(phases),
            Scenario::NewNodes => churn.join(500, phases),
            Scenario::DeletedPods => churn.empty_namespace(5_000, phases),
            Scenario::WokenPods => churn.wake_all(phases),
            _ => churn.turn(phases),
        }
    }
}

fn main() -> ExitCode {
    let given = |option: &str| std::env::args().skip_while(|argument| argument != option).nth(1);
    let number = |option: &str| given(option).and_then(|nodes| nodes.parse::<usize>().ok());
    let nodes = number("--nodes");
    let chosen = given("--scenario");
    let scenarios =
        || Scenario::ALL.into_iter().filter(|scenario| chosen.as_deref().is_none_or(|name| scenario.name() == name));
    if callgrind::is_counted() {
        for scenario in scenarios() {
            let mut churn = scenario.churn(nodes.unwrap_or(scenario.nodes()));
            counted::run(scenario.counted(), |phases| scenario.turn(&mut churn, phases));
        }
        return ExitCode::SUCCESS;
    }
    if cfg!(debug_assertions) {
        let mut churn = Scenario::Template.churn(100);
        (0..100).for_each(|_| Scenario::Template.turn(&mut churn, &mut |_| ()));
        println!(
            "skipped: instructions are counted in an optimised build (cargo bench -p schedc-benches --bench decisions)"
        );
        return ExitCode::SUCCESS;
    }
    if std::env::args().any(|argument| argument == "--limits") {
        return match keeps_limits(number("--large").unwrap_or(LARGE)) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    if std::env::args().any(|argument| argument == "--parts") {
        for scenario in scenarios() {
            if let Err(error) = print_parts(scenario, nodes.unwrap_or(scenario.nodes())) {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
        return ExitCode::SUCCESS;
    }
    println!("| {:<16} | {:>9} | {:<9} | {:>12} | {:>8} |", "scenario", "nodes", "phase", "instructions", "ns");
    println!("|------------------|----------:|-----------|-------------:|---------:|");
    let mut within = true;
    for scenario in scenarios() {
        let nodes = nodes.unwrap_or(scenario.nodes());
        let mut churn = scenario.churn(nodes);
        let times = time(&mut churn, scenario);
        drop(churn);
        let counts = match counted::count(scenario.name(), nodes) {
            Ok(counts) => counts,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        };
        for phase in Phase::ALL {
            let time = times[phase as usize];
            if time.is_zero() {
                continue;
            }
            let instructions = counts.map(|counts| counts[phase as usize] / scenario.counted() as u64);
            let written = instructions.map_or("not counted".into(), |count| count.to_string());
            let (scenario_name, phase_name) = (scenario.name(), phase.name());
            println!(
                "| {scenario_name:<16} | {nodes:>9} | {phase_name:<9} | {written:>12} | {:>8} |",
                time.as_nanos() / scenario.timed() as u128
            );
            let is_usual = nodes <= Scenario::LIMITED.nodes();
            let is_limited = scenario == Scenario::LIMITED && phase == Phase::Decision && is_usual;
            within &= !is_limited || instructions.is_none_or(|count| count <= LIMIT);
        }
    }
    if within {
        return ExitCode::SUCCESS;
    }
    eprintln!("a decision needs more than {LIMIT} instructions");
    ExitCode::FAILURE
}

/// Prints the instructions of a decision by function. Omits functions with less than a hundredth of all instructions.
fn print_parts(scenario: Scenario, nodes: usize) -> Result<(), String> {
    let by_function = counted::count_by_function(scenario.name(), nodes)?;
    let all: u64 = by_function.iter().map(|(_, instructions)| instructions).sum();
    println!("{} with {nodes} nodes: {} instructions", scenario.name(), all / scenario.counted() as u64);
    for (function, instructions) in by_function.iter().filter(|(_, instructions)| instructions * 100 >= all) {
        println!("{:>8}  {function}", instructions / scenario.counted() as u64);
    }
    Ok(())
}

/// Returns whether a decision is within its limits, in a cluster of the usual size and in one with `large` nodes.
fn keeps_limits(large: usize) -> Result<bool, String> {
    let instructions = |nodes: usize| -> Result<Option<u64>, String> {
        let counts = counted::count(Scenario::LIMITED.name(), nodes)?;
        let count = counts.map(|counts| counts[Phase::Decision as usize] / COUNTED as u64);
        if let Some(count) = count {
            println!("a decision in a cluster of {nodes} nodes: {count} instructions");
        }
        Ok(count)
    };
    let Some(usual) = instructions(Scenario::LIMITED.nodes())? else {
        println!("skipped: valgrind is not installed");
        return Ok(true);
    };
    if usual > LIMIT {
        eprintln!("a decision needs more than {LIMIT} instructions");
        return Ok(false);
    }
    let within = instructions(large)?.is_none_or(|count| count as f64 <= GROWTH * usual as f64);
    if !within {
        eprintln!(
            "a decision in a large cluster needs more than {GROWTH} times the instructions of one in a usual cluster"
        );
    }
    Ok(within)
}

/// Returns the time of each phase over all timed turns.
fn time(churn: &mut Churn, scenario: Scenario) -> [Duration; Phase::ALL.len()] {
    let mut times = [Duration::ZERO; Phase::ALL.len()];
    let turns = scenario.timed();
    for _ in 0..turns / 4 {
        scenario.turn(churn, &mut |_| ());
    }
    for _ in 0..turns {
        let mut since = std::time::Instant::now();
        scenario.turn(churn, &mut |phase| {
            times[phase as usize] += since.elapsed();
            since = std::time::Instant::now();
        });
    }
    times
}
