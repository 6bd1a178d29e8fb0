//! Manifests that are not in the cluster yet: workloads with the pods that their controllers would create, and other
//! objects.
//!
//! | module | content |
//! |---|---|
//! | `daemon` | the pods of a DaemonSet |
//! | `document` | the documents of a manifest, and the pod templates of workloads |
//! | `pods` | the pods and claims of a workload |

mod daemon;
mod document;
mod pods;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::PathBuf;

use k8s_openapi::api::core::v1::{Namespace, Node, PersistentVolumeClaim, Pod};
use schedc_objects::default::Admission;
use schedc_objects::manifests::{Problem, SourceLocation, entries};
use schedc_objects::{AnyObject, Error, IgnoredErrors, ObjectReader, Objects, Sourced};

use crate::cluster::{Routes, scheduler_name};
use document::Document;
pub(crate) use pods::{Replicas, SubmittedWorkload};

/// Maximum number of pods of all manifests together, so that a typing error in `replicas` does not exhaust the memory.
pub(crate) const MAX_PODS: usize = 100_000;

/// The objects of manifests that are not in the cluster yet.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    /// Pods and workloads, in the order of the manifests.
    pub workloads: Vec<SubmittedWorkload>,
    /// All other objects, in an order in which an API server accepts them.
    pub objects: Vec<AnyObject>,
    /// Errors that were ignored.
    pub ignored: IgnoredErrors,
    admission: Option<Admission>,
    /// Names of the namespaces that exist.
    namespaces: HashSet<String>,
    /// Namespaces and names of the pods that exist.
    taken: HashSet<(String, String)>,
    /// Number of pods that [`Submission::pods`] has returned.
    expanded: usize,
}

/// A pod that a controller would create, with the objects that it needs.
#[derive(Clone, Debug)]
pub(crate) struct NewPod {
    /// The pod.
    pub pod: Pod,
    /// Its namespace, if it is missing, and its claims.
    pub before: Vec<AnyObject>,
}

impl Submission {
    /// Reads manifests for a cluster.
    ///
    /// # Errors
    /// Returns all problems: unreadable files, syntax errors, invalid objects, objects that occur twice, and objects
    /// that an API server would refuse.
    pub(crate) fn read(files: &[PathBuf], cluster: &Objects) -> Result<Submission, Error> {
        let mut problems = Vec::new();
        let mut all_entries = Vec::new();
        for file in files {
            match entries::read(file) {
                Ok(entries) => all_entries.extend(entries),
                Err(error) => problems.extend(error.problems),
            }
        }
        let documents = document::documents(all_entries, &mut problems);
        Submission::new(documents, cluster, problems)
    }

    /// Reads a text. Errors use `name` as its name.
    ///
    /// # Errors
    /// Returns the same errors as [`Submission::read`].
    #[cfg(any(feature = "run", test))]
    pub(crate) fn parse(name: &str, text: &str, cluster: &Objects) -> Result<Submission, Error> {
        let mut problems = Vec::new();
        let documents = document::documents(entries::parse(name, text)?, &mut problems);
        Submission::new(documents, cluster, problems)
    }

    fn new(documents: Vec<Document>, cluster: &Objects, mut problems: Vec<Problem>) -> Result<Submission, Error> {
        let mut reader = ObjectReader::new(cluster.kinds, cluster.validation);
        let (mut workloads, mut others) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for document in documents {
            if let Some(key) = document.key()
                && !seen.insert(key)
            {
                problems.push(document.problem(None, "is in the manifests twice; remove one of them or rename it"));
                continue;
            }
            match document.read(&mut reader, &mut problems) {
                Some(document::Content::Workload(workload)) => workloads.push(*workload),
                Some(document::Content::Other(object)) => others.push(object),
                None => {}
            }
        }
        let taken = cluster.pods.iter().map(|pod| pods::name_of(&pod.object.metadata)).collect();
        let namespaces = cluster.others().filter(|object| object.kind() == "Namespace");
        let namespaces = namespaces.map(|namespace| namespace.name().to_owned()).collect();
        let mut submission = Submission {
            workloads,
            objects: Vec::new(),
            ignored: reader.ignored,
            admission: cluster.admission.clone(),
            namespaces,
            taken,
            expanded: 0,
        };
        // An API server needs the classes before the pods and claims that name them.
        others.sort_by_key(|object| match object.object.kind() {
            "PriorityClass" | "StorageClass" | "Namespace" => 0,
            _ => 1,
        });
        for object in others {
            submission.add_object(object, &mut problems);
        }
        for at in 0..submission.workloads.len() {
            submission.check_template(at, &mut problems);
        }
        match problems.is_empty() {
            true => Ok(submission),
            false => Err(Error { problems }),
        }
    }

    fn add_object(&mut self, mut object: Sourced<AnyObject>, problems: &mut Vec<Problem>) {
        if let AnyObject::Namespace(namespace) = &object.object {
            self.namespaces.extend(namespace.metadata.name.clone());
        }
        if let Some(admission) = &mut self.admission {
            admission.admit(&mut object, problems);
        }
        self.objects.push(object.object);
    }

    /// Checks that a profile serves the pods of each workload.
    ///
    /// # Errors
    /// Returns the first workload that no profile serves, as a message.
    pub(crate) fn check_profiles(&self, routes: &Routes) -> Result<(), String> {
        let is_unserved = |workload: &&SubmittedWorkload| routes.profile_of(workload.template()).is_none();
        let Some(workload) = self.workloads.iter().find(is_unserved) else { return Ok(()) };
        let (place, title, name) = (&workload.place, workload.title(), scheduler_name(workload.template()));
        Err(format!("{place}: {title}: schedulerName is `{name}`, which is none of the profiles"))
    }

    /// Reports the problems of a workload's pods once, not for each pod.
    fn check_template(&mut self, at: usize, problems: &mut Vec<Problem>) {
        let Some(admission) = &self.admission else { return };
        let workload = &self.workloads[at];
        let mut pod = Sourced { object: workload.pod(0).into(), place: workload.place.clone() };
        let mut pod_problems = Vec::new();
        // Uses a copy of the admission, because the name of this pod must not count as taken.
        admission.clone().admit(&mut pod, &mut pod_problems);
        problems.extend(pod_problems.into_iter().map(|problem| workload.own_problem(problem)));
    }

    /// Returns a pod of a workload with a new name, and the pod's ordinal. The ordinal is `ordinal`; if the cluster has
    /// a pod of that name already, the next ordinal with a free name.
    pub(crate) fn next_pod(&mut self, workload: usize, mut ordinal: usize) -> (NewPod, usize) {
        let workload = &self.workloads[workload];
        let mut pod = workload.pod(ordinal);
        // Pods of a StatefulSet have fixed names.
        while pod.metadata.name.is_some() && self.taken.contains(&pods::name_of(&pod.metadata)) {
            ordinal += 1;
            pod = workload.pod(ordinal);
        }
        let claims = workload.claims(ordinal);
        (self.complete(pod, claims), ordinal)
    }

    /// Returns all pods of a workload as its controller would create them. `nodes` are those of the cluster.
    ///
    /// # Errors
    /// Returns an error if the cluster has a pod of this name already, or if there are too many pods.
    pub(crate) fn pods<'n>(
        &mut self,
        workload: usize,
        nodes: impl Iterator<Item = &'n Node>,
    ) -> Result<Vec<NewPod>, Problem> {
        let submitted = &self.workloads[workload];
        let pods: Vec<(Pod, Vec<PersistentVolumeClaim>)> = match submitted.replicas {
            Replicas::EachNode => {
                daemon::pods(&submitted.pod(0), nodes).into_iter().map(|pod| (pod, Vec::new())).collect()
            }
            Replicas::Number(number) if self.expanded.saturating_add(number) > MAX_PODS => {
                let message =
                    format!("{number} pods are too many; {MAX_PODS} is the maximum for all workloads together");
                return Err(submitted.problem("spec.replicas", message));
            }
            Replicas::Number(number) => {
                (0..number).map(|ordinal| (submitted.pod(ordinal), submitted.claims(ordinal))).collect()
            }
        };
        let is_taken =
            |(pod, _): &&(Pod, _)| pod.metadata.name.is_some() && self.taken.contains(&pods::name_of(&pod.metadata));
        if let Some((pod, _)) = pods.iter().find(is_taken) {
            let (namespace, name) = pods::name_of(&pod.metadata);
            let message = format!("the cluster has pod {namespace}/{name} already; remove one of them or rename it");
            return Err(submitted.problem("metadata.name", message));
        }
        self.expanded += pods.len();
        Ok(pods.into_iter().map(|(pod, claims)| self.complete(pod, claims)).collect())
    }

    /// Applies the defaults of an API server to a pod and its claims, and adds the namespace if it is missing. Problems
    /// are dropped, because [`Submission::check_template`] has reported them.
    fn complete(&mut self, mut pod: Pod, claims: Vec<PersistentVolumeClaim>) -> NewPod {
        let mut before = Vec::new();
        let (namespace, name) = pods::name_of(&pod.metadata);
        if pod.metadata.name.is_some() {
            self.taken.insert((namespace.clone(), name));
        }
        if self.namespaces.insert(namespace.clone()) {
            let mut object = Namespace::default();
            object.metadata.name = Some(namespace);
            before.push(object.into());
        }
        before.extend(claims.into_iter().map(AnyObject::from));
        before = before.into_iter().map(|object| self.admit(object)).collect();
        if let AnyObject::Pod(admitted) = self.admit(pod.clone().into()) {
            pod = *admitted;
        }
        NewPod { pod, before }
    }

    fn admit(&mut self, object: AnyObject) -> AnyObject {
        let place = SourceLocation { file: "".into(), line: 0, item: None };
        let mut object = Sourced { object, place };
        if let Some(admission) = &mut self.admission {
            admission.admit(&mut object, &mut Vec::new());
        }
        object.object
    }
}
