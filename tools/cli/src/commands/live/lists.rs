//! Lists of a cluster's objects.

use std::path::Path;
use std::sync::Arc;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget};
use schedc_core::erased::AnyBundle;
use schedc_kubernetes::connect::Target;
use schedc_kubernetes::list::{ListError, list};
use schedc_kubernetes::resources::{PRIORITY_CLASSES, RESOURCES, Resource};
use serde_json::Value;
use tokio::runtime::Builder;

use super::UsedKinds;
use crate::commands::failure::Failure;
use crate::commands::{output, run};

/// Returns the kinds to read. Pods come first: a list that is read later contains the nodes or claims that the pods name.
/// PriorityClasses come last.
pub(super) fn resources(bundle: &AnyBundle, kinds: UsedKinds) -> Result<Vec<&'static Resource>, Failure> {
    let mut resources = match kinds {
        UsedKinds::Compiled => run::kinds(bundle)?,
        UsedKinds::All => {
            let declared = bundle.kinds.iter().map(Resource::declared_static);
            RESOURCES.iter().filter(|resource| resource.is_watched()).chain(declared).collect()
        }
    };
    resources.sort_by_key(|resource| resource.kind != "Pod");
    resources.push(&PRIORITY_CLASSES);
    Ok(resources)
}

/// Reads all objects of these kinds. Calls `each` for each object with the address of its list, its index in the list, and
/// its JSON.
pub(super) fn read(
    kubeconfig: Option<&Path>,
    context: Option<&str>,
    resources: &[&'static Resource],
    mut each: impl FnMut(&Arc<str>, usize, Value),
) -> Result<(), Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(format_args!("cannot start the runtime: {error}")))?;
    runtime.block_on(async {
        let target = Target::of_user(kubeconfig, context)?;
        let server = target.server().to_string();
        let (http, refresher) = target.http().await?;
        let refresher = tokio::spawn(refresher.run());
        let mut progress = Progress::new();
        for resource in resources {
            let source: Arc<str> = format!("{}{}", server.trim_end_matches('/'), resource.all()).into();
            let mut count = 0;
            let request = list(&http, resource, |items: Vec<Value>| {
                for item in items {
                    each(&source, count, with_type(item, resource));
                    count += 1;
                }
                progress.show(resource, count);
            });
            match request.await {
                Ok(_) => {}
                // The server is older than the kind, or the kind is disabled. Every server has the core kinds: their absence is an
                // error.
                Err(ListError::NotServed) if !resource.group().is_empty() => {}
                // Existing pods contain their priority; only new pods need the classes. kube-scheduler's role may not
                // list classes.
                Err(ListError::Forbidden(_)) if *resource == &PRIORITY_CLASSES => {
                    output::note("priority classes are not read, because the user may not list them");
                }
                Err(error) => return Err(Failure::new(format_args!("{source}: {error}"))),
            }
        }
        refresher.abort();
        Ok(())
    })
}

/// Adds `apiVersion` and `kind`, which list items omit, and removes `managedFields`, which scheduling ignores.
fn with_type(mut item: Value, resource: &Resource) -> Value {
    if let Some(fields) = item.as_object_mut() {
        let kind = resource.custom.map_or(resource.kind, |custom| custom.kind);
        fields.insert("apiVersion".to_owned(), resource.api_version.into());
        fields.insert("kind".to_owned(), kind.into());
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
    }
    item
}

/// A line on standard error with the number of objects. It is hidden if standard error is not a terminal.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new() -> Self {
        Progress { bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()) }
    }

    fn show(&mut self, resource: &Resource, count: usize) {
        self.bar.set_message(format!("reading {}: {}", resource.plural, HumanCount(count as u64)));
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
