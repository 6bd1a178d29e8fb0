//! `schedc manifest`

mod chart;
mod kustomize;
mod objects;
mod rights;
mod template;
mod tree;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, value_parser};
use schedc_codegen::catalog::Write;
use schedc_codegen::{is_dns_subdomain, permissions as needed};
use schedc_core::erased::AnyBundle;
use schedc_core::profile::AccessRule;

use super::failure::Failure;
use super::{output, sources};
use objects::Deployed;
use rights::Rights;

/// Print manifests that run a profile in a cluster, or write a Helm chart or a kustomize base
///
/// The manifests, for `kubectl apply -f -`, are a ServiceAccount, roles, their bindings, a Deployment and a
/// PodDisruptionBudget. The roles have exactly the permissions that this profile's plugins and the scheduler
/// itself need. The image must be built with this profile.
#[derive(Args)]
pub(crate) struct Manifest {
    /// Profiles that the image is built with: names of files in profiles/ or of compiled-in profiles, paths, or
    /// folders [default: all compiled-in profiles]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,

    /// Name of all objects and of the chart [default: `schedc-` and the name of the profile, or `schedc` for
    /// several profiles]
    #[arg(long, value_parser = label)]
    name: Option<String>,

    /// Namespace of the scheduler; a chart uses the namespace of its release instead
    #[arg(long, default_value = "kube-system", value_parser = label)]
    namespace: String,

    /// Image of the scheduler [default: the name of the objects, with the version of this program]
    #[arg(long, value_parser = image)]
    image: Option<String>,

    /// Number of replicas, one of which schedules
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = value_parser!(u32).range(1..))]
    replicas: u32,

    /// Also print a Service and a ServiceMonitor for Prometheus operators
    #[arg(long)]
    service_monitor: bool,

    /// Output form
    #[arg(long, value_enum, default_value = "yaml")]
    format: Format,

    /// Folder for the chart or the base; generated files in it are replaced
    #[arg(short, long, value_name = "FOLDER", required_if_eq_any = [("format", "helm"), ("format", "kustomize")])]
    output_dir: Option<PathBuf>,
}

/// Output forms.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Objects on standard output
    Yaml,
    /// A Helm chart with the settings of this command line as default values
    Helm,
    /// A kustomize base
    Kustomize,
}

/// Default scheduler name of kube-scheduler.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Namespace and name of kube-scheduler's lease.
const KUBE_SCHEDULERS_LEASE: (&str, &str) = ("kube-system", "kube-scheduler");

impl Manifest {
    pub(crate) fn run(self, bundle: &AnyBundle) -> Result<(), Failure> {
        let subject =
            if self.profiles.is_empty() { Subject::compiled_in(bundle) } else { Subject::of(bundle, &self.profiles)? };
        let name = match self.name {
            Some(name) => name,
            None => subject.name()?,
        };
        let image = self.image.unwrap_or_else(|| format!("{name}:{}", env!("CARGO_PKG_VERSION")));
        let replaces_kube_scheduler = subject.scheduler_names.iter().any(|name| name == DEFAULT_SCHEDULER);
        if replaces_kube_scheduler {
            output::warning(
                "kube-scheduler serves default-scheduler, too. This Deployment uses its lease, so only one of them \
                 schedules at a time: stop kube-scheduler first (docs/run/replace-kube-scheduler.md), or give the \
                 profile another scheduler-name",
            );
        }
        let rights = Rights::of(&subject.watches, &subject.kinds, &subject.writes)?;
        let deployed = Deployed {
            name: &name,
            namespace: &self.namespace,
            image: &image,
            replicas: self.replicas,
            lease: replaces_kube_scheduler.then_some(KUBE_SCHEDULERS_LEASE),
            has_service_monitor: self.service_monitor,
            scheduler_names: &subject.scheduler_names,
            rights: &rights,
        };
        match (self.format, self.output_dir.as_deref()) {
            (Format::Yaml, None) => output::print_text(&objects::text(&deployed)),
            (Format::Helm, Some(folder)) => chart::chart(&deployed).write(folder),
            (Format::Kustomize, Some(folder)) => kustomize::base(&deployed).write(folder),
            (Format::Yaml, Some(folder)) => Err(yaml_needs_no_folder(folder)),
            (Format::Helm | Format::Kustomize, None) => Err(Failure::new("--output-dir is missing")),
        }
    }
}

fn yaml_needs_no_folder(folder: &Path) -> Failure {
    Failure::new(format_args!(
        "--format yaml prints to standard output: choose --format helm or kustomize to write into {}",
        folder.display()
    ))
}

/// The profiles of one scheduler.
struct Subject {
    /// Names of the profiles.
    names: Vec<String>,
    scheduler_names: Vec<String>,
    /// Kinds of objects to watch.
    watches: Vec<String>,
    /// Kinds that plugins declare, as groups and resources.
    kinds: Vec<(String, String)>,
    /// Writes of plugins.
    writes: Vec<Write>,
}

impl Subject {
    fn compiled_in(bundle: &AnyBundle) -> Self {
        let profiles = bundle.profiles;
        Subject {
            names: profiles.iter().map(|profile| profile.name.to_owned()).collect(),
            scheduler_names: profiles.iter().map(|profile| profile.scheduler_name.to_owned()).collect(),
            watches: bundle.watches.iter().map(|&kind| kind.to_owned()).collect(),
            kinds: bundle.kinds.iter().map(|kind| (kind.group().to_owned(), kind.plural.to_owned())).collect(),
            writes: bundle.writes.iter().map(write).collect(),
        }
    }

    fn of(bundle: &AnyBundle, profiles: &[PathBuf]) -> Result<Self, Failure> {
        let plans = sources::load(bundle, profiles)?.plans;
        Ok(Subject {
            names: plans.iter().map(|plan| plan.stem.clone()).collect(),
            scheduler_names: plans.iter().map(|plan| plan.scheduler_name.value.clone()).collect(),
            watches: needed::watches(&plans).into_iter().map(str::to_owned).collect(),
            kinds: needed::kinds(&plans)
                .into_iter()
                .map(|kind| (kind.group().to_owned(), kind.resource.clone()))
                .collect(),
            writes: needed::writes(&plans),
        })
    }

    /// Returns the default name of the objects.
    fn name(&self) -> Result<String, Failure> {
        match self.names.as_slice() {
            [only] => {
                label(&format!("schedc-{only}")).map_err(|error| Failure::new(format_args!("{error}: set --name")))
            }
            _ => Ok("schedc".to_owned()),
        }
    }
}

fn write(access: &AccessRule) -> Write {
    Write {
        group: access.group.to_owned(),
        resource: access.resource.to_owned(),
        verbs: access.verbs.iter().map(|&verb| verb.to_owned()).collect(),
        namespace: access.namespace.map(str::to_owned),
    }
}

/// Words that YAML 1.1 or 1.2 parsers do not read as text.
const YAML_VALUES: [&str; 9] = ["false", "n", "no", "null", "off", "on", "true", "y", "yes"];

/// Parses a name that is valid for every object, and as an unquoted text in YAML.
fn label(text: &str) -> Result<String, String> {
    let is_label = is_dns_subdomain(text) && !text.contains('.') && text.len() <= 63;
    let begins_with_letter = text.starts_with(|first: char| first.is_ascii_lowercase());
    if YAML_VALUES.contains(&text) {
        return Err(format!("YAML reads `{text}` as a boolean or null: choose another name"));
    }
    if is_label && begins_with_letter {
        return Ok(text.to_owned());
    }
    Err(format!("`{text}` is not a valid name: use at most 63 lower-case letters, digits and dashes, a letter first"))
}

fn image(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:@".contains(&byte);
    let is_alphanumeric = |letter: char| letter.is_ascii_alphanumeric();
    if text.starts_with(is_alphanumeric) && text.ends_with(is_alphanumeric) && text.bytes().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err(format!("`{text}` is not an image: give one such as registry.example.com/schedc-edge:0.1.0"))
}
