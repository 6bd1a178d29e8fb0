#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;

use super::*;
use crate::workload::{Owner, PodId, Shape};

const SECOND: i64 = 1_000_000_000;

/// Folder that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("schedc-trace-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = Folder(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.0.join(name), text).unwrap());
        folder
    }

    /// Reads the trace with the mapping `mapping.toml`. Errors have file names without the folder.
    fn read(&self) -> Result<Workload, String> {
        let read = read(&self.0.join("mapping.toml"), std::slice::from_ref(&self.0));
        read.map_err(|error| error.to_string().replace(&format!("{}/", self.0.display()), ""))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn read_files(files: &[(&str, &str)]) -> Result<Workload, String> {
    Folder::new(files).read()
}

/// Returns the amounts of a pod by resource.
fn requests(workload: &Workload, pod: u32) -> Vec<(&str, i64)> {
    let amounts = workload.requests(workload.pods[pod as usize].template);
    let amounts = workload.resources.iter().map(String::as_str).zip(amounts.iter().copied());
    amounts.filter(|(_, amount)| *amount > 0).collect()
}

#[test]
fn openb_is_mapped() {
    let workload = read_files(&[
        ("mapping.toml", include_str!("../../mappings/openb.toml")),
        ("openb_node_list_all_node.csv", "sn,cpu_milli,memory_mib,gpu,model\nopenb-node-0,64000,262144,2,P100\nopenb-node-1,96000,1024,0,\n"),
        (
            "openb_pod_list_default.csv",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
             p1,12000,16384,1,1000,,LS,Running,500,12537496,501.5\n\
             p0,6000,12288,2,460,P100|V100M16,BE,Running,100,,\n",
        ),
    ])
    .unwrap();
    assert_eq!((workload.start, workload.end, workload.nodes()), (0, 12_537_396 * SECOND, 2));
    let names: Vec<&str> = workload.pods.iter().map(|pod| &*pod.name).collect();
    assert_eq!(names, ["openb/p0", "openb/p1"], "in the order of their creation");
    assert_eq!(workload.pods[0].lifetime, Lifetime::Unlimited);
    assert_eq!(workload.pods[1].lifetime, Lifetime::Runs(12_537_496 * SECOND - 501_500_000_000));
    assert_eq!((workload.priority(PodId(0)), workload.priority(PodId(1))), (0, 1000));
    assert_eq!(workload.owner(PodId(0)), Owner::Job);
    assert_eq!(
        requests(&workload, 0),
        [("cpu", 6000), ("memory", 12288 << 20), ("pods", 1), ("example.com/gpu-milli", 920)]
    );
    let pod = workload.pod(PodId(0), workload.pods[0].template, "u");
    let affinity = serde_json::to_string(&pod.spec.unwrap().affinity.unwrap()).unwrap();
    assert!(affinity.contains(r#""values":["P100","V100M16"]"#), "{affinity}");
}

#[test]
fn azure_is_mapped() {
    let workload = read_files(&[
        ("mapping.toml", include_str!("../../mappings/azure-packing.toml")),
        (
            "azure-packing.csv",
            "vmId,priority,starttime,endtime,core,memory,ssd\n7,0,-0.5,0.25,0.125,0.0625,0.001\n8,1,0,,0.03125,0.1,0\n",
        ),
    ])
    .unwrap();
    assert_eq!((workload.nodes(), workload.end), (1000, 64_800 * SECOND));
    assert_eq!(workload.pods[0].lifetime, Lifetime::Runs(64_800 * SECOND));
    assert_eq!(workload.pods[1].created, 43_200 * SECOND);
    assert_eq!(requests(&workload, 0)[..2], [("cpu", 8000), ("memory", 32 << 30)]);
    assert_eq!(requests(&workload, 1)[0], ("cpu", 2000));
    assert!(
        workload.shapes.contains(&Shape { requests: vec![2000, 54_975_581_389, 1, 0], pods: 1 }),
        "{:?}",
        workload.shapes
    );
}

const MAPPING: &str = r#"[[nodes]]
count = 2
name = "n{index}"
allocatable = { cpu = "4" }

[[pods]]
file = "pods.jsonl"
name = "{meta.id}"
requests = { cpu = "{cpu}" }
time-unit = "s"
created = "{at}"
only = { kind = ["vm"] }
spec = { schedulerName = "edge" }
"#;

#[test]
fn the_mapping_of_the_documentation_is_read() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/backtest.md")).unwrap();
    let (_, mapping) = page.split_once("```toml mapping\n").unwrap();
    let (mapping, _) = mapping.split_once("```").unwrap();
    let tasks = "state,team,class,zone,submitted,started,ended,cpu_share,memory_mib\n\
                 RUN,search,high,a|b,0,1,5,0.5,100\n\
                 WAIT,search,low,a,0,,,1,100\n";
    let machines = "machine,zone,cores,memory_mib\nm1,a,64,1024\n";
    let workload = read_files(&[("mapping.toml", mapping), ("machines.csv", machines), ("tasks.csv", tasks)]).unwrap();
    assert_eq!((workload.nodes(), workload.pods.len()), (1, 1), "other states are left out");
    assert_eq!(&*workload.pods[0].name, "search/task-1");
    assert_eq!((workload.pods[0].lifetime, workload.priority(PodId(0))), (Lifetime::Runs(4 * SECOND), 1000));
    assert_eq!(requests(&workload, 0), [("cpu", 32_000), ("memory", 100 << 20), ("pods", 1)]);
}

#[test]
fn fields_that_no_object_has_are_errors() {
    let pods = "\u{feff}{\"meta\": {\"id\": \"a\"}, \"cpus\": 2, \"at\": 3, \"kind\": \"vm\"}\n";
    let error = read_files(&[("mapping.toml", MAPPING), ("pods.jsonl", pods)]).unwrap_err();
    assert_eq!(error, "pods.jsonl: no object has the field `cpu`; correct the mapping");
}

#[test]
fn headers_and_nodes_are_checked() {
    let mapping = MAPPING.replace("pods.jsonl", "pods.csv").replace("meta.id", "id");
    let pods = "id,cpu,at,cpu,kind\na,1,0,2,vm\n";
    let error = read_files(&[("mapping.toml", &mapping), ("pods.csv", pods)]).unwrap_err();
    assert_eq!(error, "pods.csv:1: two columns are named `cpu`; rename one of them");
    let mapping = mapping.replace("count = 2", "count = 0");
    let error = read_files(&[("mapping.toml", &mapping), ("pods.csv", "id,cpu,at,kind\na,1,0,vm\n")]).unwrap_err();
    assert!(error.ends_with("no row of the trace is a node"), "{error}");
}

#[test]
fn fields_of_json_lines_are_columns() {
    let pods = "{\"meta\": {\"id\": \"A\"}, \"cpu\": 2, \"at\": 3.5, \"kind\": \"vm\"}\n\n{\"kind\": \"other\"}\n";
    let workload = read_files(&[("mapping.toml", MAPPING), ("pods.jsonl", pods)]).unwrap();
    assert_eq!((workload.pods.len(), &*workload.pods[0].name), (1, "default/a"));
    let pod = workload.pod(PodId(0), workload.pods[0].template, "u");
    assert_eq!(pod.spec.unwrap().scheduler_name.as_deref(), Some("edge"));
}

#[test]
fn errors_have_a_file_and_a_line() {
    let row = r#"{"meta": {"id": "a"}, "cpu": 2, "at": 3, "kind": "vm"}"#;
    let check = |mapping: &str, pods: &str, expected: &str| {
        let error = read_files(&[("mapping.toml", mapping), ("pods.jsonl", pods)]).unwrap_err();
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    };
    let pods = |from: &str, to: &str| format!("{row}\n{}", row.replace("\"a\"", "\"b\"").replace(from, to));
    check(MAPPING, &pods("2", "\"much\""), "pods.jsonl:2: cpu: `much` is not a quantity");
    check(MAPPING, &pods("2", "-2"), "pods.jsonl:2: cpu: `-2` is negative");
    check(MAPPING, &pods("3", "\"x\""), "pods.jsonl:2: `x` is not a number");
    check(MAPPING, &pods("3", "null"), "pods.jsonl:2: `created` is empty");
    check(MAPPING, &pods("\"b\"", "\"a\""), "pods.jsonl:2: there are two pods `default/a`");
    check(MAPPING, &pods("\"b\"", "\"_\""), "pods.jsonl:2: `_` is not a name");
    check(MAPPING, &pods("}", ""), "pods.jsonl:2: this is not an object in JSON");
    check(MAPPING, "", "mapping.toml: no row of the trace is a pod");
    let mapping = |from: &str, to: &str| MAPPING.replace(from, to);
    check(&mapping("count = 2", "count = true"), row, "mapping.toml:2: ");
    check(&mapping("only", "onyl"), row, "mapping.toml:12: unknown field `onyl`");
    check(&mapping("pods.jsonl", "pods.json"), row, "there is no file `pods.json`");
    check(&mapping("{cpu}", "{cpu"), row, "mapping.toml:9: `{cpu` has a `{` without `}`");
    check(&mapping("{cpu}", "{cpu:map}"), row, "pods.jsonl:1: the mapping has no [maps.map]");
    check(&mapping("schedulerName", "schedulerNam"), row, "pods.jsonl:1: ");
    check(&mapping("count = 2", "file = \"a\"\ncount = 2"), row, "set either `file` or `count`");
    check(&mapping("n{index}", "n"), row, "there are two nodes `n`");
    check(&mapping("n{index}", "{machine}"), row, "there is no column `machine`");
}

#[test]
fn rows_of_csv_have_their_line() {
    let mapping = MAPPING.replace("jsonl", "csv").replace("{meta.id}", "{id}");
    let header = "id,cpu,at,kind\n\"a\nb\",1,1,other\n";
    let error =
        |rows: &str| read_files(&[("mapping.toml", &mapping), ("pods.csv", &format!("{header}{rows}"))]).unwrap_err();
    assert_eq!(error("c,1,1\n"), "pods.csv:4: the row has 3 values, and the header 4 columns");
    assert!(error("c,x,1,vm\n").starts_with("pods.csv:4: cpu: `x`"), "{}", error("c,x,1,vm\n"));
    let error = read_files(&[("mapping.toml", &mapping), ("pods.csv", "id,cpus,at,kind\na,1,1,vm\n")]).unwrap_err();
    assert_eq!(error, "pods.csv:2: there is no column `cpu`; did you mean `cpus`?");
}

#[test]
fn a_pod_that_ends_before_it_begins_is_an_error() {
    let mapping = format!(
        "{}ended = \"{{at}}\"\nstarted = \"5\"\n",
        MAPPING.trim_end_matches("spec = { schedulerName = \"edge\" }\n")
    );
    let row = r#"{"meta": {"id": "a"}, "cpu": 2, "at": 3, "kind": "vm"}"#;
    let error = read_files(&[("mapping.toml", &mapping), ("pods.jsonl", row)]).unwrap_err();
    assert!(error.contains("pods.jsonl:1: the pod ends before it begins"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn damaged_mappings_and_tables_are_errors_with_a_line(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..128), 0..6),
        row_changes in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..128), 0..6),
    ) {
        let damaged = |text: &str, changes: Vec<(prop::sample::Index, u8)>| {
            let mut text = text.as_bytes().to_vec();
            for (at, byte) in changes {
                let at = at.index(text.len());
                text[at] = byte;
            }
            String::from_utf8_lossy(&text).into_owned()
        };
        let mapping = MAPPING.replace("jsonl", "csv").replace("{meta.id}", "{id}");
        let files = [
            ("mapping.toml", damaged(&mapping, changes)),
            ("pods.csv", damaged("id,cpu,at,kind\na,1,1,vm\nb,2,2.5,vm\n\"c\",500m,3,vm\n", row_changes)),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        if let Err(error) = read_files(&files) {
            prop_assert!(error.contains("mapping.toml:") || error.contains("pods.csv:"), "{}", error);
        }
    }
}
