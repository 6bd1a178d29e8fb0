//! The objects, as YAML.

use super::rights::Rights;

/// What is put into a cluster.
pub(super) struct Deployed<'a> {
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
    pub(super) image: &'a str,
    pub(super) replicas: u32,
    /// Namespace and name.
    pub(super) lease: (&'a str, &'a str),
    pub(super) has_service_monitor: bool,
    pub(super) scheduler_names: &'a [String],
    pub(super) rights: &'a Rights,
}

/// All of it. Names were checked: they need no quotes.
pub(super) fn text(deployed: &Deployed<'_>) -> String {
    let Deployed { name, rights, .. } = *deployed;
    let mut documents = vec![service_account(deployed)];
    documents.push(format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n{}{}",
        metadata(name, None),
        rights.everywhere.yaml()
    ));
    documents.push(binding(deployed, None));
    for (namespace, rules) in &rights.namespaces {
        documents.push(format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n{}{}",
            metadata(name, Some(namespace)),
            rules.yaml()
        ));
        documents.push(binding(deployed, Some(namespace)));
    }
    documents.push(deployment(deployed));
    documents.push(disruption_budget(deployed));
    if deployed.has_service_monitor {
        documents.push(service(deployed));
        documents.push(service_monitor(deployed));
    }
    let pods = deployed.scheduler_names.join(", ");
    format!("# A scheduler for pods whose schedulerName is {pods}.\n{}", documents.join("---\n"))
}

/// The fields of `metadata`.
fn metadata(name: &str, namespace: Option<&str>) -> String {
    let namespace = namespace.map(|namespace| format!("  namespace: {namespace}\n")).unwrap_or_default();
    format!("  name: {name}\n{namespace}  labels:\n{}", labels(name, 4))
}

/// The labels by which its pods are known, indented.
fn labels(name: &str, indent: usize) -> String {
    let indent = " ".repeat(indent);
    format!("{indent}app.kubernetes.io/name: schedc\n{indent}app.kubernetes.io/instance: {name}\n")
}

fn service_account(Deployed { name, namespace, .. }: &Deployed<'_>) -> String {
    format!("apiVersion: v1\nkind: ServiceAccount\nmetadata:\n{}", metadata(name, Some(namespace)))
}

/// Gives the ServiceAccount its role, in a namespace or everywhere.
fn binding(deployed: &Deployed<'_>, namespace: Option<&str>) -> String {
    let role = if namespace.is_some() { "Role" } else { "ClusterRole" };
    let metadata = metadata(deployed.name, namespace);
    let Deployed { name, namespace, .. } = deployed;
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1
kind: {role}Binding
metadata:
{metadata}roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {role}
  name: {name}
subjects:
  - kind: ServiceAccount
    name: {name}
    namespace: {namespace}
"
    )
}

fn deployment(deployed: &Deployed<'_>) -> String {
    let Deployed { name, namespace, image, replicas, lease: (lease_namespace, lease), .. } = deployed;
    let metadata = metadata(name, Some(namespace));
    let (selector, on_pods, alike) = (labels(name, 6), labels(name, 8), labels(name, 14));
    format!(
        r#"apiVersion: apps/v1
kind: Deployment
metadata:
{metadata}spec:
  replicas: {replicas}
  selector:
    matchLabels:
{selector}  template:
    metadata:
      labels:
{on_pods}    spec:
      serviceAccountName: {name}
      priorityClassName: system-cluster-critical
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: schedc
          image: {image}
          args:
            - run
            - --leader-elect=true
            - --leader-elect-resource-namespace={lease_namespace}
            - --leader-elect-resource-name={lease}
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
{alike}"#
    )
}

fn disruption_budget(Deployed { name, namespace, .. }: &Deployed<'_>) -> String {
    format!(
        "apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
{}spec:
  maxUnavailable: 1
  selector:
    matchLabels:
{}",
        metadata(name, Some(namespace)),
        labels(name, 6)
    )
}

fn service(Deployed { name, namespace, .. }: &Deployed<'_>) -> String {
    format!(
        "apiVersion: v1
kind: Service
metadata:
{}spec:
  clusterIP: None
  ports:
    - name: https
      port: 10259
      targetPort: https
  selector:
{}",
        metadata(name, Some(namespace)),
        labels(name, 4)
    )
}

/// Prometheus' own ServiceAccount needs the right to get /metrics.
fn service_monitor(Deployed { name, namespace, .. }: &Deployed<'_>) -> String {
    format!(
        "apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
{}spec:
  selector:
    matchLabels:
{}  endpoints:
    - port: https
      scheme: https
      path: /metrics
      bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
      tlsConfig:
        # The certificate is self-signed.
        insecureSkipVerify: true
",
        metadata(name, Some(namespace)),
        labels(name, 6)
    )
}
