//! The pods of the input that a command selects.

use clap::Args;
use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_codegen::suggest::closest;
use schedc_objects::{Objects, is_finished};

use super::failure::Failure;
use super::label_selector::Selector;

/// Pods by name or by labels.
#[derive(Args)]
pub(crate) struct Pods {
    /// Pod: NAME, or NAMESPACE/NAME if the name is not unique; omitted with --selector
    #[arg(value_name = "POD", required_unless_present = "selector")]
    pod: Option<String>,

    /// Namespace of the pod
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Explain all pods with these labels, such as `app=web,tier in (cache,db),!canary`
    ///
    /// All arguments are then files, and -o json prints an array. Finished pods are omitted.
    #[arg(short = 'l', long, value_name = "SELECTOR", value_parser = Selector::parse)]
    selector: Option<Selector>,
}

impl Pods {
    /// Returns the first argument if a selector is given: the argument is then a file, not the name of a pod.
    pub(crate) fn first_file(&self) -> Option<&str> {
        self.pod.as_deref().filter(|_| self.are_selected())
    }

    /// Returns whether the pods are selected by their labels.
    pub(crate) fn are_selected(&self) -> bool {
        self.selector.is_some()
    }

    /// Returns the indices of the selected pods in `objects.pods`.
    ///
    /// # Errors
    /// Returns an error if no pod is selected, or if a name is ambiguous.
    pub(crate) fn find(&self, objects: &Objects) -> Result<Vec<usize>, Failure> {
        match &self.selector {
            Some(selector) => self.with_labels(selector, objects),
            None => {
                let pod = self.pod.as_deref().unwrap_or_default();
                named(self.namespace.as_deref(), pod, objects).map(|pod| vec![pod])
            }
        }
    }

    fn with_labels(&self, selector: &Selector, objects: &Objects) -> Result<Vec<usize>, Failure> {
        let is_wanted = |pod: &ApiPod| {
            let namespace = self.namespace.as_deref();
            namespace.is_none_or(|namespace| namespace == namespace_of(pod))
                && selector.matches(pod.metadata.labels.as_ref())
                && !is_finished(pod)
        };
        let pods: Vec<usize> = (0..objects.pods.len()).filter(|&i| is_wanted(&objects.pods[i].object)).collect();
        if !pods.is_empty() {
            return Ok(pods);
        }
        let place =
            self.namespace.as_ref().map_or_else(|| "the input".to_owned(), |name| format!("namespace `{name}`"));
        Err(Failure::new(format_args!("no pod in {place} has the labels `{}`", selector.text())))
    }
}

/// Returns the index in `objects.pods` of the pod that `pod` names, as `NAMESPACE/NAME` or `NAME`.
///
/// # Errors
/// Returns an error if there is no such pod, or if the name is ambiguous.
pub(crate) fn named(namespace: Option<&str>, pod: &str, objects: &Objects) -> Result<usize, Failure> {
    let (namespace, name) = match (pod.split_once('/'), namespace) {
        (None, namespace) => (namespace, pod),
        (Some((namespace, name)), None) => (Some(namespace), name),
        (Some((namespace, name)), Some(option)) if namespace == option => (Some(namespace), name),
        (Some(_), Some(option)) => {
            return Err(Failure::new(format_args!(
                "`{pod}` is not in namespace `{option}`: omit one of the namespaces"
            )));
        }
    };
    let is_selected = |pod: &ApiPod| {
        pod.metadata.name.as_deref() == Some(name) && namespace.is_none_or(|namespace| namespace == namespace_of(pod))
    };
    let found: Vec<usize> = (0..objects.pods.len()).filter(|&i| is_selected(&objects.pods[i].object)).collect();
    match found[..] {
        [only] => Ok(only),
        [] => Err(missing(namespace, name, objects)),
        _ => {
            let names: Vec<String> = found.iter().map(|&i| name_of(&objects.pods[i].object)).collect();
            Err(Failure::new(format_args!("`{name}` is ambiguous: use one of {}", names.join(", "))))
        }
    }
}

/// Returns the error for an unknown pod. Suggests a similar name.
fn missing(namespace: Option<&str>, name: &str, objects: &Objects) -> Failure {
    let pods = || objects.pods.iter().map(|pod| &pod.object);
    let similar =
        |candidates: Vec<String>, name: &str| closest(name, candidates.iter().map(String::as_str)).map(str::to_owned);
    let (wanted, suggested) = match namespace {
        None => (name.to_owned(), similar(pods().map(|pod| only_name_of(pod).to_owned()).collect(), name)),
        Some(namespace) => {
            let wanted = format!("{namespace}/{name}");
            let in_namespace = pods().filter(|pod| namespace_of(pod) == namespace).map(name_of).collect();
            let elsewhere = || pods().find(|pod| only_name_of(pod) == name).map(name_of);
            let suggested = similar(in_namespace, &wanted).or_else(elsewhere);
            let suggested = suggested.or_else(|| similar(pods().map(name_of).collect(), &wanted));
            (wanted, suggested)
        }
    };
    let suggestion = suggested.map(|suggested| format!("; did you mean `{suggested}`?")).unwrap_or_default();
    Failure::new(format_args!("there is no pod `{wanted}` in the input{suggestion}"))
}

/// Checks that nodes with these names exist. Suggests similar names.
///
/// # Errors
/// Returns an error with one line for each name without a node.
pub(crate) fn check_nodes<'a>(wanted: &[String], known: impl Iterator<Item = &'a str> + Clone) -> Result<(), Failure> {
    let missing = wanted.iter().filter(|wanted| known.clone().all(|name| name != *wanted));
    let lines = missing.map(|name| {
        let suggestion = closest(name, known.clone()).map(|suggested| format!("; did you mean `{suggested}`?"));
        format!("there is no node `{name}` in the input{}", suggestion.unwrap_or_default())
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { Ok(()) } else { Err(Failure::Message(lines.join("\n"))) }
}

/// Checks that a namespace has pods. Suggests a similar name.
///
/// # Errors
/// Returns an error if it has none.
pub(crate) fn check_namespace<'a>(wanted: &str, known: impl Iterator<Item = &'a str> + Clone) -> Result<(), Failure> {
    if known.clone().any(|namespace| namespace == wanted) {
        return Ok(());
    }
    let suggestion =
        closest(wanted, known).map(|suggested| format!("; did you mean `{suggested}`?")).unwrap_or_default();
    Err(Failure::new(format_args!("no pod of the input is in namespace `{wanted}`{suggestion}")))
}

/// Returns the display name of a pod: `namespace/name`.
pub(crate) fn name_of(pod: &ApiPod) -> String {
    format!("{}/{}", namespace_of(pod), only_name_of(pod))
}

fn only_name_of(pod: &ApiPod) -> &str {
    pod.metadata.name.as_deref().unwrap_or_default()
}

/// Returns the namespace of a pod.
pub(crate) fn namespace_of(pod: &ApiPod) -> &str {
    schedc_objects::namespace(&pod.metadata)
}
