//! Instructions per node of a pipeline with an external filter, and of one with an equivalent filter in the style of
//! `schedc-plugins`. `cargo bench -p schedc-benches --bench inlining`
//!
//! There are two external filters. `schedc new` writes one, which is in the crate of the pipeline; the other is in a
//! separate crate, [`out_of_tree`]. Everything from PreFilter to the choice is counted, as in benches/instructions.rs,
//! in a profile with only the filter. The benchmark fails if an external filter takes more than [`LIMIT`] times the
//! instructions of the equivalent one, or if its kernel is not inlined. A kernel marked against inlining shows that the
//! check works.

#[path = "support/callgrind.rs"]
mod callgrind;
#[path = "inlining/in_full.rs"]
#[allow(unreachable_pub, reason = "plugins are public, but these are in no library")]
mod in_full;
#[path = "../tools/cli/src/commands/new/template/simple/kept_nodes.rs"]
#[allow(unreachable_pub, reason = "plugins are public, but these are in no library")]
mod kept_nodes;

extern crate self as inlining;

use std::process::ExitCode;

use schedc_core::cache::Cache;
use schedc_core::evaluation::Evaluation;
use schedc_core::handle::Handle;
use schedc_core::intern::Interner;
use schedc_core::model::{Node, NodeIndex, PodSpec, labels};
use schedc_core::profile::{PreFilterRun, Profile};

mod pipelines {
    schedc_macros::profile!(
        "inlining/kept-nodes.toml",
        "inlining/kept-nodes-in-full.toml",
        "inlining/kept-nodes-called.toml",
        "inlining/maintenance.toml",
        "inlining/maintenance-in-full.toml",
    );
}

/// Maximum instructions of an external filter relative to the equivalent one.
const LIMIT: f64 = 1.02;
/// Numbers of nodes of the two clusters.
const NODES: [usize; 2] = [1_000, 3_000];

/// Evaluates a cluster of this many nodes, and returns the feasible ones.
type Pass = fn(usize) -> Vec<NodeIndex>;

/// Pipelines: each external filter, followed by the equivalent one; last, the kernel without inlining.
const PASSES: [Pass; 5] = [
    pass::<pipelines::kept_nodes::Pipeline>,
    pass::<pipelines::kept_nodes_in_full::Pipeline>,
    pass::<pipelines::maintenance::Pipeline>,
    pass::<pipelines::maintenance_in_full::Pipeline>,
    pass::<pipelines::kept_nodes_called::Pipeline>,
];

/// External filters, in the order of their pairs in [`PASSES`].
const EXTERNAL: [&str; 2] = ["KeptNodes, of `schedc new`", "Maintenance, of another crate"];

fn main() -> ExitCode {
    if callgrind::is_counted() {
        for nodes in NODES {
            PASSES.iter().for_each(|pass| drop(pass(nodes)));
        }
        return ExitCode::SUCCESS;
    }
    assert_agreement();
    if cfg!(debug_assertions) {
        println!(
            "skipped: instructions are counted in an optimised build (cargo bench -p schedc-benches --bench inlining)"
        );
        return ExitCode::SUCCESS;
    }
    if !callgrind::is_installed() {
        println!("skipped: valgrind is not installed (apt-get install valgrind)");
        return ExitCode::SUCCESS;
    }
    match count().and_then(|counts| report(&counts)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn assert_agreement() {
    let [kept, kept_in_full, maintenance, maintenance_in_full, called] = PASSES.map(|pass| pass(200));
    assert!((1..200).contains(&kept.len()) && (1..200).contains(&maintenance.len()), "some nodes are feasible");
    assert!(
        kept == kept_in_full && kept == called && maintenance == maintenance_in_full,
        "equivalent filters disagree"
    );
}

fn pass<P: Profile>(nodes: usize) -> Vec<NodeIndex> {
    let plugins = P::new(&Handle::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut cluster = Cache::<P::State>::default();
    for number in 0..nodes {
        let node = node(number, &mut cluster.base.interner);
        cluster.set_node(node);
    }
    let spec = PodSpec { namespace: cluster.base.interner.intern("default"), ..PodSpec::default() };
    let pod = plugins.compile(&spec, &mut cluster.base.interner, &mut cluster.state);
    let mut answer = Evaluation::<P>::default();
    let mut pass = || {
        let cycle = plugins.pre_filter(&pod, &cluster, &mut PreFilterRun::default());
        let cycle = cycle.expect("no plugin rejects the pod");
        answer.evaluate(&plugins, &pod, &cycle, &cluster).expect("no plugin fails");
    };
    // The first pass allocates the memory of `answer`.
    pass();
    counted_pass(&mut pass);
    answer.feasible.iter().collect()
}

/// Runs the part that callgrind counts.
#[inline(never)]
fn counted_pass(pass: &mut dyn FnMut()) {
    pass();
}

/// Returns a node. Some are reserved, half of these for the pod's namespace, and some are under maintenance.
fn node(number: usize, interner: &mut Interner) -> Node {
    let name = format!("node-{number}");
    let mut pairs = vec![
        ("kubernetes.io/hostname", &*name),
        ("kubernetes.io/arch", "amd64"),
        ("topology.kubernetes.io/zone", ["a", "b", "c"][number % 3]),
    ];
    match number % 4 {
        1 => pairs.push(("example.com/kept-for", "research")),
        2 => pairs.push(("example.com/kept-for", "default")),
        _ => {}
    }
    if number.is_multiple_of(5) {
        pairs.push(("example.com/maintenance", "true"));
    }
    Node { name: interner.intern(&name), labels: labels(pairs, interner), ..Node::default() }
}

/// Counts of a pipeline.
struct Count {
    per_node: f64,
    /// Whether its filter was called as a function.
    is_called: bool,
}

fn count() -> Result<Vec<Count>, String> {
    const OPTIONS: [&str; 3] =
        ["--toggle-collect=inlining::counted_pass", "--dump-after=inlining::counted_pass", "--compress-strings=no"];
    let dumps = callgrind::run(&OPTIONS.map(str::to_owned), &[])?;
    let dumps: Vec<_> = dumps.into_iter().filter(|dump| dump.function == "counted_pass").collect();
    if dumps.len() != NODES.len() * PASSES.len() {
        return Err(format!("callgrind counted {} passes, not {}", dumps.len(), NODES.len() * PASSES.len()));
    }
    let (few, many) = dumps.split_at(PASSES.len());
    let is_kernel =
        |function: &String| function.contains("SimpleFilter>::filter") || function.contains("FilterPlugin>::filter");
    let counts = few.iter().zip(many).map(|(few, many)| Count {
        per_node: (many.instructions as f64 - few.instructions as f64) / (NODES[1] - NODES[0]) as f64,
        is_called: many.ran.iter().any(is_kernel),
    });
    Ok(counts.collect())
}

fn report(counts: &[Count]) -> Result<(), String> {
    println!("Instructions per node\n");
    println!("| filter                        |     external | in full | ratio | kernel  |");
    println!("|-------------------------------|-------------:|--------:|------:|---------|");
    let line = |name: &str, external: &Count, equivalent: &Count| {
        let kernel = if external.is_called { "called" } else { "inlined" };
        let (per_node, in_full) = (external.per_node, equivalent.per_node);
        println!("| {name:<29} | {per_node:>12.1} | {in_full:>7.1} | {:>5.3} | {kernel:<7} |", per_node / in_full);
    };
    let mut wrong = Vec::new();
    for (name, pair) in EXTERNAL.iter().zip(counts.chunks_exact(2)) {
        line(name, &pair[0], &pair[1]);
        if pair[0].per_node > LIMIT * pair[1].per_node {
            wrong.push(format!("{name}: more than {LIMIT} times the instructions of the equivalent filter"));
        }
        if pair.iter().any(|count| count.is_called) {
            wrong.push(format!("{name}: the kernel is not inlined"));
        }
    }
    let called = &counts[PASSES.len() - 1];
    line("KeptNodes, not to be inlined", called, &counts[1]);
    if !called.is_called {
        wrong.push("the check does not detect a kernel that is called".to_owned());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
