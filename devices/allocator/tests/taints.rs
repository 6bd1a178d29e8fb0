//! Tainted devices.

use crate::cluster::Cluster;
use crate::{NONE, request};

#[test]
fn a_taint_excludes_a_device_unless_it_is_tolerated() {
    let allocated = |effect: &str, toleration: &str| {
        let mut cluster = Cluster::with_class();
        cluster.slice("p", &format!("{{name: a, taints: [{{key: k, value: v, effect: {effect}}}]}}"));
        cluster.devices(&[&request(1, &format!("tolerations: [{toleration}]"))])
    };
    assert_eq!(allocated("NoSchedule", ""), NONE);
    assert_eq!(allocated("NoExecute", ""), NONE);
    assert_eq!(allocated("None", ""), "r=a");
    assert_eq!(allocated("NoSchedule", "{operator: Exists}"), "r=a");
    assert_eq!(allocated("NoSchedule", "{key: k, value: v, operator: Equal, effect: NoSchedule}"), "r=a");
    assert_eq!(allocated("NoSchedule", "{key: k, value: w, operator: Equal}"), NONE);
    assert_eq!(allocated("NoSchedule", "{key: k, operator: Exists, effect: NoExecute}"), NONE);
}
