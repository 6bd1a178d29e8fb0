//! `schedc explain`

use std::sync::Arc;

use clap::Args;
use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::handle::Handle;
use schedc_core::profile::{Bundle, StartError};
use schedc_objects::original::original;
use schedc_objects::{Objects, Sourced, convert_pod};

use super::failure::Failure;
use super::objects::{self, Deciders};
use super::output::{self, Format};
use super::tables::explanation::table;
use super::validate;
use crate::budgets::{Budgets, Status};
use crate::cluster::{self, Cluster, scheduler_name};
use crate::explanation::Explanation;

/// Tell where a pod would go and why, node by node
///
/// For every node either the plugin that rejects it with its reasons, or every plugin's score: raw, normalised to
/// 0..=100, and weighted. The nodes hold the pods that are bound to them; pending pods are not placed first. A pod that
/// is bound already is explained as if it had no node yet.
#[derive(Args)]
pub(crate) struct Explain {
    /// The pod: NAME, or NAMESPACE/NAME if the name is not unique
    #[arg(value_name = "POD")]
    pod: String,

    #[command(flatten)]
    input: objects::Input,

    /// Show every plugin that rejects a node, not the first alone
    #[arg(long)]
    all_filters: bool,

    /// How to print the result
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: Format,
}

impl Explain {
    pub(crate) fn run<B: Bundle>(self) -> Result<(), Failure> {
        let deciders = self.input.deciders::<B>()?;
        let mut objects = self.input.load::<B>()?;
        validate::warn(&objects.ignored);
        let at = find(&objects, &self.pod)?;
        let subject = as_pending(&objects.pods.remove(at).object);
        let all = self.all_filters;
        let explanation = match &deciders.interpreted {
            None => explain(B::new, objects, &subject, &deciders, all)?,
            Some(profiles) => explain(|handle: &Handle| profiles.start(handle), objects, &subject, &deciders, all)?,
        };
        output::print(self.output, &explanation, table)
    }
}

fn explain<B: Bundle>(
    make: impl FnOnce(&Handle) -> Result<B, Vec<StartError>>,
    objects: Objects,
    subject: &ApiPod,
    deciders: &Deciders,
    all_filters: bool,
) -> Result<Explanation, Failure> {
    let Deciders { routes, extenders, .. } = deciders;
    let Some(profile) = routes.profile_of(subject) else {
        return Err(Failure::new(format_args!(
            "pod {} asks for scheduler `{}`, which is none of the profiles; choose one with --profile",
            name_of(subject),
            scheduler_name(subject)
        )));
    };
    let Cluster { mut simulator, .. } = Cluster::new(make, cluster::objects(objects), routes, 0, extenders, ())?;
    simulator.inform();
    let scheduler = &mut simulator.scheduler;
    objects::note_uncounted(&Status::all(&simulator.server));
    let mut budgets = Budgets::default();
    for budget in simulator.server.list("PodDisruptionBudget") {
        budgets.set(budget, &mut scheduler.cache.base.interner);
    }
    let pod = Arc::new(convert_pod(subject, &mut scheduler.cache.base.interner));
    if B::ORIGINALS.waiting_pods {
        scheduler.cache.base.originals.set_pod(&pod.uid, original(&subject.clone().into()));
    }
    let found = scheduler.explain(profile, &pod, all_filters);
    let base = &scheduler.cache.base;
    Ok(Explanation::new(&pod, routes.profiles()[profile].name, found, &budgets, base))
}

/// The pod as it was before it had a node.
fn as_pending(pod: &ApiPod) -> ApiPod {
    let mut pod = pod.clone();
    if let Some(spec) = &mut pod.spec
        && spec.node_name.take().is_some()
        && let Some(status) = &mut pod.status
    {
        status.nominated_node_name = None;
    }
    pod
}

/// The index of the pod of that name.
fn find(objects: &Objects, wanted: &str) -> Result<usize, Failure> {
    let (namespace, name) = match wanted.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, wanted),
    };
    let fits = |pod: &Sourced<ApiPod>| {
        let metadata = &pod.object.metadata;
        metadata.name.as_deref() == Some(name)
            && namespace.is_none_or(|namespace| namespace == namespace_of(&pod.object))
    };
    let found: Vec<usize> = (0..objects.pods.len()).filter(|&i| fits(&objects.pods[i])).collect();
    match found[..] {
        [only] => Ok(only),
        [] => Err(Failure::new(format_args!("there is no pod `{wanted}` in the input"))),
        _ => {
            let names: Vec<String> = found.iter().map(|&i| name_of(&objects.pods[i].object)).collect();
            Err(Failure::new(format_args!("`{wanted}` may be any of {}; say which", names.join(", "))))
        }
    }
}

fn name_of(pod: &ApiPod) -> String {
    format!("{}/{}", namespace_of(pod), pod.metadata.name.as_deref().unwrap_or_default())
}

fn namespace_of(pod: &ApiPod) -> &str {
    pod.metadata.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default")
}
