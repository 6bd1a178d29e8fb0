//! A hypothetical cluster.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::engine::Engine;
use schedc_core::model::{NodeIndex, ObjectKey, Pod};
use schedc_core::profile::Profile;
use schedc_core::snapshot::{NodeTemplate, Snapshot};
use schedc_evaluation::{Answer, Decision, Reference, pod_name};
use schedc_objects::{Kinds, convert_node, convert_object, convert_pod, is_finished, namespace};
use serde_json::Value;

use crate::answers::{Applied, Estimate, LeftPod, Placement};
use crate::error::{Error, ErrorCode};
use crate::forked_map::ForkedMap;
use crate::input::{Defaults, Input};
use crate::profiles::{Profiles, handle};
use crate::snapshot::AnySnapshot;

/// A hypothetical cluster with a profile. It contains objects, answers questions about pods, and can be forked.
///
/// Pods with a node occupy it, other pods wait until [`Cluster::schedule`] puts them on a node. A cluster is a
/// [`Snapshot`] that finds objects by name; docs/libraries.md lists the differences from a scheduler.
pub struct Cluster {
    snapshot: Box<dyn AnySnapshot>,
    /// Pods that have not finished, by `namespace/name`.
    pods: ForkedMap<String, Arc<Pod>>,
    /// Objects other than nodes and pods, by kind, namespace and name.
    others: ForkedMap<(&'static str, String, String), ObjectKey>,
}

impl Cluster {
    /// Creates an empty cluster with the interpreted profile of this name or scheduler name.
    ///
    /// The plugins' arguments stay in memory until the program ends. To reuse the plugins, [clear](Cluster::clear) the cluster.
    ///
    /// # Errors
    /// Returns an error if there is no such profile, and for plugins that cannot start.
    pub fn new(profiles: &Profiles, profile: &str) -> Result<Self, Error> {
        Ok(Cluster::from_snapshot(Snapshot::from_engine(profiles.engine(profile)?)))
    }

    /// Creates an empty cluster with a compiled profile, which is faster and can have plugins of other crates.
    ///
    /// # Errors
    /// Returns an error for plugins that cannot start.
    pub fn compiled<P: Profile>() -> Result<Self, Error>
    where
        Snapshot<P>: Send,
    {
        let engine = Engine::<P>::new(&handle()).map_err(|error| Error::new(ErrorCode::InvalidProfile, error))?;
        Ok(Cluster::from_snapshot(Snapshot::from_engine(engine)))
    }

    fn from_snapshot<P: Profile>(snapshot: Snapshot<P>) -> Self
    where
        Snapshot<P>: Send,
    {
        Cluster { snapshot: Box::new(snapshot), pods: ForkedMap::default(), others: ForkedMap::default() }
    }

    /// Removes all objects, and closes all forks.
    pub fn clear(&mut self) {
        self.snapshot.clear();
        (self.pods, self.others) = (ForkedMap::default(), ForkedMap::default());
    }

    /// Adds or replaces the objects of a text: documents in YAML or JSON, or lists of objects. A pod with `spec.nodeName`
    /// occupies that node. A pod without this field keeps the node of the pod that it replaces. A finished pod is
    /// removed.
    ///
    /// # Errors
    /// Returns all problems of the objects. In this case, nothing changes.
    pub fn apply(&mut self, objects: &str, defaults: Defaults) -> Result<Applied, Error> {
        Ok(self.apply_input(Input::text("objects", objects, defaults)?))
    }

    /// Adds or replaces objects in JSON, like [`Cluster::apply`].
    ///
    /// # Errors
    /// Returns all problems of the objects. In this case, nothing changes.
    pub fn apply_values(&mut self, objects: Vec<Value>, defaults: Defaults) -> Result<Applied, Error> {
        Ok(self.apply_input(Input::values(objects, defaults)?))
    }

    /// Adds or replaces objects of one kind like [`Cluster::apply`]. They differ from the template in the values of
    /// columns: a column is named by the JSON pointer of its field, such as `/metadata/name`, and has a value for each
    /// object. For `null`, the field is as in the template.
    ///
    /// # Errors
    /// Returns all problems of the objects. In this case, nothing changes.
    pub fn apply_columns(
        &mut self,
        template: &Value,
        columns: &BTreeMap<String, Vec<Value>>,
        defaults: Defaults,
    ) -> Result<Applied, Error> {
        Ok(self.apply_input(Input::columns(template, columns, defaults)?))
    }

    /// Adds or replaces objects in protobuf, as an API server sends and stores them: each message is an object, or a list of
    /// objects of one kind, and begins with `k8s\0`. The objects are used unchanged.
    ///
    /// # Errors
    /// Returns the first problem of the messages. In this case, nothing changes.
    pub fn apply_protobuf(&mut self, messages: &[impl AsRef<[u8]>]) -> Result<Applied, Error> {
        Ok(self.apply_input(Input::protobuf(messages)?))
    }

    fn apply_input(&mut self, input: Input) -> Applied {
        let Input { nodes, pods, others, implied, skipped, warnings } = input;
        let applied = Applied { nodes: nodes.len(), pods: pods.len(), others: others.len(), skipped, warnings };
        for node in &nodes {
            let node = convert_node(node, self.snapshot.interner());
            self.snapshot.set_node(node);
        }
        for object in others.into_iter().chain(implied) {
            if let Some(converted) = convert_object(&object, self.snapshot.interner()) {
                let name = (object.kind(), object.namespace().to_owned(), object.name().to_owned());
                self.others.set(name, Some(converted.key()));
                self.snapshot.set_object(converted);
            }
        }
        pods.iter().for_each(|pod| self.set_pod(pod));
        applied
    }

    /// Adds or replaces a pod. As in scenarios, a replacement counts as removal and arrival.
    fn set_pod(&mut self, pod: &ApiPod) {
        let name = format!("{}/{}", namespace(&pod.metadata), pod.metadata.name.as_deref().unwrap_or_default());
        let mut node = None;
        if let Some(before) = self.pods.map().get(&name) {
            node = self.snapshot.node_of(&before.uid);
            self.snapshot.remove_pod(&before.uid);
        }
        if is_finished(pod) {
            self.pods.set(name, None);
            return;
        }
        let pod = Arc::new(convert_pod(pod, self.snapshot.interner()));
        if let Some(node) = pod.spec.node_name.or(node) {
            self.snapshot.add_pod(pod.clone(), node);
        }
        self.pods.set(name, Some(pod));
    }

    /// Deletes an object. The pods of a deleted node keep its name, and occupy a node of this name that is added later.
    /// Returns whether the object existed.
    ///
    /// # Errors
    /// Returns an error if scheduling ignores objects of this kind.
    pub fn delete(&mut self, kind: &str, namespace: &str, name: &str) -> Result<bool, Error> {
        let reference = Reference { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() };
        let object = reference.resolve(Kinds::default()).map_err(|error| Error::new(ErrorCode::UnknownKind, error))?;
        match object.kind {
            "Node" => {
                let found = self.node(name);
                let name = self.snapshot.interner().intern(name);
                self.snapshot.remove_node(name);
                Ok(found.is_ok())
            }
            "Pod" => {
                let name = format!("{}/{}", object.namespace, object.name);
                let pod = self.pods.map().get(&name).cloned();
                if let Some(pod) = &pod {
                    self.snapshot.remove_pod(&pod.uid);
                    self.pods.set(name, None);
                }
                Ok(pod.is_some())
            }
            kind => {
                let name = (kind, object.namespace, object.name);
                let key = self.others.map().get(&name).copied();
                if let Some(key) = &key {
                    self.snapshot.remove_object(key);
                    self.others.set(name, None);
                }
                Ok(key.is_some())
            }
        }
    }

    /// Opens a fork: later changes can be reverted. Forks can be nested.
    pub fn fork(&mut self) {
        self.snapshot.fork();
        self.pods.fork();
        self.others.fork();
    }

    /// Adds the changes since the last fork to the enclosing fork, or makes them final if there is none. Without a
    /// fork, nothing happens.
    pub fn commit(&mut self) {
        self.snapshot.commit();
        self.pods.commit();
        self.others.commit();
    }

    /// Undoes the changes since the last fork. Without a fork, nothing happens.
    pub fn revert(&mut self) {
        self.snapshot.revert();
        self.pods.revert();
        self.others.revert();
    }

    /// Returns the number of open forks.
    pub fn forks(&self) -> usize {
        self.snapshot.forks()
    }

    /// Returns the names of the nodes, sorted.
    pub fn nodes(&self) -> Vec<String> {
        let base = self.snapshot.base();
        let mut names: Vec<String> = base.alive().iter().map(|node| base.name(node).to_owned()).collect();
        names.sort_unstable();
        names
    }

    /// Returns the pods, each with its node, by name. The node need not exist.
    pub fn pods(&self) -> BTreeMap<String, Option<String>> {
        self.pods.map().iter().map(|(name, pod)| (name.clone(), self.node_of(pod))).collect()
    }

    fn node_of(&self, pod: &Pod) -> Option<String> {
        let node = self.snapshot.node_of(&pod.uid)?;
        Some(self.snapshot.base().interner.resolve(node).to_owned())
    }

    /// Runs PreFilter and Filter, and returns whether a pod may run on a node. If the pod already has a node, it still
    /// counts there.
    ///
    /// # Errors
    /// Returns an error if there is no such pod or node.
    pub fn check(&mut self, pod: &str, node: &str) -> Result<Answer, Error> {
        let (pod, node) = (self.pod(pod)?, self.node(node)?);
        Ok(self.snapshot.check(&pod, node).map_or_else(Answer::from, |()| Answer::success()))
    }

    /// Returns whether a pod may run on each of these nodes. PreFilter runs once.
    ///
    /// # Errors
    /// Returns an error if there is no such pod, or one of the nodes does not exist.
    pub fn check_nodes<S: AsRef<str>>(&mut self, pod: &str, nodes: &[S]) -> Result<Vec<Answer>, Error> {
        let pod = self.pod(pod)?;
        let nodes = nodes.iter().map(|node| self.node(node.as_ref())).collect::<Result<Vec<NodeIndex>, Error>>()?;
        Ok(match self.snapshot.check_each(&pod, &nodes) {
            Ok(verdicts) => {
                verdicts.into_iter().map(|verdict| verdict.map_or_else(Answer::from, |()| Answer::success())).collect()
            }
            Err(rejection) => vec![Answer::from(rejection); nodes.len()],
        })
    }

    /// Puts a pod on a node if PreFilter, Filter and Reserve accept it. Otherwise nothing changes.
    ///
    /// # Errors
    /// Returns an error if there is no such pod or node.
    pub fn schedule(&mut self, pod: &str, node: &str) -> Result<Answer, Error> {
        let (pod, node) = (self.pod(pod)?, self.node(node)?);
        Ok(self.snapshot.schedule(&pod, node).map_or_else(Answer::from, |()| Answer::success()))
    }

    /// Puts a pod on the first of `nodes` where it may run. `None`: all nodes are candidates. The search begins after
    /// the node that the previous search found.
    ///
    /// # Errors
    /// Returns an error if there is no such pod, or one of the nodes does not exist.
    pub fn schedule_on_any<S: AsRef<str>>(&mut self, pod: &str, nodes: Option<&[S]>) -> Result<Placement, Error> {
        let pod = self.pod(pod)?;
        let candidates: Option<Vec<NodeIndex>> = match nodes {
            Some(nodes) => Some(nodes.iter().map(|node| self.node(node.as_ref())).collect::<Result<_, _>>()?),
            None => None,
        };
        let found = self
            .snapshot
            .schedule_on_any(&pod, &mut |node| candidates.as_ref().is_none_or(|candidates| candidates.contains(&node)));
        Ok(match found {
            Ok(node) => Placement { node: Some(self.snapshot.base().name(node).to_owned()), rejection: None },
            Err(rejection) => Placement { node: None, rejection: rejection.map(Answer::from) },
        })
    }

    /// Removes a pod from its node; it waits again. Returns whether it had a node.
    ///
    /// # Errors
    /// Returns an error if there is no such pod.
    pub fn unschedule(&mut self, pod: &str) -> Result<bool, Error> {
        let pod = self.pod(pod)?;
        Ok(self.snapshot.remove_pod(&pod.uid))
    }

    /// Returns the decision about a pod as `schedc evaluate` does: the verdict and the scores of every node, the chosen
    /// node, the message, and the victims of preemption. Nothing changes.
    ///
    /// # Errors
    /// Returns an error if there is no such pod.
    pub fn decide(&mut self, pod: &str) -> Result<Decision, Error> {
        let pod = self.pod(pod)?;
        if pod.deleting {
            return Ok(Decision::skipped(&pod, self.snapshot.base(), "deleting"));
        }
        let explanation = self.snapshot.explain(&pod);
        Ok(Decision::new(&pod, self.snapshot.base(), explanation))
    }

    /// Returns the number of new nodes that pods need. `template` has one node and the pods that run on each copy of it,
    /// such as those of DaemonSets. Each pod is put on the first copy where it may run. Nothing changes.
    ///
    /// # Errors
    /// Returns an error if there is no such pod, and all problems of the template.
    pub fn estimate<S: AsRef<str>>(&mut self, template: &str, pods: &[S], max_nodes: usize) -> Result<Estimate, Error> {
        self.estimate_input(Input::text("template", template, Defaults::AsGiven)?, pods, max_nodes)
    }

    /// Returns the number of new nodes like [`Cluster::estimate`], for a template in JSON.
    ///
    /// # Errors
    /// Returns an error if there is no such pod, and all problems of the template.
    pub(crate) fn estimate_values<S: AsRef<str>>(
        &mut self,
        template: Vec<Value>,
        pods: &[S],
        max_nodes: usize,
    ) -> Result<Estimate, Error> {
        self.estimate_input(Input::values(template, Defaults::AsGiven)?, pods, max_nodes)
    }

    fn estimate_input<S: AsRef<str>>(
        &mut self,
        template: Input,
        names: &[S],
        max_nodes: usize,
    ) -> Result<Estimate, Error> {
        let Input { nodes, pods: node_pods, .. } = template;
        let [node] = nodes.as_slice() else {
            let message = format!("the template has {} nodes; it needs one", nodes.len());
            return Err(Error::new(ErrorCode::InvalidObjects, message));
        };
        let pods = names.iter().map(|pod| self.pod(pod.as_ref())).collect::<Result<Vec<_>, Error>>()?;
        let interner = self.snapshot.interner();
        let node_pods = node_pods.iter().map(|pod| Arc::new(convert_pod(pod, interner))).collect();
        let template = NodeTemplate { pods: node_pods, node: convert_node(node, interner) };
        let found = self.snapshot.estimate(&template, &pods, max_nodes);
        let interner = &self.snapshot.base().interner;
        let name = |at: usize| pods.get(at).map(|pod| pod_name(pod, interner)).unwrap_or_default();
        Ok(Estimate {
            nodes: found.nodes,
            placed: found.placed.into_iter().map(name).collect(),
            left: found
                .unplaced
                .into_iter()
                .map(|(at, verdict)| LeftPod { pod: name(at), rejection: verdict.map(Answer::from) })
                .collect(),
        })
    }

    fn pod(&self, name: &str) -> Result<Arc<Pod>, Error> {
        let full_name = if name.contains('/') { Cow::Borrowed(name) } else { Cow::Owned(format!("default/{name}")) };
        self.pods.map().get(&*full_name).cloned().ok_or_else(|| {
            Error::new(
                ErrorCode::UnknownPod,
                format_args!("there is no pod `{}`; add it to the cluster first", shortened(name)),
            )
        })
    }

    fn node(&self, name: &str) -> Result<NodeIndex, Error> {
        let base = self.snapshot.base();
        base.interner.get(name).and_then(|name| base.node(name)).ok_or_else(|| {
            let message = format!("there is no node `{}`; add it to the cluster first", shortened(name));
            Error::new(ErrorCode::UnknownNode, message)
        })
    }
}

/// Returns the name, or its beginning and end if it is long.
fn shortened(name: &str) -> Cow<'_, str> {
    schedc_bounds::text::shortened(name, 200)
}
