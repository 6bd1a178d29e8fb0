//! Instructions per node of a pipeline whose filter is from outside, and of one whose filter does the same work and is
//! written as schedc's own are. `cargo bench --bench inlining`
//!
//! The filters from outside are the one that `schedc new` writes, in the crate of the pipeline as it is there, and that of
//! [`out_of_tree`], a crate of its own. Everything from PreFilter to the draw is counted, in a profile that has nothing but the
//! filter, as benches/instructions.rs does it. It fails if one from outside takes more than [`LIMIT`] times the instructions of its
//! twin, or if its kernel is called where it should be inlined. A kernel that is kept from being inlined shows that this would be
//! seen.

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
        "benches/inlining/kept-nodes.toml",
        "benches/inlining/kept-nodes-in-full.toml",
        "benches/inlining/kept-nodes-called.toml",
        "benches/inlining/maintenance.toml",
        "benches/inlining/maintenance-in-full.toml",
    );
}

/// One from outside over its twin.
const LIMIT: f64 = 1.02;
const NODES: [usize; 2] = [1_000, 3_000];

/// Looks at all nodes of a cluster of so many, and returns those that the pod can run on.
type Pass = fn(usize) -> Vec<NodeIndex>;

/// The pipelines, each from outside with its twin after it; the one that is kept from being inlined comes last.
const PASSES: [Pass; 5] = [
    pass::<pipelines::kept_nodes::Pipeline>,
    pass::<pipelines::kept_nodes_in_full::Pipeline>,
    pass::<pipelines::maintenance::Pipeline>,
    pass::<pipelines::maintenance_in_full::Pipeline>,
    pass::<pipelines::kept_nodes_called::Pipeline>,
];

/// Filters from outside, in that order.
const OUTSIDE: [&str; 2] = ["KeptNodes, of `schedc new`", "Maintenance, of another crate"];

fn main() -> ExitCode {
    if callgrind::is_counted() {
        for nodes in NODES {
            PASSES.iter().for_each(|pass| drop(pass(nodes)));
        }
        return ExitCode::SUCCESS;
    }
    assert_agreement();
    if cfg!(debug_assertions) {
        println!("skipped: instructions are counted in an optimised build (cargo bench --bench inlining)");
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
    assert!(kept == kept_in_full && kept == called && maintenance == maintenance_in_full, "twins disagree");
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
    // The first pass makes room for answers.
    pass();
    counted_pass(&mut pass);
    answer.feasible.iter().collect()
}

/// Callgrind counts while this runs.
#[inline(never)]
fn counted_pass(pass: &mut dyn FnMut()) {
    pass();
}

/// A node. Some are kept, half of these for the pod's namespace, and some are being repaired.
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

/// What was counted of a pipeline.
struct Count {
    per_node: f64,
    /// Whether its filter was a function of its own.
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
    println!("| filter                        | from outside | in full | ratio | kernel  |");
    println!("|-------------------------------|-------------:|--------:|------:|---------|");
    let line = |name: &str, of: &Count, twin: &Count| {
        let (ratio, kernel) = (of.per_node / twin.per_node, if of.is_called { "called" } else { "inlined" });
        println!("| {name:<29} | {:>12.1} | {:>7.1} | {ratio:>5.3} | {kernel:<7} |", of.per_node, twin.per_node);
    };
    let mut wrong = Vec::new();
    for (name, pair) in OUTSIDE.iter().zip(counts.chunks_exact(2)) {
        line(name, &pair[0], &pair[1]);
        if pair[0].per_node > LIMIT * pair[1].per_node {
            wrong.push(format!("{name}: more than {LIMIT} times the instructions of a filter of schedc's own"));
        }
        if pair.iter().any(|count| count.is_called) {
            wrong.push(format!("{name}: the kernel is called and not inlined"));
        }
    }
    let called = &counts[PASSES.len() - 1];
    line("KeptNodes, not to be inlined", called, &counts[1]);
    if !called.is_called {
        wrong.push("a kernel that is called is not seen".to_owned());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
