//! Instructions per node of a full pass, from PreFilter to the totals: the generated pipeline, loops written by hand,
//! and the same plugins behind trait objects. `cargo bench --bench instructions`
//!
//! The program runs itself under callgrind, which counts the same instructions every time. What does not depend on the
//! number of nodes drops out: each pass is counted on two clusters, and the difference divided by that of their nodes.
//! It fails if a generated pipeline needs more than [`LIMIT`] times the instructions of the loops written by hand that
//! have the same phases. Ratios are of generated over the other.

mod support;

use std::process::{Command, ExitCode};

use support::{Cluster, KINDS, PROFILES, WAYS, Way, assert_agreement, setup, ways};

/// Generated over by hand, for all kinds of pods of a profile together.
const LIMIT: f64 = 1.02;
const NODES: [usize; 2] = [1_000, 3_000];
/// Set for the program that is counted.
const COUNTED: &str = "SCHEDC_INSTRUCTIONS_COUNTED";

fn main() -> ExitCode {
    if std::env::var_os(COUNTED).is_some() {
        run_all_passes();
        return ExitCode::SUCCESS;
    }
    assert_agreement(200);
    if cfg!(debug_assertions) {
        println!("skipped: instructions are counted in an optimised build (cargo bench --bench instructions)");
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
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

/// The passes that are counted, in the order of [`Counts`].
fn run_all_passes() {
    for nodes in NODES {
        let (mut cluster, pods) = setup(nodes);
        for profile in PROFILES {
            for mut way in ways(profile, &mut cluster, &pods) {
                for kind in 0..KINDS.len() {
                    // The first pass makes room for answers.
                    way.pass(kind, &cluster);
                    counted_pass(&mut *way, kind, &cluster);
                }
            }
        }
    }
}

/// Callgrind counts while this runs.
#[inline(never)]
fn counted_pass(way: &mut dyn Way, kind: usize, cluster: &Cluster) {
    std::hint::black_box(way.pass(kind, cluster));
}

/// Instructions of every pass, in the order in which they ran.
struct Counts(Vec<u64>);

impl Counts {
    fn per_node(&self, profile: usize, way: usize, kind: usize) -> f64 {
        let pass = (profile * WAYS.len() + way) * KINDS.len() + kind;
        let passes = PROFILES.len() * WAYS.len() * KINDS.len();
        let [few, many] = [self.0[pass], self.0[passes + pass]];
        (many as f64 - few as f64) / (NODES[1] - NODES[0]) as f64
    }
}

fn count() -> Result<Counts, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let folder = std::env::temp_dir().join(format!("schedc-instructions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = folder.join("callgrind.out");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=instructions::counted_pass"])
        .arg("--dump-after=instructions::counted_pass")
        .args(["--combine-dumps=yes", "--dump-instr=no", "--dump-line=no"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .env(COUNTED, "1")
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}"))?;
    let dumps = std::fs::read_to_string(&file);
    if std::env::var_os("SCHEDC_KEEP_CALLGRIND").is_none() {
        // What is left behind is in the temporary folder.
        let _ = std::fs::remove_dir_all(&folder);
    }
    if !output.status.success() {
        return Err(format!("valgrind failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let dumps = dumps.map_err(|error| format!("{}: {error}", file.display()))?;
    let totals = dumps.lines().filter_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
    let counts: Vec<u64> = totals.filter(|&total| total > 0).collect();
    let passes = NODES.len() * PROFILES.len() * WAYS.len() * KINDS.len();
    match counts.len() == passes {
        true => Ok(Counts(counts)),
        false => Err(format!("callgrind counted {} passes, not {passes}", counts.len())),
    }
}

fn report(counts: &Counts) -> ExitCode {
    let mut within = true;
    println!("Instructions per node\n");
    for (profile, name) in PROFILES.iter().enumerate() {
        println!("| {name:<22} | generated | by hand | ratio | fused by hand | ratio | trait objects | ratio |");
        println!(
            "|------------------------|----------:|--------:|------:|--------------:|------:|--------------:|------:|"
        );
        let line = |name: &str, [generated, others @ ..]: [f64; WAYS.len()]| {
            let [by_hand, fused, objects] = others;
            let [over_hand, over_fused, over_objects] = others.map(|other| generated / other);
            println!(
                "| {name:<22} | {generated:>9.1} | {by_hand:>7.1} | {over_hand:>5.3} | {fused:>13.1} | {over_fused:>5.3} \
                 | {objects:>13.1} | {over_objects:>5.3} |"
            );
        };
        let mut sum = [0.0; WAYS.len()];
        for (kind, kind_name) in KINDS.iter().enumerate() {
            let of_kind = std::array::from_fn(|way| counts.per_node(profile, way, kind));
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
        "a generated pipeline needs more than {LIMIT} times the instructions of the loops written by hand with the same phases"
    );
    ExitCode::FAILURE
}
