//! Measures decisions from cached answers, with a compiled and with an interpreted profile. The pods have one template; each is added to its
//! node before the next decision, which therefore updates the cached answer. Both profiles are `profiles/default.toml`, with all nodes evaluated.
//!
//! `cargo bench -p schedc-api --bench cached_answers` measures 20,000 pods on 5,000 nodes; the environment variables NODES and PODS set
//! other numbers. The benchmark fails if interpreted decisions take more than three times as long as compiled ones.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schedc_codegen::Options;
use schedc_core::engine::{Decision, Engine};
use schedc_core::handle::Handle;
use schedc_core::model::{Pod, Uid};
use schedc_core::profile::Profile;
use schedc_core::snapshot::Snapshot;
use schedc_interpret::Interpretation;
use schedc_objects::{Manifests, convert_node, convert_pod};

/// Maximum time of an interpreted decision, as a multiple of the time of a compiled one.
const LIMIT: f64 = 3.0;

fn setting(name: &str, default: usize) -> Result<usize, Box<dyn Error>> {
    env::var(name).map_or(Ok(default), |text| Ok(text.parse()?))
}

fn manifests(nodes: usize) -> Result<Manifests, Box<dyn Error>> {
    let node = |at| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{at}","labels":{{"kubernetes.io/hostname":"node-{at}","topology.kubernetes.io/zone":"zone-{}"}}}},"status":{{"allocatable":{{"cpu":"64","memory":"256Gi","pods":"110"}}}}}}
"#,
            at % 3
        )
    };
    let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}]}}"#;
    Ok(Manifests::parse("objects", &((0..nodes).map(node).collect::<String>() + pod))?)
}

/// Returns the time of the decisions, and the nodes that were chosen.
fn measure<P: Profile>(mut engine: Engine<P>, manifests: &Manifests, pods: usize) -> (Duration, Vec<usize>) {
    engine.percentage_of_nodes_to_score = 100;
    let mut snapshot = Snapshot::from_engine(engine);
    for node in &manifests.nodes {
        let node = convert_node(&node.object, snapshot.interner());
        snapshot.set_node(node);
    }
    let template = convert_pod(&manifests.pods[0].object, snapshot.interner());
    let pods: Vec<Arc<Pod>> =
        (0..=pods).map(|at| Arc::new(Pod { uid: Uid(format!("uid-{at}").into()), ..template.clone() })).collect();
    let mut chosen = Vec::with_capacity(pods.len());
    let mut took = Duration::ZERO;
    for (at, pod) in pods.iter().enumerate() {
        let begin = Instant::now();
        let decision = snapshot.decide(pod, |nodes| at % nodes);
        // The first decision creates the cached answer.
        took += if at == 0 { Duration::ZERO } else { begin.elapsed() };
        let Decision::Node(node) = decision else { panic!("no node was chosen: {decision:?}") };
        let name = snapshot.cluster().base.name(node).to_owned();
        let name = snapshot.interner().intern(&name);
        snapshot.add_pod(pod.clone(), name);
        chosen.push(node.get());
    }
    (took, chosen)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (nodes, pods) = (setting("NODES", 5_000)?, setting("PODS", 20_000)?);
    let manifests = manifests(nodes)?;
    let handle = Handle::default();
    let compiled = Engine::<default_profile::default::Pipeline>::new(&handle).map_err(|error| error.to_string())?;
    let (compiled, expected) = measure(compiled, &manifests, pods);
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles/default.toml"));
    let interpretation = Interpretation::load(&[file], &Options { manifest_dir: PathBuf::from(".") })
        .map_err(|error| error.to_string())?;
    let interpreted = interpretation.engine(0, &handle).map_err(|error| error.to_string())?;
    let (interpreted, chosen) = measure(interpreted, &manifests, pods);
    assert_eq!(chosen, expected, "both choose the same nodes");
    let micros = |took: Duration| took.as_secs_f64() * 1e6 / pods as f64;
    println!("{nodes} nodes: compiled {:.2} µs, interpreted {:.2} µs", micros(compiled), micros(interpreted));
    let ratio = interpreted.as_secs_f64() / compiled.as_secs_f64();
    println!("ratio {ratio:.2}");
    if ratio <= LIMIT { Ok(()) } else { Err(format!("the ratio is above {LIMIT}").into()) }
}
