//! Measures checks, decisions and forks on 5,000 nodes with 25,000 pods, for an interpreted and a compiled profile.
//!
//! `cargo bench -p schedc-api`

use std::error::Error;
use std::fmt::Write;
use std::thread;
use std::time::{Duration, Instant};

use schedc_api::{Cluster, Defaults, Profiles};

const NODES: usize = 5_000;
const CHECKS: usize = 1_000_000;
const FORKS: usize = 1_000;
const DECISIONS: usize = 20;
const THREADS: usize = 10;

/// Returns nodes with five pods each, and a pod that waits.
fn objects() -> Result<String, std::fmt::Error> {
    let mut objects = String::new();
    for node in 0..NODES {
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

fn pod_on(name: &str, node: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{{node}"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"500m","memory":"1Gi"}}}}}}]}}}}"#
    )
}

/// Returns the duration of some work.
fn measured<R>(work: impl FnOnce() -> Result<R, schedc_api::Error>) -> Result<(R, Duration), schedc_api::Error> {
    let begin = Instant::now();
    let result = work()?;
    Ok((result, begin.elapsed()))
}

fn report(what: &str, count: usize, took: Duration) {
    println!(
        "{what:<48} {count:>9}  {:>9.3} s  {:>10.2} µs each",
        took.as_secs_f64(),
        took.as_secs_f64() * 1e6 / count as f64
    );
}

/// Checks the waiting pod on all nodes, one call for each.
fn checks(cluster: &mut Cluster, nodes: &[String], count: usize) -> Result<usize, schedc_api::Error> {
    let mut fits = 0;
    for node in nodes.iter().cycle().take(count) {
        fits += usize::from(cluster.check("waiting", node)?.code == "Success");
    }
    Ok(fits)
}

fn measure(name: &str, objects: &str, mut cluster: Cluster) -> Result<(), Box<dyn Error>> {
    println!("{name}");
    let (_, took) = measured(|| cluster.apply(objects, Defaults::AsGiven))?;
    report("objects are added", NODES * 6 + 1, took);
    let nodes = cluster.nodes();
    let (fits, took) = measured(|| checks(&mut cluster, &nodes, CHECKS))?;
    report("checks, one per call", CHECKS, took);
    let (batched, took) = measured(|| {
        let mut fits = 0;
        for _ in 0..CHECKS / NODES {
            let answers = cluster.check_nodes("waiting", &nodes)?;
            fits += answers.iter().filter(|answer| answer.code == "Success").count();
        }
        Ok(fits)
    })?;
    report("checks, 5,000 per call", CHECKS, took);
    assert_eq!((fits, batched), (CHECKS, CHECKS), "the pod fits on every node");
    let (_, took) = measured(|| {
        for node in nodes.iter().take(FORKS) {
            cluster.fork();
            cluster.schedule("waiting", node)?;
            cluster.revert();
        }
        Ok(())
    })?;
    report("fork, schedule and revert", FORKS, took);
    let (_, took) = measured(|| (0..DECISIONS).try_for_each(|_| cluster.decide("waiting").map(drop)))?;
    report("decisions with all verdicts and scores", DECISIONS, took);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let objects = objects()?;
    let profiles = Profiles::parse(&[("default.toml", "")])?;
    measure("interpreted profile", &objects, Cluster::new(&profiles, "default")?)?;
    measure("compiled profile", &objects, Cluster::compiled::<default_profile::default::Pipeline>()?)?;

    let clusters = (0..THREADS).map(|_| {
        let mut cluster = Cluster::new(&profiles, "default")?;
        cluster.apply(&objects, Defaults::AsGiven)?;
        Ok(cluster)
    });
    let clusters = clusters.collect::<Result<Vec<_>, schedc_api::Error>>()?;
    let begin = Instant::now();
    thread::scope(|scope| {
        let threads = clusters.into_iter().map(|mut cluster| {
            scope.spawn(move || {
                let nodes = cluster.nodes();
                checks(&mut cluster, &nodes, CHECKS / THREADS)
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a check does not panic").map(drop))
    })?;
    println!("ten threads, interpreted");
    report("checks, one per call, ten clusters", CHECKS, begin.elapsed());
    Ok(())
}
