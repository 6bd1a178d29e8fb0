//! Tests of the workloads in benches/workloads.

use std::path::{Path, PathBuf};

use schedc_core::erased::AnyBundle;
use schedc_perf::config::{Config, Labels};
use schedc_perf::{Options, run};

use default_profile::Profiles;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/workloads");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|is| is == "yaml")).collect();
    files.sort();
    files
}

#[test]
fn every_workload_is_valid() {
    let files = files();
    assert!(files.len() >= 9, "{files:?}");
    for file in files {
        let config = Config::read(&file).unwrap_or_else(|error| panic!("{error}"));
        for chosen in config.workloads() {
            chosen.operations().unwrap_or_else(|error| panic!("{}: {error}", chosen.name()));
            let known = ["test", "medium", "performance", "scale"];
            assert!(chosen.labels().all(|label| known.contains(&label)), "{}", chosen.name());
        }
    }
}

#[test]
fn small_workloads_run_with_valid_placements() {
    let labels: Labels = "test".parse().unwrap();
    for file in files().into_iter().filter(|file| !file.ends_with("scale.yaml")) {
        let config = Config::read(&file).unwrap_or_else(|error| panic!("{error}"));
        let chosen = config.choose(&[], &labels).unwrap_or_else(|error| panic!("{error}"));
        for workload in chosen {
            let report = run(&AnyBundle::running::<Profiles>(), &workload, Options::default())
                .unwrap_or_else(|error| panic!("{error}"));
            assert!(report.decisions_per_s > 0.0 && report.pods_per_s > 0.0, "{report:?}");
        }
    }
}
