//! Files of a workload, and its result.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use schedc_core::erased::AnyBundle;
use schedc_perf::config::{Config, Labels};
use schedc_perf::{Error, Options, Report, run};

use default_profile::Profiles;

/// Runs the workload `case/small` with these operations and parameters. `templates` has the names and texts of the
/// template files.
pub(crate) fn run_workload(operations: &str, params: &str, templates: &[(&str, &str)]) -> Result<Report, Error> {
    let operations = operations.trim_end().replace('\n', "\n  ");
    let file = format!(
        "- name: case\n  workloadTemplate:{operations}\n  workloads:\n  - {{name: small, params: {{{params}}}}}\n"
    );
    run_file(&file, templates)
}

/// Runs the only workload of a file.
pub(crate) fn run_file(file: &str, templates: &[(&str, &str)]) -> Result<Report, Error> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("perf-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("w.yaml"), file).unwrap();
    for (name, text) in templates {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let report = Config::read(&folder.join("w.yaml")).and_then(|config| {
        let chosen = config.choose(&[], &Labels::default())?;
        run(&AnyBundle::running::<Profiles>(), &chosen[0], Options::default())
    });
    std::fs::remove_dir_all(&folder).unwrap();
    // Errors contain the path of the temporary folder, which differs in each run.
    let folder = format!("{}/", folder.display());
    report.map_err(|error| Error::from(error.to_string().replace(&folder, "")))
}

/// Runs a workload that succeeds.
#[track_caller]
pub(crate) fn run_successfully(operations: &str, params: &str, templates: &[(&str, &str)]) -> Report {
    run_workload(operations, params, templates).unwrap_or_else(|error| panic!("{error}"))
}
