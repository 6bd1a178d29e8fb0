//! Every operation, in a small workload.

use crate::harness::ok;

#[test]
fn nodes_and_pods() {
    let report = ok(
        "
- {opcode: createNodes, countParam: $nodes}
- {opcode: createPods, countParam: $pods, skipWaitToCompletion: true}
- {opcode: barrier}
- {opcode: createPods, countParam: $pods, collectMetrics: true}
",
        "nodes: 5, pods: 10",
        &[],
    );
    assert_eq!(report.name, "case/small");
    assert!(report.decisions_per_s > report.pods_per_s && report.pods_per_s > 0.0, "{report:?}");
    let latency = report.latency_us;
    assert!(latency.p50 > 0.0 && latency.p50 <= latency.p999 && latency.p999 <= latency.max, "{report:?}");
    assert_eq!(report.allocations_per_decision, None, "this binary does not count");
}
