//! Invalid watches and writes in a catalog.

use expect_test::expect;

use super::check_with_crates;

#[test]
fn invalid_watches_and_writes() {
    check_with_crates(
        r#"crates = ["mine"]
"#,
        &[(
            "mine",
            Some(
                r#"crate = "mine"

[[plugin]]
name = "A"
path = "mine::A"
points = ["pre-bind"]
watches = ["pods", "PodGroup"]
writes = [
    { group = "storage.k8s.io/v1", resource = "volumeattachments", verbs = ["create"] },
    { group = "core", resource = "StorageClass", verbs = ["POST", "*"] },
    { resource = "pods/", verbs = [], namespace = "kube_system" },
    { resurce = "pods" },
    "pods",
]

[[plugin]]
name = "B"
path = "mine::B"
points = ["filter"]
writes = [{ resource = "pods", verbs = ["delete"] }]
"#,
            ),
        )],
        expect![[r#"
            error: unknown kind `pods`
             --> mine/schedc.toml:7:12
              |
            7 | watches = ["pods", "PodGroup"]
              |            ^^^^^^ not a kind that plugins can watch
              |
              = note: plugins can watch `Node`, `Pod`, `CSIDriver`, `CSINode`, `CSIStorageCapacity`, `DeviceClass`, `Namespace`, `PersistentVolume`, `PersistentVolumeClaim`, `PodDisruptionBudget`, `ReplicaSet`, `ReplicationController`, `ResourceClaim`, `ResourceSlice`, `Service`, `StatefulSet`, `StorageClass` and `VolumeAttachment`
            help: did you mean `Pod`?
              |
            7 - watches = ["pods", "PodGroup"]
            7 + watches = ["Pod", "PodGroup"]
              |

            error: unknown kind `PodGroup`
             --> mine/schedc.toml:7:20
              |
            7 | watches = ["pods", "PodGroup"]
              |                    ^^^^^^^^^^ not a kind that plugins can watch
              |
              = note: plugins can watch `Node`, `Pod`, `CSIDriver`, `CSINode`, `CSIStorageCapacity`, `DeviceClass`, `Namespace`, `PersistentVolume`, `PersistentVolumeClaim`, `PodDisruptionBudget`, `ReplicaSet`, `ReplicationController`, `ResourceClaim`, `ResourceSlice`, `Service`, `StatefulSet`, `StorageClass` and `VolumeAttachment`
              = help: other kinds, such as custom resources, are declared under `[kinds]`

            error: `storage.k8s.io/v1` is not an API group
             --> mine/schedc.toml:9:15
              |
            9 |     { group = "storage.k8s.io/v1", resource = "volumeattachments", verbs = ["create"] },
              |               ^^^^^^^^^^^^^^^^^^^ not a group
              |
            help: groups are named without a version
              |
            9 -     { group = "storage.k8s.io/v1", resource = "volumeattachments", verbs = ["create"] },
            9 +     { group = "storage.k8s.io", resource = "volumeattachments", verbs = ["create"] },
              |

            error: `core` is not an API group
              --> mine/schedc.toml:10:15
               |
            10 |     { group = "core", resource = "StorageClass", verbs = ["POST", "*"] },
               |               ^^^^^^ not a group
               |
            help: the group of pods and nodes has no name
               |
            10 -     { group = "core", resource = "StorageClass", verbs = ["POST", "*"] },
            10 +     { group = "", resource = "StorageClass", verbs = ["POST", "*"] },
               |

            error: `StorageClass` is not the name of a resource
              --> mine/schedc.toml:10:34
               |
            10 |     { group = "core", resource = "StorageClass", verbs = ["POST", "*"] },
               |                                  ^^^^^^^^^^^^^^ not a resource
               |
            help: resources are named in the plural and in lower case
               |
            10 -     { group = "core", resource = "StorageClass", verbs = ["POST", "*"] },
            10 +     { group = "core", resource = "storageclasses", verbs = ["POST", "*"] },
               |

            error: unknown verb `POST`
              --> mine/schedc.toml:10:59
               |
            10 |     { group = "core", resource = "StorageClass", verbs = ["POST", "*"] },
               |                                                           ^^^^^^ not a verb of resources
               |
               = note: verbs are `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` and `deletecollection`
            help: did you mean `create`?
               |
            10 -     { group = "core", resource = "StorageClass", verbs = ["POST", "*"] },
            10 +     { group = "core", resource = "StorageClass", verbs = ["create", "*"] },
               |

            error: unknown verb `*`
              --> mine/schedc.toml:10:67
               |
            10 |     { group = "core", resource = "StorageClass", verbs = ["POST", "*"] },
               |                                                                   ^^^ not a verb of resources
               |
               = note: verbs are `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` and `deletecollection`

            error: an element of `writes` needs at least one verb
              --> mine/schedc.toml:11:5
               |
            11 |     { resource = "pods/", verbs = [], namespace = "kube_system" },
               |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ no verb
               |
               = help: remove the element, or name its verbs

            error: `pods/` is not the name of a resource
              --> mine/schedc.toml:11:18
               |
            11 |     { resource = "pods/", verbs = [], namespace = "kube_system" },
               |                  ^^^^^^^ not a resource
               |
               = help: resources are named as in roles, such as `pods` or `pods/status`

            error: `kube_system` cannot be the name of a namespace
              --> mine/schedc.toml:11:51
               |
            11 |     { resource = "pods/", verbs = [], namespace = "kube_system" },
               |                                                   ^^^^^^^^^^^^^ not a name
               |
               = help: leave it out for all namespaces

            error: an element of `writes` needs `verbs`
              --> mine/schedc.toml:12:5
               |
            12 |     { resurce = "pods" },
               |     ^^^^^^^^^^^^^^^^^^^^ `verbs` is missing

            error: unknown key `resurce`
              --> mine/schedc.toml:12:7
               |
            12 |     { resurce = "pods" },
               |       ^^^^^^^ not a key of an element of `writes`
               |
               = note: an element of `writes` has `group`, `resource`, `verbs` and `namespace`
            help: did you mean `resource`?
               |
            12 |     { resource = "pods" },
               |          +

            error: an element of `writes` must be a table, not a string
              --> mine/schedc.toml:13:5
               |
            13 |     "pods",
               |     ^^^^^^ expected a table

            error: `writes` is only for plugins of `post-filter`, `reserve`, `permit`, `pre-bind`, `bind` or `post-bind`
              --> mine/schedc.toml:20:1
               |
            20 | writes = [{ resource = "pods", verbs = ["delete"] }]
               | ^^^^^^ no effect
               |
               = note: `points` lists none of them

            error: 14 errors in mine/schedc.toml
        "#]],
    );
}
