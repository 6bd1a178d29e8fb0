//! The objects that run a scheduler. Plain manifests, Helm charts and kustomize bases are generated from the same templates.

use super::rights::Rights;
use super::template::{Parameters, TemplateForm, Value};

/// A scheduler to deploy. Names are validated and need no quotes in YAML. The image is quoted, because `5`
/// would be a number.
pub(super) struct Deployed<'a> {
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
    pub(super) image: &'a str,
    pub(super) replicas: u32,
    /// Namespace and name of the lease, if they differ from those of the objects.
    pub(super) lease: Option<(&'a str, &'a str)>,
    pub(super) has_service_monitor: bool,
    pub(super) scheduler_names: &'a [String],
    pub(super) rights: &'a Rights,
}

/// A file with related objects.
pub(super) struct File {
    /// File name.
    pub(super) name: String,
    template: &'static str,
    parameters: Parameters,
    /// Chart value that enables the objects; `None` if a chart always has them.
    switch: Option<&'static str>,
}

/// Default resource requests of the container; they suffice for small clusters.
const RESOURCES: &str = "requests:\n  cpu: 20m\n  memory: 32Mi\n";

/// Default tolerations: the scheduler can run on control-plane nodes.
const TOLERATIONS: &str = "- key: node-role.kubernetes.io/control-plane\n  operator: Exists\n  effect: NoSchedule\n";

impl File {
    /// Returns the objects for `kubectl apply`.
    pub(super) fn objects(&self) -> String {
        self.parameters.render(self.template, TemplateForm::Objects)
    }

    /// Returns the template of the chart.
    pub(super) fn chart(&self) -> String {
        let template = self.parameters.render(self.template, TemplateForm::Chart);
        match self.switch {
            None => template,
            Some(switch) => format!("{{{{- if .Values.{switch} }}}}\n{template}{{{{- end }}}}\n"),
        }
    }
}

impl Deployed<'_> {
    /// Returns the files of all objects, in the order in which `kubectl apply` creates them.
    pub(super) fn files(&self) -> Vec<File> {
        let mut files = self.common_files();
        files.extend(self.has_service_monitor.then(|| self.service_monitor()));
        files
    }

    /// Returns the files of all objects of a chart. Chart values enable the Service and the ServiceMonitor.
    pub(super) fn chart_files(&self) -> Vec<File> {
        let mut files = self.common_files();
        files.push(self.service_monitor());
        files
    }

    /// Returns the files of all objects except the Service and the ServiceMonitor.
    fn common_files(&self) -> Vec<File> {
        let parameters = self.parameters();
        let file = |name: &str, template| File {
            name: format!("{name}.yaml"),
            template,
            parameters: parameters.clone(),
            switch: None,
        };
        let role = |name: &str, template, namespace: &str, rules: String| {
            let mut file = file(name, template);
            file.parameters.constant("rules", Value::Sequence(rules));
            file.parameters.constant("role_namespace", Value::Text(namespace.to_owned()));
            file
        };
        let Rights { everywhere, namespaces } = self.rights;
        let mut files = vec![
            File {
                switch: Some("serviceAccount.create"),
                ..file("service-account", include_str!("objects/service-account.yaml"))
            },
            role("cluster-role", include_str!("objects/cluster-role.yaml"), "", everywhere.yaml()),
        ];
        files.extend(namespaces.iter().map(|(namespace, rules)| {
            role(&format!("role-{namespace}"), include_str!("objects/role.yaml"), namespace, rules.yaml())
        }));
        files.extend([
            File {
                switch: Some("leaderElection.enabled"),
                ..file("leader-election", include_str!("objects/leader-election.yaml"))
            },
            file("authentication", include_str!("objects/authentication.yaml")),
            file("deployment", include_str!("objects/deployment.yaml")),
            file("pod-disruption-budget", include_str!("objects/pod-disruption-budget.yaml")),
        ]);
        files
    }

    fn service_monitor(&self) -> File {
        File {
            name: "service-monitor.yaml".to_owned(),
            template: include_str!("objects/service-monitor.yaml"),
            parameters: self.parameters(),
            switch: Some("serviceMonitor.enabled"),
        }
    }

    /// Returns the parameters of all object templates.
    pub(super) fn parameters(&self) -> Parameters {
        let text = |text: &str| Value::Text(text.to_owned());
        let mapping = |lines: &str| Value::Mapping(lines.to_owned());
        let sequence = |lines: &str| Value::Sequence(lines.to_owned());
        let Deployed { name, namespace, .. } = *self;
        let include = |helper: &str| format!("include \"{name}.{helper}\" .");
        let labels = format!("app.kubernetes.io/name: schedc\napp.kubernetes.io/instance: {name}\n");
        let (lease_namespace, lease) = self.lease.unwrap_or((namespace, name));
        let mut parameters = Parameters::default();

        parameters.computed("name", text(name), include("fullname"));
        parameters.computed("namespace", text(namespace), ".Release.Namespace");
        parameters.computed("labels", mapping(&labels), include("labels"));
        parameters.computed("service_account", text(name), include("serviceAccountName"));
        parameters.computed("image", text(self.image), include("image"));
        parameters.computed("replicas", text(&self.replicas.to_string()), ".Values.replicas");
        parameters.computed("leader_elect", text("true"), ".Values.leaderElection.enabled");
        parameters.computed("lease_namespace", text(lease_namespace), include("leaseNamespace"));
        parameters.computed("lease_name", text(lease), include("leaseName"));
        parameters.computed("pod_labels", mapping(&labels), include("podLabels"));

        parameters.optional("service_account_annotations", mapping(""), ".Values.serviceAccount.annotations");
        parameters.optional("pod_annotations", mapping(""), ".Values.podAnnotations");
        parameters.optional("image_pull_policy", text(""), ".Values.image.pullPolicy");
        parameters.optional("image_pull_secrets", sequence(""), ".Values.image.pullSecrets");
        parameters.optional("priority_class_name", text("system-cluster-critical"), ".Values.priorityClassName");
        parameters.optional("extra_args", sequence(""), ".Values.extraArgs");
        parameters.optional("resources", mapping(RESOURCES), ".Values.resources");
        parameters.optional("node_selector", mapping(""), ".Values.nodeSelector");
        parameters.optional("tolerations", sequence(TOLERATIONS), ".Values.tolerations");
        parameters.optional("affinity", mapping(""), ".Values.affinity");
        parameters
    }

    /// Returns the `schedulerName` values of the pods that the scheduler serves, separated by commas.
    pub(super) fn scheduler_name_list(&self) -> String {
        self.scheduler_names.join(", ")
    }
}

/// Returns all objects as one text.
pub(super) fn text(deployed: &Deployed<'_>) -> String {
    let documents: Vec<String> = deployed.files().iter().map(File::objects).collect();
    format!(
        "# A scheduler for pods whose schedulerName is {}.\n{}",
        deployed.scheduler_name_list(),
        documents.join("---\n")
    )
}
