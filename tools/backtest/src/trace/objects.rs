//! Nodes and pods of traces.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_bounds::text::shortened;
use schedc_core::quantity::Quantity;
use schedc_objects::default::Admission;
use schedc_objects::{AnyObject, Kinds, ObjectReader, SourceLocation, Sourced, Validation};
use serde_json::{Map, Value, json};

use super::TraceError;
use super::mapping::{Amount, NodeMapping, Owner, PodMapping};
use super::rows::Row;
use crate::workload::{TemplateId, Workload};

/// Default amount of `pods` of a node: that of the kubelet.
const DEFAULT_PODS: &str = "110";

/// Creates the objects of a trace.
pub(super) struct ObjectBuilder {
    workload: Workload,
    reader: ObjectReader,
    admission: Admission,
    templates: HashMap<String, TemplateId>,
    namespaces: HashSet<String>,
    nodes: HashSet<String>,
    pods: HashSet<Arc<str>>,
}

impl Default for ObjectBuilder {
    fn default() -> Self {
        ObjectBuilder {
            workload: Workload::default(),
            reader: ObjectReader::new(Kinds::default(), Validation::Strict),
            admission: Admission::default(),
            templates: HashMap::new(),
            namespaces: HashSet::new(),
            nodes: HashSet::new(),
            pods: HashSet::new(),
        }
    }
}

impl ObjectBuilder {
    /// Adds a node.
    pub(super) fn node(&mut self, mapping: &NodeMapping, row: &Row<'_>) -> Result<(), TraceError> {
        let name = name(row.text(&mapping.name)?, row)?;
        let mut labels = texts(&mapping.labels, row)?;
        labels.entry("kubernetes.io/hostname".to_owned()).or_insert_with(|| name.clone().into());
        let mut allocatable = amounts(&mapping.allocatable, row)?;
        allocatable.entry("pods".to_owned()).or_insert_with(|| DEFAULT_PODS.into());
        let node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "status": {"capacity": allocatable, "allocatable": allocatable},
        });
        if !self.nodes.insert(name.clone()) {
            return Err(row.error(format_args!(
                "there are two nodes `{name}`; make names unique, for example with `{{index}}`, the number of the row"
            )));
        }
        let object = self.read("Node", node, row)?;
        self.workload.objects.push(object);
        Ok(())
    }

    /// Adds a pod. Returns its name with its namespace, and its template.
    pub(super) fn pod(&mut self, mapping: &PodMapping, row: &Row<'_>) -> Result<(Arc<str>, TemplateId), TraceError> {
        let name = name(row.text(&mapping.name)?, row)?;
        let namespace = match &mapping.namespace {
            Some(namespace) => self::name(row.text(namespace)?, row)?,
            None => "default".to_owned(),
        };
        let key: Arc<str> = format!("{namespace}/{name}").into();
        if !self.pods.insert(key.clone()) {
            return Err(row.error(format_args!(
                "there are two pods `{key}`; make names unique, for example with `{{index}}`, the number of the row"
            )));
        }
        if self.namespaces.insert(namespace.clone()) {
            let object = json!({
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": namespace, "labels": {"kubernetes.io/metadata.name": namespace}},
            });
            let object = self.read("Namespace", object, row)?;
            self.workload.objects.push(object);
        }
        let pod = pod(mapping, &namespace, row)?;
        let text = pod.to_string();
        if let Some(template) = self.templates.get(&text) {
            return Ok((key, *template));
        }
        let AnyObject::Pod(object) = self.read("Pod", pod, row)? else {
            return Err(row.error("the object is not a pod"));
        };
        let template = self.workload.add_template(ApiPod::clone(&object));
        self.templates.insert(text, template);
        Ok((key, template))
    }

    /// Returns whether there is a node.
    pub(super) fn has_nodes(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Returns the workload with the nodes, the namespaces and the pod templates, but without pods.
    pub(super) fn finish(self) -> Workload {
        self.workload
    }

    /// Reads an object as an API server does.
    fn read(&mut self, kind: &str, value: Value, row: &Row<'_>) -> Result<AnyObject, TraceError> {
        let object = self.reader.read("v1", kind, value).map_err(|errors| {
            let errors: Vec<String> = errors.iter().take(3).map(ToString::to_string).collect();
            row.error(errors.join("; "))
        })?;
        let object = object.ok_or_else(|| row.error("schedulers ignore this kind"))?;
        let line = u32::try_from(row.line).unwrap_or(u32::MAX);
        let place = SourceLocation { file: row.file.clone(), line, item: None };
        let (mut object, mut problems) = (Sourced { object, place }, Vec::new());
        self.admission.admit(&mut object, &mut problems);
        match problems.first() {
            None => Ok(object.object),
            Some(problem) => {
                let field = problem.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
                Err(row.error(format_args!("{field}{}", problem.message)))
            }
        }
    }
}

/// Returns a pod with a placeholder name, so that pods of one template are equal.
fn pod(mapping: &PodMapping, namespace: &str, row: &Row<'_>) -> Result<Value, TraceError> {
    let requests = amounts(&mapping.requests, row)?;
    let mut spec: Map<String, Value> = mapping.spec.clone().into_iter().collect();
    // An extended resource needs a limit that equals its request.
    let extended = requests.iter().filter(|(name, _)| name.contains('/'));
    let limits: Map<String, Value> = extended.map(|(name, amount)| (name.clone(), amount.clone())).collect();
    let container = json!({"name": "main", "image": "trace", "resources": {"requests": requests, "limits": limits}});
    spec.insert("containers".to_owned(), json!([container]));
    if let Some(priority) = mapping.priority.as_ref().map(|text| row.text(text)).transpose()?.flatten() {
        let priority: i32 = priority.parse().map_err(|_| {
            row.error(format_args!("the priority `{}` is not a whole number", shortened(&priority, 100)))
        })?;
        spec.insert("priority".to_owned(), priority.into());
    }
    let mut expressions = Vec::new();
    for (key, text) in &mapping.node_labels {
        if let Some(values) = row.text(text)? {
            let values: Vec<&str> = values.split('|').map(str::trim).filter(|value| !value.is_empty()).collect();
            expressions.push(json!({"key": key, "operator": "In", "values": values}));
        }
    }
    if !expressions.is_empty() {
        let term = json!({"nodeSelectorTerms": [{"matchExpressions": expressions}]});
        spec.insert(
            "affinity".to_owned(),
            json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}),
        );
    }
    let mut metadata = json!({"name": "trace", "namespace": namespace, "labels": texts(&mapping.labels, row)?});
    let owner = match mapping.owner {
        Owner::None => None,
        Owner::Job => Some(("batch/v1", "Job")),
        Owner::ReplicaSet => Some(("apps/v1", "ReplicaSet")),
    };
    if let Some((api_version, kind)) = owner {
        metadata["ownerReferences"] =
            json!([{"apiVersion": api_version, "kind": kind, "name": "trace", "uid": "trace", "controller": true}]);
    }
    Ok(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}))
}

/// Returns the name of an object in lower case, if it is valid.
fn name(name: Option<String>, row: &Row<'_>) -> Result<String, TraceError> {
    let name = name.ok_or_else(|| row.error("the name is empty"))?.to_lowercase();
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_valid = name.len() <= 253
        && name.chars().all(|c| is_inner(c) || c == '-' || c == '.')
        && name.starts_with(is_inner)
        && name.ends_with(is_inner);
    if !is_valid {
        return Err(row.error(format_args!(
            "`{}` is not a name: use letters, digits, `-` and `.`, such as `pod-{{index}}`",
            shortened(&name, 100)
        )));
    }
    Ok(name)
}

/// Replaces the columns in each text by the values of the row. Omits a text if the value of a column is empty.
fn texts(texts: &BTreeMap<String, super::text::Text>, row: &Row<'_>) -> Result<Map<String, Value>, TraceError> {
    let mut non_empty = Map::new();
    for (key, text) in texts {
        if let Some(value) = row.text(text)? {
            non_empty.insert(key.clone(), value.into());
        }
    }
    Ok(non_empty)
}

/// Replaces the columns in each amount by the values of the row. Omits an amount if the value of a column is empty, or
/// if the amount is 0.
fn amounts(amounts: &BTreeMap<String, Amount>, row: &Row<'_>) -> Result<Map<String, Value>, TraceError> {
    let mut non_empty = Map::new();
    for (resource, amount) in amounts {
        let text = match amount {
            Amount::Quantity(text) => row.text(text)?,
            Amount::Product(factors) => {
                let factors: Result<Vec<_>, _> = factors.iter().map(|factor| row.text(factor)).collect();
                match factors?.into_iter().collect::<Option<Vec<String>>>() {
                    Some(factors) => Some(product(resource, &factors, row)?),
                    None => None,
                }
            }
        };
        let Some(text) = text else { continue };
        if !quantity(resource, &text, row)?.is_zero() {
            non_empty.insert(resource.clone(), text.into());
        }
    }
    Ok(non_empty)
}

fn quantity(resource: &str, text: &str, row: &Row<'_>) -> Result<Quantity, TraceError> {
    match Quantity::parse(text) {
        Ok(quantity) if !quantity.is_negative() => Ok(quantity),
        Ok(_) => Err(row.error(format_args!("{resource}: `{}` is negative", shortened(text, 100)))),
        Err(_) => {
            Err(row
                .error(format_args!("{resource}: `{}` is not a quantity such as 1500m or 4Gi", shortened(text, 100))))
        }
    }
}

/// Returns the product of quantities: thousandths of a core for cpu, otherwise whole units, rounded up.
fn product(resource: &str, factors: &[String], row: &Row<'_>) -> Result<String, TraceError> {
    let mut product = if resource == "cpu" { 1000.0 } else { 1.0 };
    for factor in factors {
        product *= quantity(resource, factor, row)?.as_f64();
    }
    // Products of decimal fractions may be slightly above whole numbers.
    let rounded = (product * (1.0 - 1e-12)).ceil();
    if !(0.0..=9e15).contains(&rounded) {
        return Err(row.error(format_args!("{resource}: the product {} is too large", factors.join(" × "))));
    }
    let unit = if resource == "cpu" { "m" } else { "" };
    Ok(format!("{}{unit}", rounded as i64))
}
