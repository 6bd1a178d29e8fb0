//! Measures checks, forks and decisions, for an interpreted and a compiled profile. Prints a line for each operation: the profile, the
//! operation, and the microseconds that it takes once.
//!
//! `cargo bench -p schedc-api` has 5,000 nodes with 25,000 pods. `benches/workloads/libraries.sh` describes the settings.

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::thread;
use std::time::{Duration, Instant};

use schedc_api::{Cluster, Defaults, Profiles};

/// Sizes of a measurement.
struct Settings {
    nodes: usize,
    checks: usize,
    forks: usize,
    decisions: usize,
    threads: usize,
}

impl Settings {
    fn read() -> Result<Self, Box<dyn Error>> {
        let setting = |name: &str, default: usize| match env::var(name) {
            Ok(text) => text.parse().map_err(|error| format!("{name}: {error}")),
            Err(_) => Ok(default),
        };
        Ok(Settings {
            nodes: setting("NODES", 5_000)?,
            checks: setting("CHECKS", 1_000_000)?,
            forks: setting("FORKS", 10_000)?,
            decisions: setting("DECISIONS", 100)?,
            threads: setting("THREADS", 10)?,
        })
    }
}

/// Returns nodes with five pods each, and a pod that waits.
fn objects(nodes: usize) -> Result<String, std::fmt::Error> {
    let mut objects = String::new();
    for node in 0..nodes {
        let zone = node % 3;
        writeln!(
            objects,
            r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{node}","labels":{{"topology.kubernetes.io/zone":"zone-{zone}"}}}},"status":{{"allocatable":{{"cpu":"4","memory":"16Gi","pods":"110"}}}}}}"#
        )?;
        for pod in 0..5 {
            writeln!(objects, "{}", pod_on(&format!("pod-{node}-{pod}"), &format!(r#""nodeName":"node-{node}","#)))?;
        }
    }
    writeln!(objects, "{}", pod_on("waiting", ""))?;
    Ok(objects)
}

/// Returns a pod. `node` is its field `nodeName` with a comma after it, or empty.
fn pod_on(name: &str, node: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{{node}"containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"500m","memory":"1Gi"}}}}}}]}}}}"#
    )
}

/// Prints the time of one operation.
fn report(profile: &str, operation: &str, count: usize, took: Duration) {
    println!("{profile}\t{operation}\t{:.3}", took.as_secs_f64() * 1e6 / count as f64);
}

/// Checks the waiting pod on all nodes in turn, one call for each.
fn checks(cluster: &mut Cluster, nodes: &[String], count: usize) -> Result<(), schedc_api::Error> {
    for node in nodes.iter().cycle().take(count) {
        assert_eq!(cluster.check("waiting", node)?.code, "Success", "the pod fits on every node");
    }
    Ok(())
}

fn measure(
    name: &str,
    objects: &str,
    settings: &Settings,
    new_cluster: impl Fn() -> Result<Cluster, schedc_api::Error>,
) -> Result<(), schedc_api::Error> {
    let new_cluster = || {
        let mut cluster = new_cluster()?;
        cluster.apply(objects, Defaults::AsGiven)?;
        Ok(cluster)
    };
    let mut cluster = new_cluster()?;
    let nodes = cluster.nodes();

    let begin = Instant::now();
    checks(&mut cluster, &nodes, settings.checks)?;
    report(name, "check", settings.checks, begin.elapsed());

    let (begin, calls) = (Instant::now(), settings.checks / nodes.len());
    for _ in 0..calls {
        cluster.check_nodes("waiting", &nodes)?;
    }
    report(name, "check-nodes", calls * nodes.len(), begin.elapsed());

    let begin = Instant::now();
    for node in nodes.iter().cycle().take(settings.forks) {
        cluster.fork();
        cluster.schedule("waiting", node)?;
        cluster.revert();
    }
    report(name, "fork", settings.forks, begin.elapsed());

    let begin = Instant::now();
    for _ in 0..settings.decisions {
        cluster.decide("waiting")?;
    }
    report(name, "decide", settings.decisions, begin.elapsed());

    let clusters = (0..settings.threads).map(|_| new_cluster()).collect::<Result<Vec<_>, schedc_api::Error>>()?;
    let begin = Instant::now();
    thread::scope(|scope| {
        let nodes = &nodes;
        let check = |mut cluster| {
            move || -> Result<(), schedc_api::Error> { checks(&mut cluster, nodes, settings.checks / settings.threads) }
        };
        let threads: Vec<_> = clusters.into_iter().map(|cluster| scope.spawn(check(cluster))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a check does not panic"))
    })?;
    report(name, "threads", settings.checks, begin.elapsed());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings::read()?;
    let objects = objects(settings.nodes)?;
    if let Some(path) = env::var_os("OBJECTS") {
        std::fs::write(path, &objects)?;
    }
    let profiles = Profiles::parse(&[("default.toml", "")])?;
    measure("Rust, compiled profile", &objects, &settings, Cluster::compiled::<default_profile::default::Pipeline>)?;
    measure("Rust, interpreted profile", &objects, &settings, || Cluster::new(&profiles, "default"))?;
    Ok(())
}
