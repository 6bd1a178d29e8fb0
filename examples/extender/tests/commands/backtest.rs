//! `backtest` measures the influence of extenders.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::process::gpu_sharing;
use crate::webhook::{Reply, Server};

const MAPPING: &str = r#"
[[nodes]]
count = 3
name = "n{index}"
allocatable = { cpu = "8" }

[[pods]]
count = 4
name = "p{index}"
time-unit = "s"
created = "{index}"
ended = "20"
requests = { cpu = "1" }
"#;

/// Returns the result of a profile with the extender at a server.
fn backtest(server: &Server, name: &str) -> Value {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("backtest-{name}"));
    fs::create_dir_all(&folder).unwrap();
    let mapping = folder.join("mapping.toml");
    fs::write(&mapping, MAPPING).unwrap();
    let (mapping, folder) = (mapping.display().to_string(), folder.display().to_string());
    let workload = ["backtest", "gpu", "--on", &folder, "--trace-mapping", &mapping, "--seeds", "1"];
    let options = ["--extender-url-prefix", &server.url, "-o", "json"];
    let mut result = gpu_sharing(&[&workload[..], &options].concat()).json();
    let assumptions = result["assumptions"].to_string();
    assert!(assumptions.contains("All simulations call the same extenders"), "{assumptions}");
    result["profiles"][0].take()
}

#[test]
fn extenders_have_an_influence_on_decisions() {
    let server = Server::start(|path, request| {
        Reply::Json(match path {
            "/x/filter" => json!({"Nodes": request["Nodes"]}).to_string(),
            _ => json!([{"Host": "n1", "Score": 10}]).to_string(),
        })
    });
    let found = backtest(&server, "influence");
    assert_eq!((&found["explained"], &found["leftOut"]["failed"]), (&json!(4), &json!(0)));
    let last = found["plugins"].as_array().and_then(|plugins| plugins.last()).unwrap();
    assert_eq!((&last["plugin"], &last["indifferent"]["mean"]), (&json!("Extender"), &json!(0.0)));
    assert!(last["decided"]["mean"].as_f64().unwrap() > 0.0, "{last}");
}

#[test]
fn decisions_that_fail_in_an_extender_are_left_out_of_the_influence() {
    let server = Server::start(|_, _| Reply::Code(503));
    let found = backtest(&server, "failure");
    assert_eq!(found["explained"], 0);
    assert!(found["leftOut"]["failed"].as_u64().unwrap() >= 4, "{found}");
}
