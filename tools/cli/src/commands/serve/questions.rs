//! The questions, and their answers: those of the commands with `-o json`.

use std::time::{Duration, Instant};

use schedc_core::erased::AnyBundle;
use schedc_objects::Objects;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::problem::Problem;
use crate::capacity::{self, InvalidQuestion, capacity, node_pools, prepare};
use crate::cluster::{self, scheduler_name};
use crate::commands::failure::Failure;
use crate::commands::objects::{Input, SchedulerSetup};
use crate::commands::output;
use crate::commands::pods::{self, check_nodes};
use crate::explanation::{self, explain};
use crate::precheck::{PrecheckError, precheck};
use crate::trial;
use crate::workloads::{Replicas, Submission};

/// Maximum number of pods of a question. For `capacity`, the pods that are added to the cluster and to each pool are
/// counted together.
const MAX_PODS: usize = 10_000;
/// Maximum number of pools of a question.
const MAX_POOLS: usize = 31;
/// Maximum number of remedies of a question.
pub(super) const MAX_REMEDIES: u16 = 20;

/// A question of a request.
#[derive(Debug)]
pub(super) enum Question {
    /// `schedc check -f`
    Check(Check),
    /// `schedc explain`
    Explain(Explain),
    /// `schedc capacity`
    Capacity(Capacity),
}

/// Manifests of pods and other objects.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Manifests {
    /// YAML or JSON, with any number of documents.
    Text(String),
    /// Objects.
    Objects(Vec<Value>),
}

/// Would the pods of manifests run?
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Check {
    manifests: Manifests,
    #[serde(default)]
    seed: u64,
}

/// Why does a pod go to its node, or wait?
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Explain {
    pod: String,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    against: Option<String>,
    #[serde(default)]
    after: bool,
    #[serde(default)]
    all_filters: bool,
    #[serde(default = "default_max_remedies")]
    max_remedies: u16,
    #[serde(default)]
    seed: u64,
}

fn default_max_remedies() -> u16 {
    5
}

/// How many more pods fit?
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Capacity {
    manifests: Manifests,
    #[serde(default)]
    ratio: Vec<u16>,
    #[serde(default)]
    max: Option<usize>,
    #[serde(default)]
    pool_label: Option<String>,
    #[serde(default)]
    seed: u64,
}

impl Question {
    /// Parses the body of a request for this path.
    pub(super) fn parse(path: &str, body: &[u8]) -> Result<Question, Problem> {
        match path {
            "/v1/check" => read(body).map(Question::Check),
            "/v1/explain" => read(body).map(Question::Explain),
            _ => read(body).map(Question::Capacity),
        }
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| Problem::new("bad_json", error))
}

impl Manifests {
    /// Returns the manifests as one text. Each object of an array is a document on one line.
    fn text(self) -> String {
        match self {
            Manifests::Text(text) => text,
            Manifests::Objects(objects) => objects.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n"),
        }
    }
}

/// Answers questions about a cluster.
pub(super) struct Answers<'a> {
    bundle: &'a AnyBundle,
    input: &'a Input,
    setup: SchedulerSetup,
    objects: Objects,
    read_at: Instant,
    refresh: Duration,
}

impl<'a> Answers<'a> {
    pub(super) fn new(
        bundle: &'a AnyBundle,
        input: &'a Input,
        setup: SchedulerSetup,
        objects: Objects,
        refresh: Duration,
    ) -> Self {
        Answers { bundle, input, setup, objects, read_at: Instant::now(), refresh }
    }

    /// Returns the answer as JSON. Reads the cluster again first if `refresh` has passed since it was read.
    pub(super) fn answer(&mut self, question: Question) -> Result<String, Problem> {
        if self.read_at.elapsed() >= self.refresh {
            self.objects = self.input.load(self.bundle).map_err(|failure| problem("unavailable", failure))?;
            self.read_at = Instant::now();
        }
        let answer = match question {
            Question::Check(question) => self.check(question),
            Question::Explain(question) => self.explain(question),
            Question::Capacity(question) => self.capacity(question),
        };
        Ok(answer? + "\n")
    }

    fn check(&self, Check { manifests, seed }: Check) -> Result<String, Problem> {
        let submission = self.submission(manifests)?;
        let pods = |workload: &crate::workloads::SubmittedWorkload| match workload.replicas {
            Replicas::Number(number) => number,
            Replicas::EachNode => self.objects.nodes.len(),
        };
        let number = submission.workloads.iter().fold(0_usize, |sum, workload| sum.saturating_add(pods(workload)));
        if number > MAX_PODS {
            return Err(Problem::new("too_many_pods", format_args!("{number} pods; the maximum is {MAX_PODS}")));
        }
        let found = precheck(&self.setup.bundle, self.objects.clone(), submission, &self.options(seed));
        let found = found.map_err(|error| match error {
            PrecheckError::Start(errors) => Problem::new("unavailable", errors),
            PrecheckError::Manifests(error) => Problem::new("bad_manifests", error),
        })?;
        json(&found)
    }

    fn explain(&self, question: Explain) -> Result<String, Problem> {
        let Explain { pod, namespace, against, after, all_filters, max_remedies, seed } = question;
        if max_remedies > MAX_REMEDIES {
            let message = format_args!("`maxRemedies` is {max_remedies}, but must be at most {MAX_REMEDIES}");
            return Err(Problem::new("bad_json", message));
        }
        let unknown = |failure| problem("unknown_pod", failure);
        let subject = pods::named(namespace.as_deref(), &pod, &self.objects).map_err(unknown)?;
        let known = self.objects.nodes.iter().filter_map(|node| node.object.metadata.name.as_deref());
        check_nodes(&against.iter().cloned().collect::<Vec<_>>(), known).map_err(unknown)?;
        let manifest = &self.objects.pods[subject].object;
        let profile = self.setup.routes.profile_of(manifest).ok_or_else(|| {
            let name = scheduler_name(manifest);
            let message = format_args!("{pod}: schedulerName is `{name}`, which is none of the profiles");
            Problem::new("unknown_pod", message)
        })?;
        let options = explanation::Options {
            routes: self.setup.routes,
            profile,
            seed,
            after,
            all_filters,
            against: against.as_deref(),
            max_remedies: max_remedies.into(),
            extenders: self.setup.extenders,
        };
        let found = explain(&self.setup.bundle, self.objects.clone(), subject, options);
        match found.map_err(|errors| Problem::new("unavailable", errors))? {
            Some(found) => json(&found),
            None => Err(Problem::new("unknown_pod", format_args!("pod {pod} does not wait for a scheduler"))),
        }
    }

    fn capacity(&self, Capacity { manifests, ratio, max, pool_label, seed }: Capacity) -> Result<String, Problem> {
        let mut submission = self.submission(manifests)?;
        let ratio = prepare(&mut submission, &ratio).map_err(|error| match error {
            InvalidQuestion::Workloads(_) => Problem::new("bad_manifests", error),
            InvalidQuestion::Ratio { .. } => Problem::new("bad_json", error),
        })?;
        let objects = cluster::objects(self.objects.clone());
        // The pods are counted once for the cluster, and once for each pool.
        let pools = pool_label.as_ref().map_or(0, |key| node_pools(&objects, key).len());
        if pools > MAX_POOLS {
            return Err(Problem::new("too_many_pools", format_args!("{pools} pools; the maximum is {MAX_POOLS}")));
        }
        let max_allowed = MAX_PODS / (pools + 1);
        let max = max.unwrap_or(max_allowed);
        if max == 0 {
            return Err(Problem::new("bad_json", "`max` is 0, but must be at least 1"));
        }
        if max > max_allowed {
            let message = format_args!("`max` is {max}, but must be at most {max_allowed} with {pools} pools");
            return Err(Problem::new("too_many_pods", message));
        }
        let question = capacity::Question { ratio: &ratio, max, pool_label: pool_label.as_deref() };
        let found = capacity(&self.setup.bundle, &objects, &submission, &question, &self.options(seed));
        json(&found.map_err(|errors| Problem::new("unavailable", errors))?)
    }

    fn options(&self, seed: u64) -> trial::Options {
        trial::Options { routes: self.setup.routes, seed, extenders: self.setup.extenders }
    }

    /// Reads manifests, and checks that a profile serves their pods.
    fn submission(&self, manifests: Manifests) -> Result<Submission, Problem> {
        let submission = Submission::parse("manifests", &manifests.text(), &self.objects);
        let submission = submission.map_err(|error| Problem::new("bad_manifests", error))?;
        let served = submission.check_profiles(&self.setup.routes);
        served.map(|()| submission).map_err(|message| Problem::new("unknown_pod", message))
    }
}

fn json(found: &dyn erased_serde::Serialize) -> Result<String, Problem> {
    output::json(found).map_err(|failure| problem("unavailable", failure))
}

/// Converts a failure of a command.
fn problem(code: &'static str, failure: Failure) -> Problem {
    match failure {
        Failure::Message(text) | Failure::WithNote(text, _) => Problem::new(code, text),
        Failure::Profiles(diagnostics) => Problem::new(code, diagnostics.render(false)),
        Failure::Reported | Failure::OutputClosed => Problem::new(code, "the command failed"),
    }
}
