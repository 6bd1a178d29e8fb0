//! Loads profiles from files.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use schedc_codegen::plan::{self, Plan, Point};
use schedc_codegen::source::Files;
use schedc_codegen::{Compilation, Diagnostics, Options};
use schedc_core::args::{Node, Value};
use schedc_core::engine::Engine;
use schedc_core::erased::AnyBundle;
use schedc_core::handle::Handle;
use schedc_core::profile::{Budget, PointInfo, ProfileInfo, StartError, StartErrors};

use crate::bundle::Profiles;
use crate::plugins;
use crate::steps::{Pipeline, Steps};

/// The crate of the in-tree plugins. Plugins of other crates are not available.
const IN_TREE_CRATE: &str = "schedc_plugins";

/// Valid profiles.
#[derive(Clone, Debug)]
pub struct Interpretation {
    compilation: Compilation,
    infos: &'static [ProfileInfo],
    /// The arguments of each plugin of each profile. They stay in memory until the program ends.
    args: Vec<Vec<Node>>,
}

/// Reason why profiles cannot be interpreted.
#[derive(Debug)]
pub enum InterpretError {
    /// The profiles are invalid.
    Invalid(Diagnostics),
    /// A plugin belongs to another crate than the in-tree plugins.
    OutOfTree {
        /// The profile's file.
        profile: String,
        /// The plugin.
        plugin: String,
        /// The plugin's crate.
        crate_name: String,
    },
    /// A profile has extenders.
    Extenders {
        /// Its file.
        profile: String,
    },
}

impl fmt::Display for InterpretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InterpretError::Invalid(diagnostics) => diagnostics.fmt(f),
            InterpretError::OutOfTree { profile, plugin, crate_name } => write!(
                f,
                "{profile}: plugin {plugin} of crate {crate_name} is not compiled into this program, so the profile cannot be \
                 interpreted; compile it with a build script or `profile!` in a crate that depends on {crate_name}"
            ),
            InterpretError::Extenders { profile } => write!(
                f,
                "{profile}: a profile with extenders cannot be interpreted; compile it, or leave [[extender]] out to try the rest"
            ),
        }
    }
}

impl std::error::Error for InterpretError {}

impl From<Diagnostics> for InterpretError {
    fn from(diagnostics: Diagnostics) -> Self {
        InterpretError::Invalid(diagnostics)
    }
}

impl Interpretation {
    /// Loads and checks profiles, which become one scheduler.
    ///
    /// # Errors
    /// Returns all errors of the profiles, as in `schedc check`. If there are none, returns an error for a plugin that
    /// is unavailable or a profile that has extenders.
    pub fn load(profiles: &[PathBuf], options: &Options) -> Result<Self, InterpretError> {
        Self::of(schedc_codegen::load(profiles, options)?)
    }

    /// Uses profiles that were already loaded and checked.
    ///
    /// # Errors
    /// Returns an error if a plugin is unavailable or a profile has extenders.
    pub fn of(compilation: Compilation) -> Result<Self, InterpretError> {
        for plan in &compilation.plans {
            if !plan.extenders.is_empty() {
                return Err(InterpretError::Extenders { profile: plan.path.clone() });
            }
            if let Some(plugin) = plan.plugins.iter().find(|plugin| plugin.entry.crate_name != IN_TREE_CRATE) {
                let (plugin, crate_name) = (plugin.entry.name.clone(), plugin.entry.crate_name.clone());
                return Err(InterpretError::OutOfTree { profile: plan.path.clone(), plugin, crate_name });
            }
        }
        let infos: Vec<ProfileInfo> = compilation.plans.iter().map(info).collect();
        let Compilation { plans, files, .. } = &compilation;
        let args_of = |plan: &Plan| -> Vec<Node> {
            plan.plugins.iter().map(|plugin| arguments(files, &plan.path, plugin.args.as_ref())).collect()
        };
        let args = plans.iter().map(args_of).collect();
        Ok(Interpretation { infos: infos.leak(), args, compilation })
    }

    /// Returns the descriptions of the profiles, in order.
    pub fn profiles(&self) -> &'static [ProfileInfo] {
        self.infos
    }

    /// Returns the profiles, for commands and drivers.
    pub fn bundle(self) -> AnyBundle {
        let profiles = self.infos;
        let interpretation = Arc::new(self);
        let for_clusters = interpretation.clone();
        AnyBundle::with_factory(profiles, move |handle| interpretation.start(handle))
            .with_cluster_factory(move |handle| for_clusters.start(handle))
    }

    /// Creates every plugin of every profile.
    ///
    /// # Errors
    /// Returns all plugins that failed to start.
    pub fn start(&self, handle: &Handle) -> Result<Profiles, StartErrors> {
        let mut errors = Vec::new();
        let mut engines = Vec::new();
        for profile in 0..self.infos.len() {
            match self.engine(profile, handle) {
                Ok(engine) => engines.push(engine),
                Err(failed) => errors.extend(failed),
            }
        }
        if errors.is_empty() { Ok(Profiles::of(engines, self.infos)) } else { Err(errors.into()) }
    }

    /// Creates every plugin of the profile at an index of [`Interpretation::profiles`].
    ///
    /// # Errors
    /// Returns all plugins that failed to start.
    pub fn engine(&self, profile: usize, handle: &Handle) -> Result<Engine<Pipeline>, StartErrors> {
        let (plan, info) = (&self.compilation.plans[profile], &self.infos[profile]);
        let (mut plugins, mut errors) = (Vec::new(), Vec::new());
        for (plugin, args) in plan.plugins.iter().zip(&self.args[profile]) {
            match plugins::make(&plugin.entry.name, args, handle) {
                Some(Ok(plugin)) => plugins.push(plugin),
                Some(Err(error)) => errors.push(error),
                None => errors.push(StartError {
                    plugin: String::leak(plugin.entry.name.clone()),
                    reason: "it is not in this program".to_owned(),
                }),
            }
        }
        if errors.is_empty() {
            Ok(Engine::from_plugins(Pipeline::of(Steps::of(plan, plugins, info))))
        } else {
            Err(errors.into())
        }
    }
}

/// Returns the arguments of a plugin with their locations; an empty table if the profile has no arguments for it.
fn arguments(files: &Files, path: &str, written: Option<&plan::Node>) -> Node {
    let file = String::leak(path.to_owned());
    match written {
        Some(node) => tree(files, file, node),
        None => Node { file, line: 1, column: 1, value: Value::Table(&[]) },
    }
}

fn tree(files: &Files, file: &'static str, node: &plan::Node) -> Node {
    let value = match &node.value {
        plan::Value::Bool(value) => Value::Bool(*value),
        plan::Value::Int(value) => Value::Int(*value),
        plan::Value::Str(value) => Value::leaked_str(value),
        plan::Value::List(entries) => {
            Value::leaked_list(entries.iter().map(|entry| tree(files, file, entry)).collect())
        }
        plan::Value::Table(fields) => {
            let field = |field: &plan::Field| (field.key.value.clone(), tree(files, file, &field.value));
            Value::leaked_table(fields.iter().map(field))
        }
    };
    let at = files.location(node.span);
    Node { file, line: at.line as u32, column: at.column as u32, value }
}

/// Returns the description that generated code contains in constants.
fn info(plan: &Plan) -> ProfileInfo {
    let points = Point::ALL.into_iter().filter(|point| !plan.points[*point].is_empty()).map(|point| {
        let weighted = |step: &plan::Step| step.weight.as_ref().map(|weight| weight.value);
        let plugins = plan.at(point).map(|(step, plugin)| (leaked(&plugin.entry.name), weighted(step)));
        PointInfo { point: point.name(), plugins: plugins.collect::<Vec<_>>().leak() }
    });
    let args = plan.plugins.iter().filter_map(|plugin| {
        let args = plugin.args.as_ref()?;
        Some((leaked(&plugin.entry.name), leaked(&args.to_json().to_string())))
    });
    let plan::Budget {
        nanoseconds_per_node,
        instructions_per_decision,
        allocations_per_decision,
        bytes_per_node,
        binary_size,
    } = plan.budget;
    ProfileInfo {
        name: leaked(&plan.stem),
        source: leaked(&plan.path),
        scheduler_name: leaked(&plan.scheduler_name.value),
        percentage_of_nodes_to_score: plan.percentage_of_nodes_to_score.value,
        pod_initial_backoff_seconds: plan.pod_initial_backoff_seconds.value,
        pod_max_backoff_seconds: plan.pod_max_backoff_seconds.value,
        budget: Budget {
            nanoseconds_per_node,
            instructions_per_decision,
            allocations_per_decision,
            bytes_per_node,
            binary_size,
        },
        points: points.collect::<Vec<_>>().leak(),
        extenders: &[],
        args: args.collect::<Vec<_>>().leak(),
    }
}

fn leaked(text: &str) -> &'static str {
    String::leak(text.to_owned())
}
