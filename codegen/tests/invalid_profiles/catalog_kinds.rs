//! Kinds in catalogs of plugin crates.

use expect_test::expect;

use super::check_with_crates;

const PROFILE: &str = "crates = [\"mine\"]\n\n[plugins]\nfilter = { enabled = [\"Mine\"] }\n";

#[test]
fn invalid_kind_declarations() {
    let catalog = r#"crate = "mine"

[kinds]
Pod = { api-version = "v1", resource = "pods" }
PodGroup = { api-version = "scheduling.x-k8s.io", resource = "PodGroup" }
Queue = { api-version = "example.com/v1", kind = "queue", resorce = "queues" }
Shift = { api-version = "example.com/v1", resource = "shifts", namespaced = "no" }
Team = { api-version = "example.com/v1", resource = "teams" }
Crew = { api-version = "example.com/v1", kind = "Team", resource = "teams" }
Plain = "plains"

[[plugin]]
name = "Mine"
path = "mine::Mine"
points = ["filter"]
watches = ["Team", "Teem", "Elsewhere"]
"#;
    check_with_crates(
        PROFILE,
        &[("mine", Some(catalog))],
        expect![[r#"
        error: `Pod` cannot be declared
         --> mine/schedc.toml:4:1
          |
        4 | Pod = { api-version = "v1", resource = "pods" }
          | ^^^ schedc has this kind already
          |
          = help: list it in `watches`; for a kind of this name in another API group, declare another name, with `kind = "Pod"`

        error: `scheduling.x-k8s.io` is not the version of an API
         --> mine/schedc.toml:5:28
          |
        5 | PodGroup = { api-version = "scheduling.x-k8s.io", resource = "PodGroup" }
          |                            ^^^^^^^^^^^^^^^^^^^^^ expected a group and a version such as `scheduling.x-k8s.io/v1alpha1`
          |
          = note: use the `apiVersion` of the resource's manifests

        error: `PodGroup` is not the name of a resource
         --> mine/schedc.toml:5:62
          |
        5 | PodGroup = { api-version = "scheduling.x-k8s.io", resource = "PodGroup" }
          |                                                              ^^^^^^^^^^ not a resource
          |
        help: resources are named in the plural and in lower case
          |
        5 - PodGroup = { api-version = "scheduling.x-k8s.io", resource = "PodGroup" }
        5 + PodGroup = { api-version = "scheduling.x-k8s.io", resource = "podgroups" }
          |

        error: `queue` is not the name of a kind
         --> mine/schedc.toml:6:50
          |
        6 | Queue = { api-version = "example.com/v1", kind = "queue", resorce = "queues" }
          |                                                  ^^^^^^^ not a kind
          |
          = help: use the `kind` of its manifests, such as `PodGroup`

        error: unknown key `resorce`
         --> mine/schedc.toml:6:59
          |
        6 | Queue = { api-version = "example.com/v1", kind = "queue", resorce = "queues" }
          |                                                           ^^^^^^^ not a key of kind `Queue`
          |
          = note: kind `Queue` has `api-version`, `kind`, `resource` and `namespaced`
        help: did you mean `resource`?
          |
        6 | Queue = { api-version = "example.com/v1", kind = "queue", resource = "queues" }
          |                                                               +

        error: `namespaced` must be `true` or `false`, not a string
         --> mine/schedc.toml:7:77
          |
        7 | Shift = { api-version = "example.com/v1", resource = "shifts", namespaced = "no" }
          |                                                                             ^^^^ expected `true` or `false`

        error: teams.v1.example.com is declared twice
         --> mine/schedc.toml:9:1
          |
        8 | Team = { api-version = "example.com/v1", resource = "teams" }
          | ---- first
        9 | Crew = { api-version = "example.com/v1", kind = "Team", resource = "teams" }
          | ^^^^ second

        error: `Plain` must be a table, not a string
          --> mine/schedc.toml:10:9
           |
        10 | Plain = "plains"
           |         ^^^^^^^^ expected a table

        error: unknown kind `Teem`
          --> mine/schedc.toml:16:20
           |
        16 | watches = ["Team", "Teem", "Elsewhere"]
           |                    ^^^^^^ not a kind that plugins can watch
           |
           = note: plugins can watch `Team`, `Node`, `Pod`, `CSIDriver`, `CSINode`, `CSIStorageCapacity`, `DeviceClass`, `Namespace`, `PersistentVolume`, `PersistentVolumeClaim`, `PodDisruptionBudget`, `ReplicaSet`, `ReplicationController`, `ResourceClaim`, `ResourceSlice`, `Service`, `StatefulSet`, `StorageClass` and `VolumeAttachment`
        help: did you mean `Team`?
           |
        16 - watches = ["Team", "Teem", "Elsewhere"]
        16 + watches = ["Team", "Team", "Elsewhere"]
           |

        error: unknown kind `Elsewhere`
          --> mine/schedc.toml:16:28
           |
        16 | watches = ["Team", "Teem", "Elsewhere"]
           |                            ^^^^^^^^^^^ not a kind that plugins can watch
           |
           = note: plugins can watch `Team`, `Node`, `Pod`, `CSIDriver`, `CSINode`, `CSIStorageCapacity`, `DeviceClass`, `Namespace`, `PersistentVolume`, `PersistentVolumeClaim`, `PodDisruptionBudget`, `ReplicaSet`, `ReplicationController`, `ResourceClaim`, `ResourceSlice`, `Service`, `StatefulSet`, `StorageClass` and `VolumeAttachment`
           = help: other kinds, such as custom resources, are declared under `[kinds]`

        error: 10 errors in mine/schedc.toml
    "#]],
    );
}

#[test]
fn crates_that_disagree_about_a_kind() {
    let first = r#"crate = "mine"

[kinds]
PodGroup = { api-version = "scheduling.x-k8s.io/v1alpha1", resource = "podgroups" }

[[plugin]]
name = "Mine"
path = "mine::Mine"
points = ["filter"]
watches = ["PodGroup"]
"#;
    let second = r#"crate = "other"

[kinds]
Gang = { api-version = "scheduling.x-k8s.io/v1alpha1", kind = "PodGroup", resource = "podgroups", namespaced = false }

[[plugin]]
name = "Other"
path = "other::Other"
points = ["filter"]
watches = ["Gang"]
"#;
    let profile = "crates = [\"mine\", \"other\"]\n\n[plugins]\nfilter = { enabled = [\"Mine\", \"Other\"] }\n";
    check_with_crates(
        profile,
        &[("mine", Some(first)), ("other", Some(second))],
        expect![[r#"
        error: two crates declare podgroups.v1alpha1.scheduling.x-k8s.io differently
         --> other/schedc.toml:4:1
          |
        4 | Gang = { api-version = "scheduling.x-k8s.io/v1alpha1", kind = "PodGroup", resource = "podgroups", namespaced = false }
          | ^^^^ kind `PodGroup`, without namespaces
          |
         ::: mine/schedc.toml:4:1
          |
        4 | PodGroup = { api-version = "scheduling.x-k8s.io/v1alpha1", resource = "podgroups" }
          | -------- kind `PodGroup`, with namespaces

        error: 1 error in other/schedc.toml
    "#]],
    );
}
