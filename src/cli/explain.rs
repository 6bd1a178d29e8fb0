//! `schedc explain`

use clap::Args;
use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::handle::Handle;
use schedc_core::profile::Bundle;
use schedc_objects::{Objects, Sourced};

use super::failure::Failure;
use super::objects;
use super::output::{self, Format};
use super::tables::explanation::table;
use super::validate;
use crate::cluster::scheduler_name;
use crate::explanation::{Options, explain};

/// Tell where a pod would go and why, node by node
///
/// For every node either the plugin that rejects it with its reasons, or every plugin's score: raw, normalised to
/// 0..=100, and weighted. The nodes hold the pods that are bound to them; other pending pods are placed first with
/// --after only. A pod that is bound already is explained as if it had no node yet.
#[derive(Args)]
pub(crate) struct Explain {
    /// The pod: NAME, or NAMESPACE/NAME if the name is not unique
    #[arg(value_name = "POD")]
    pod: String,

    #[command(flatten)]
    input: objects::Input,

    /// Place the other pending pods first, as far as `schedc simulate` tries them before this one
    ///
    /// The result is that of `schedc simulate` for this pod. If the pod is tried several times, its last attempt is explained.
    #[arg(long)]
    after: bool,

    /// Which of several equally good nodes is drawn: the same number, the same node as of `schedc simulate`
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,

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
        let objects = self.input.load::<B>()?;
        validate::warn(&objects.ignored);
        let subject = find(&objects, &self.pod)?;
        let pod = &objects.pods[subject].object;
        let name = name_of(pod);
        let Some(profile) = deciders.routes.profile_of(pod) else {
            return Err(Failure::new(format_args!(
                "pod {name} asks for scheduler `{}`, which is none of the profiles; choose one with --profile",
                scheduler_name(pod)
            )));
        };
        let options = Options {
            routes: deciders.routes,
            profile,
            seed: self.seed,
            after: self.after,
            all_filters: self.all_filters,
            extenders: deciders.extenders,
        };
        let explanation = match &deciders.interpreted {
            None => explain(B::new, objects, subject, options)?,
            Some(profiles) => explain(|handle: &Handle| profiles.start(handle), objects, subject, options)?,
        };
        let waits_for_none = || Failure::new(format_args!("pod {name} does not wait for a scheduler"));
        let explanation = explanation.ok_or_else(waits_for_none)?;
        objects::note_uncounted(&explanation.budgets);
        output::print(self.output, &explanation, table)
    }
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
