//! The operation that creates nodes.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::storage::v1::{CSINode, CSINodeDriver, CSINodeSpec, VolumeNodeResources};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use schedc_in_memory::server::{Key, Request};
use schedc_objects::AnyObject;

use crate::Error;
use crate::config::{CreateNodes, NodeAllocatable};
use crate::run::Runner;
use crate::template::Template;

/// Default template of nodes.
const DEFAULT_TEMPLATE: &str = "
kind: Node
metadata: {generateName: node-}
status:
  capacity: {pods: 110, cpu: 4, memory: 32Gi}
  phase: Running
  conditions: [{type: Ready, status: 'True'}]
";

/// Annotation with the in-tree volume plugins that a node has migrated to CSI.
const MIGRATED_PLUGINS: &str = "storage.alpha.kubernetes.io/migrated-plugins";

impl Runner<'_> {
    pub(super) fn create_nodes(&mut self, index: usize, op: &CreateNodes) -> Result<(), Error> {
        let template = match &op.node_template_path {
            Some(path) => self.template(path)?,
            None => Template::parse("a Node", &DEFAULT_TEMPLATE.replace("node-", &format!("node-{index}-")))?,
        };
        let mut factory = self.factory(&template, op.count, "Node")?;
        let to_admit = self.prepare(&mut factory, "")?;
        let strategy = Strategy::of(op);
        for at in 0..op.count {
            let mut node = factory.make(at)?;
            let metadata = node.metadata_mut();
            if let (None | Some(""), Some(prefix)) = (metadata.name.as_deref(), metadata.generate_name.take()) {
                metadata.name = Some(self.new_name(&prefix));
            }
            if to_admit {
                node = self.admit(node)?;
            }
            let name = node.name().to_owned();
            let labels = node.metadata_mut().labels.get_or_insert_default();
            labels.insert("kubernetes.io/hostname".to_owned(), name.clone());
            if let AnyObject::Node(node) = &mut node {
                strategy.prepare(node, at);
            }
            self.create(node, "", false)?;
            if let Strategy::Allocatable(allocatable) = strategy {
                self.set_csi_node(&name, allocatable)?;
            }
        }
        self.settle()
    }

    /// Adds drivers to the CSINode of a node.
    fn set_csi_node(&mut self, name: &str, allocatable: &NodeAllocatable) -> Result<(), Error> {
        let mut drivers: BTreeMap<String, CSINodeDriver> = BTreeMap::new();
        if let Some(AnyObject::CsiNode(old)) =
            self.simulator.server.get(&Key::cluster("CSINode", name)).map(|old| &**old)
        {
            drivers.extend(old.spec.drivers.iter().map(|driver| (driver.name.clone(), driver.clone())));
        }
        for (driver, resources) in &allocatable.csi_node_allocatable {
            let entry = drivers.entry(driver.clone()).or_insert_with(|| CSINodeDriver {
                name: driver.clone(),
                node_id: name.to_owned(),
                ..CSINodeDriver::default()
            });
            entry.allocatable = Some(VolumeNodeResources { count: resources.count });
        }
        let mut node = CSINode { spec: CSINodeSpec { drivers: drivers.into_values().collect() }, ..CSINode::default() };
        node.metadata.name = Some(name.to_owned());
        let migrated = allocatable.migrated_plugins.join(",");
        node.metadata.annotations = Some([(MIGRATED_PLUGINS.to_owned(), migrated)].into());
        let node = self.admit(node.into())?;
        self.request(Request::Apply(Box::new(node))).map_err(Error::new)
    }
}

/// Additions to the template of nodes.
#[derive(Clone, Copy)]
enum Strategy<'a> {
    Unchanged,
    Allocatable(&'a NodeAllocatable),
    /// A label with the given values in turn.
    Alternating(&'a str, &'a [String]),
    /// A label with a unique value.
    Unique(&'a str),
}

impl<'a> Strategy<'a> {
    fn of(op: &'a CreateNodes) -> Self {
        match op {
            CreateNodes { node_allocatable_strategy: Some(allocatable), .. } => Strategy::Allocatable(allocatable),
            CreateNodes { label_node_prepare_strategy: Some(labels), .. } => {
                Strategy::Alternating(&labels.label_key, &labels.label_values)
            }
            CreateNodes { unique_node_label_strategy: Some(label), .. } => Strategy::Unique(&label.label_key),
            _ => Strategy::Unchanged,
        }
    }

    fn prepare(self, node: &mut Node, at: usize) {
        let (key, value) = match self {
            Strategy::Unchanged => return,
            Strategy::Allocatable(allocatable) => {
                let node_allocatable = node.status.get_or_insert_default().allocatable.get_or_insert_default();
                node_allocatable.extend(
                    allocatable.node_allocatable.iter().map(|(name, amount)| (name.clone(), Quantity(amount.clone()))),
                );
                return;
            }
            Strategy::Alternating(key, values) => (key, values[at % values.len()].clone()),
            Strategy::Unique(key) => (key, node.metadata.name.clone().unwrap_or_default()),
        };
        node.metadata.labels.get_or_insert_default().insert(key.to_owned(), value);
    }
}
