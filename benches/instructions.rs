//! Instructions per node of a full evaluation, from PreFilter to the totals: the generated pipeline, loops written by
//! hand, and the interpreted profile with the same plugins behind trait objects. `cargo bench -p schedc-benches --bench instructions`
//!
//! The program runs itself under callgrind, which counts the same instructions every time. Each pass is counted on two
//! clusters. The difference of the two counts is divided by the difference of the numbers of nodes, so costs that do
//! not depend on the number of nodes cancel out. Ratios are the instructions of the generated pipeline, divided by those
//! of the other implementation.
//!
//! The loops by hand have two forms: "by hand" is split into the phases of the pipeline, "fused by hand" is not. The
//! program fails if a generated pipeline takes more than [`LIMIT`] times the instructions of the form "by hand".

#[path = "support/callgrind.rs"]
mod callgrind;
mod support;

use std::process::ExitCode;

use support::{Cluster, IMPLEMENTATIONS, Implementation, KINDS, PROFILES, assert_agreement, implementations, setup};

/// Maximum instructions of a generated pipeline relative to the loops by hand that are split into phases, for all kinds
/// of pods of a profile together.
const LIMIT: f64 = 1.02;
/// Numbers of nodes of the two clusters.
const NODES: [usize; 2] = [1_000, 3_000];

fn main() -> ExitCode {
    if callgrind::is_counted() {
        run_all_passes();
        return ExitCode::SUCCESS;
    }
    assert_agreement(200);
    if cfg!(debug_assertions) {
        println!(
            "skipped: instructions are counted in an optimised build (cargo bench -p schedc-benches --bench instructions)"
        );
        return ExitCode::SUCCESS;
    }
    if !callgrind::is_installed() {
        println!("skipped: valgrind is not installed (apt-get install valgrind)");
        return ExitCode::SUCCESS;
    }
    NODES.iter().for_each(|&nodes| assert_agreement(nodes));
    match count() {
        Ok(counts) => report(&counts),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all counted passes, in the order of [`Counts`].
fn run_all_passes() {
    for nodes in NODES {
        let (mut cluster, pods) = setup(nodes);
        for profile in PROFILES {
            for mut implementation in implementations(profile, &mut cluster, &pods) {
                for kind in 0..KINDS.len() {
                    // The first pass allocates memory for answers.
                    implementation.pass(kind, &cluster);
                    counted_pass(&mut *implementation, kind, &cluster);
                }
            }
        }
    }
}

/// Runs the part that callgrind counts.
#[inline(never)]
fn counted_pass(implementation: &mut dyn Implementation, kind: usize, cluster: &Cluster) {
    std::hint::black_box(implementation.pass(kind, cluster));
}

/// Instructions of every pass, in the order in which they ran.
struct Counts(Vec<u64>);

impl Counts {
    fn per_node(&self, profile: usize, implementation: usize, kind: usize) -> f64 {
        let pass = (profile * IMPLEMENTATIONS.len() + implementation) * KINDS.len() + kind;
        let passes = PROFILES.len() * IMPLEMENTATIONS.len() * KINDS.len();
        let [few, many] = [self.0[pass], self.0[passes + pass]];
        (many as f64 - few as f64) / (NODES[1] - NODES[0]) as f64
    }
}

fn count() -> Result<Counts, String> {
    let options = ["toggle-collect", "dump-after"].map(|option| format!("--{option}=instructions::counted_pass"));
    let dumps = callgrind::run(&options, &[])?;
    let counted = dumps.iter().filter(|dump| dump.function == "counted_pass");
    let counts: Vec<u64> = counted.map(|dump| dump.instructions).collect();
    let passes = NODES.len() * PROFILES.len() * IMPLEMENTATIONS.len() * KINDS.len();
    match counts.len() == passes {
        true => Ok(Counts(counts)),
        false => Err(format!("callgrind counted {} passes, not {passes}", counts.len())),
    }
}

fn report(counts: &Counts) -> ExitCode {
    let mut within = true;
    println!("Instructions per node\n");
    for (profile, name) in PROFILES.iter().enumerate() {
        println!("| {name:<22} | generated | by hand | ratio | fused by hand | ratio | interpreted | ratio |");
        println!(
            "|------------------------|----------:|--------:|------:|--------------:|------:|------------:|------:|"
        );
        let line = |name: &str, [generated, others @ ..]: [f64; IMPLEMENTATIONS.len()]| {
            let [by_hand, fused, interpreted] = others;
            let [over_hand, over_fused, over_interpreted] = others.map(|other| generated / other);
            println!(
                "| {name:<22} | {generated:>9.1} | {by_hand:>7.1} | {over_hand:>5.3} | {fused:>13.1} | {over_fused:>5.3} \
                 | {interpreted:>11.1} | {over_interpreted:>5.3} |"
            );
        };
        let mut sum = [0.0; IMPLEMENTATIONS.len()];
        for (kind, kind_name) in KINDS.iter().enumerate() {
            let of_kind = std::array::from_fn(|implementation| counts.per_node(profile, implementation, kind));
            sum.iter_mut().zip(of_kind).for_each(|(sum, n)| *sum += n);
            line(kind_name, of_kind);
        }
        line("all", sum.map(|n| n / KINDS.len() as f64));
        println!();
        within &= sum[0] <= LIMIT * sum[1];
    }
    if within {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "a generated pipeline needs more than {LIMIT} times the instructions of the loops in the column `by hand`"
    );
    ExitCode::FAILURE
}
