//! `schedc manifest`

mod chart;
mod granted;
mod helm;

use expect_test::expect;

use crate::cli::harness::{Folder, schedc};

const MINE: &str = r#"scheduler-name = "mine"
plugins.multi-point = ["PrioritySort", "NodeResourcesFit", "DefaultBinder"]
"#;

#[test]
fn a_profile_of_resources_watches_pods_and_nodes() {
    let folder = Folder::with(&[("profiles/mine.toml", MINE)]);
    let printed = folder.schedc(&["manifest", "mine", "--namespace", "edge", "--image", "host:5000/mine:1"]).ok();
    expect![[r##"
        # A scheduler for pods whose schedulerName is mine.
        apiVersion: v1
        kind: ServiceAccount
        metadata:
          name: schedc-mine
          namespace: edge
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata:
          name: schedc-mine
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        rules:
          - apiGroups: [""]
            resources: [nodes]
            verbs: [list, watch]
          - apiGroups: [""]
            resources: [pods]
            verbs: [get, list, watch]
          - apiGroups: [""]
            resources: [pods/binding]
            verbs: [create]
          - apiGroups: [""]
            resources: [pods/status]
            verbs: [patch]
          - apiGroups: [authentication.k8s.io]
            resources: [tokenreviews]
            verbs: [create]
          - apiGroups: [authorization.k8s.io]
            resources: [subjectaccessreviews]
            verbs: [create]
          - apiGroups: [events.k8s.io]
            resources: [events]
            verbs: [create, patch]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRoleBinding
        metadata:
          name: schedc-mine
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: ClusterRole
          name: schedc-mine
        subjects:
          - kind: ServiceAccount
            name: schedc-mine
            namespace: edge
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata:
          name: schedc-mine-leader-election
          namespace: edge
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        rules:
          # Events of leader election use the core API group, as in kube-scheduler.
          - apiGroups: [""]
            resources: [events]
            verbs: [create]
          # Rules for `create` cannot name the object.
          - apiGroups: [coordination.k8s.io]
            resources: [leases]
            verbs: [create]
          - apiGroups: [coordination.k8s.io]
            resources: [leases]
            resourceNames: [schedc-mine]
            verbs: [get, update]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata:
          name: schedc-mine-leader-election
          namespace: edge
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: Role
          name: schedc-mine-leader-election
        subjects:
          - kind: ServiceAccount
            name: schedc-mine
            namespace: edge
        ---
        # The certificate authorities that the API server trusts, to authenticate clients that request metrics.
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata:
          name: schedc-mine-authentication
          namespace: kube-system
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        rules:
          - apiGroups: [""]
            resources: [configmaps]
            resourceNames: [extension-apiserver-authentication]
            verbs: [get]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata:
          name: schedc-mine-authentication
          namespace: kube-system
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: Role
          name: schedc-mine-authentication
        subjects:
          - kind: ServiceAccount
            name: schedc-mine
            namespace: edge
        ---
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: schedc-mine
          namespace: edge
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        spec:
          replicas: 2
          selector:
            matchLabels:
              app.kubernetes.io/name: schedc
              app.kubernetes.io/instance: schedc-mine
          template:
            metadata:
              labels:
                app.kubernetes.io/name: schedc
                app.kubernetes.io/instance: schedc-mine
            spec:
              serviceAccountName: schedc-mine
              priorityClassName: system-cluster-critical
              securityContext:
                runAsNonRoot: true
                runAsUser: 65532
                runAsGroup: 65532
                seccompProfile:
                  type: RuntimeDefault
              containers:
                - name: schedc
                  image: "host:5000/mine:1"
                  args:
                    - run
                    - --leader-elect=true
                    - --leader-elect-resource-namespace=edge
                    - --leader-elect-resource-name=schedc-mine
                  ports:
                    - name: https
                      containerPort: 10259
                  livenessProbe:
                    httpGet:
                      path: /livez
                      port: https
                      scheme: HTTPS
                    initialDelaySeconds: 10
                    timeoutSeconds: 15
                    failureThreshold: 8
                  readinessProbe:
                    httpGet:
                      path: /readyz
                      port: https
                      scheme: HTTPS
                    timeoutSeconds: 15
                  resources:
                    requests:
                      cpu: 20m
                      memory: 32Mi
                  securityContext:
                    allowPrivilegeEscalation: false
                    readOnlyRootFilesystem: true
                    capabilities:
                      drop: [ALL]
              tolerations:
                - key: node-role.kubernetes.io/control-plane
                  operator: Exists
                  effect: NoSchedule
              topologySpreadConstraints:
                - maxSkew: 1
                  topologyKey: kubernetes.io/hostname
                  whenUnsatisfiable: ScheduleAnyway
                  labelSelector:
                    matchLabels:
                      app.kubernetes.io/name: schedc
                      app.kubernetes.io/instance: schedc-mine
        ---
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata:
          name: schedc-mine
          namespace: edge
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        spec:
          maxUnavailable: 1
          selector:
            matchLabels:
              app.kubernetes.io/name: schedc
              app.kubernetes.io/instance: schedc-mine
    "##]]
    .assert_eq(&printed);
}

#[test]
fn the_plugins_of_kube_scheduler_need_these_rights() {
    let folder = Folder::with(&[("all.toml", "scheduler-name = \"all\"")]);
    let printed = folder.schedc(&["manifest", "all.toml"]).ok();
    let role = printed.split("---\n").find(|document| document.contains("kind: ClusterRole\n")).expect("a role");
    expect![[r#"
        rules:
          - apiGroups: [""]
            resources: [namespaces, nodes, replicationcontrollers, services]
            verbs: [list, watch]
          - apiGroups: [""]
            resources: [persistentvolumeclaims, persistentvolumes]
            verbs: [get, list, watch, patch]
          - apiGroups: [""]
            resources: [pods]
            verbs: [get, list, watch, delete]
          - apiGroups: [""]
            resources: [pods/binding]
            verbs: [create]
          - apiGroups: [""]
            resources: [pods/status]
            verbs: [patch]
          - apiGroups: [apps]
            resources: [replicasets, statefulsets]
            verbs: [list, watch]
          - apiGroups: [authentication.k8s.io]
            resources: [tokenreviews]
            verbs: [create]
          - apiGroups: [authorization.k8s.io]
            resources: [subjectaccessreviews]
            verbs: [create]
          - apiGroups: [events.k8s.io]
            resources: [events]
            verbs: [create, patch]
          - apiGroups: [policy]
            resources: [poddisruptionbudgets]
            verbs: [list, watch]
          - apiGroups: [resource.k8s.io]
            resources: [deviceclasses, resourceslices]
            verbs: [list, watch]
          - apiGroups: [resource.k8s.io]
            resources: [resourceclaims]
            verbs: [get, list, watch, create, patch, delete]
          - apiGroups: [resource.k8s.io]
            resources: [resourceclaims/binding, resourceclaims/status]
            verbs: [patch]
          - apiGroups: [storage.k8s.io]
            resources: [csidrivers, csinodes, csistoragecapacities, storageclasses, volumeattachments]
            verbs: [list, watch]
    "#]]
    .assert_eq(&role[role.find("rules:\n").expect("rules")..]);
}

#[test]
fn a_replacement_of_kube_scheduler_uses_its_lease() {
    let folder = Folder::with(&[("profiles/mine.toml", "")]);
    let run = folder.schedc(&["manifest", "mine", "--namespace", "other"]);
    expect![[r#"
        warning: kube-scheduler serves default-scheduler, too. This Deployment uses its lease, so only one of them schedules at a time: stop kube-scheduler first (docs/run/replace-kube-scheduler.md), or give the profile another scheduler-name
    "#]].assert_eq(&run.stderr);
    let roles = run.stdout.split("---\n").filter(|document| document.contains("kind: Role\n"));
    expect![[r#"
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata:
          name: schedc-mine-leader-election
          namespace: kube-system
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        rules:
          # Events of leader election use the core API group, as in kube-scheduler.
          - apiGroups: [""]
            resources: [events]
            verbs: [create]
          # Rules for `create` cannot name the object.
          - apiGroups: [coordination.k8s.io]
            resources: [leases]
            verbs: [create]
          - apiGroups: [coordination.k8s.io]
            resources: [leases]
            resourceNames: [kube-scheduler]
            verbs: [get, update]
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata:
          name: schedc-mine-leader-election
          namespace: kube-system
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: Role
          name: schedc-mine-leader-election
        subjects:
          - kind: ServiceAccount
            name: schedc-mine
            namespace: other
        # The certificate authorities that the API server trusts, to authenticate clients that request metrics.
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata:
          name: schedc-mine-authentication
          namespace: kube-system
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        rules:
          - apiGroups: [""]
            resources: [configmaps]
            resourceNames: [extension-apiserver-authentication]
            verbs: [get]
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata:
          name: schedc-mine-authentication
          namespace: kube-system
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: schedc-mine
        roleRef:
          apiGroup: rbac.authorization.k8s.io
          kind: Role
          name: schedc-mine-authentication
        subjects:
          - kind: ServiceAccount
            name: schedc-mine
            namespace: other
    "#]]
    .assert_eq(&roles.collect::<String>());
    let lease = run.stdout.lines().filter(|line| line.contains("resource-name")).map(str::trim);
    expect![[r#"
                    - --leader-elect-resource-namespace=kube-system
                    - --leader-elect-resource-name=kube-scheduler"#]]
    .assert_eq(&lease.collect::<Vec<_>>().join("\n"));
}

#[test]
fn metrics_are_scraped() {
    let printed = schedc(&["manifest", "edge", "--service-monitor", "--replicas", "1", "--name", "far-away"]).ok();
    assert!(printed.contains("replicas: 1\n") && printed.contains("image: \"far-away:"));
    let (_, monitored) = printed.split_once("kind: PodDisruptionBudget").expect("a budget");
    expect![[r#"

        metadata:
          name: far-away
          namespace: kube-system
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: far-away
        spec:
          maxUnavailable: 1
          selector:
            matchLabels:
              app.kubernetes.io/name: schedc
              app.kubernetes.io/instance: far-away
        ---
        apiVersion: v1
        kind: Service
        metadata:
          name: far-away
          namespace: kube-system
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: far-away
        spec:
          clusterIP: None
          ports:
            - name: https
              port: 10259
              targetPort: https
          selector:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: far-away
        ---
        # The ServiceAccount of Prometheus needs the permission to get /metrics.
        apiVersion: monitoring.coreos.com/v1
        kind: ServiceMonitor
        metadata:
          name: far-away
          namespace: kube-system
          labels:
            app.kubernetes.io/name: schedc
            app.kubernetes.io/instance: far-away
        spec:
          selector:
            matchLabels:
              app.kubernetes.io/name: schedc
              app.kubernetes.io/instance: far-away
          endpoints:
            - port: https
              scheme: https
              path: /metrics
              bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
              tlsConfig:
                # The certificate is self-signed.
                insecureSkipVerify: true
    "#]]
    .assert_eq(monitored);
}

#[test]
fn an_image_is_text_even_if_it_looks_like_a_number() {
    assert!(schedc(&["manifest", "edge", "--image", "5"]).ok().contains("image: \"5\"\n"));
}

#[test]
fn invalid_names_are_rejected() {
    let refused = |args: &[&str]| {
        let run = schedc(&[&["manifest", "edge"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
        run.stderr.lines().next().map(str::to_owned).unwrap_or_default()
    };
    expect!["error: invalid value 'Edge' for '--name <NAME>': `Edge` is not a valid name: use at most 63 lower-case letters, digits and dashes, a letter first"].assert_eq(&refused(&["--name", "Edge"]));
    expect!["error: invalid value 'a.b' for '--namespace <NAMESPACE>': `a.b` is not a valid name: use at most 63 lower-case letters, digits and dashes, a letter first"].assert_eq(&refused(&["--namespace", "a.b"]));
    expect!["error: invalid value 'no' for '--namespace <NAMESPACE>': YAML reads `no` as a boolean or null: choose another name"].assert_eq(&refused(&["--namespace", "no"]));
    for image in ["a b", "edge:"] {
        let expected = format!(
            "error: invalid value '{image}' for '--image <IMAGE>': `{image}` is not an image: give one such as registry.example.com/schedc-edge:0.1.0"
        );
        assert_eq!(refused(&["--image", image]), expected);
    }
    expect!["error: invalid value '0' for '--replicas <NUMBER>': 0 is not in 1..=4294967295"]
        .assert_eq(&refused(&["--replicas", "0"]));
    let folder = Folder::with(&[("profiles/my_own.toml", MINE)]);
    expect![[r#"
        error: `schedc-my_own` is not a valid name: use at most 63 lower-case letters, digits and dashes, a letter first: set --name
    "#]].assert_eq(&folder.schedc(&["manifest", "my_own"]).refused());
}

#[test]
fn a_declared_kind_is_watched_and_written_as_in_its_catalog() {
    let crates = concat!("crates = [{ path = \"", env!("CARGO_MANIFEST_DIR"), "/examples/coscheduling\" }]\n");
    let plugins = "[plugins]\nmulti-point = [\"Coscheduling\", \"DefaultBinder\"]\n";
    let folder = Folder::with(&[("profiles/gangs.toml", &(crates.to_owned() + plugins))]);
    let printed = folder.schedc(&["manifest", "gangs"]).ok();
    let group_rules = "  - apiGroups: [scheduling.x-k8s.io]
    resources: [podgroups]
    verbs: [list, watch]
  - apiGroups: [scheduling.x-k8s.io]
    resources: [podgroups/status]
    verbs: [patch]
---
";
    assert!(printed.contains(group_rules), "{printed}");
    assert_eq!(printed.matches("podgroups").count(), 2, "{printed}");
}
