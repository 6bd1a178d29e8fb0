//! The operations for devices. One creates the slices of a driver; the other allocates devices for claims itself,
//! instead of the scheduler.

use std::sync::Arc;

use schedc_core::intern::Interner;
use schedc_core::model::{Node, Object, ResourceClaim};
use schedc_core::random::Random;
use schedc_device_allocator::{Inventory, Unfit};
use schedc_in_memory::server::{Key, Request};
use schedc_objects::{AnyObject, convert_node, convert_object};
use serde_json::{Value, json};

use crate::Error;
use crate::config::{AllocResourceClaims, CreateResourceDriver};
use crate::run::Runner;

impl Runner<'_> {
    pub(super) fn create_resource_driver(&mut self, op: &CreateResourceDriver) -> Result<(), Error> {
        let nodes = self.simulator.server.list("Node").map(|node| node.name().to_owned());
        let nodes: Vec<String> = nodes.filter(|name| is_match(&op.nodes, name)).collect();
        if nodes.is_empty() {
            return Err(Error::new(format!("nodes: no node has a name like `{}`", op.nodes)));
        }
        for node in &nodes {
            let slice = slice(&op.driver_name, node, op.max_claims_per_node);
            let slice = AnyObject::from_json("resource.k8s.io/v1", "ResourceSlice", slice).map_err(Error::new)?;
            if let Some(slice) = slice {
                self.create(slice, "", true)?;
            }
        }
        self.settle()
    }

    /// Allocates devices of a random node for each claim that has no allocation.
    pub(super) fn alloc_resource_claims(&mut self, op: &AllocResourceClaims) -> Result<(), Error> {
        let mut devices = Devices::default();
        let mut claims = Vec::new();
        for kind in ["DeviceClass", "ResourceSlice", "ResourceClaim"] {
            for object in self.simulator.server.list(kind) {
                if let Some(claim) = devices.add(object) {
                    claims.push((Key::of(object), claim));
                }
            }
        }
        claims.retain(|(key, _)| op.namespace.is_empty() || *key.namespace == *op.namespace);
        let mut nodes: Vec<Node> = Vec::new();
        for object in self.simulator.server.list("Node") {
            if let AnyObject::Node(node) = &**object {
                nodes.push(convert_node(node, &mut devices.interner));
            }
        }
        let mut random = Random::new(self.seed);
        for (key, claim) in claims {
            let allocation = devices.allocate(&claim, &mut nodes, &mut random)?;
            let status = json!({ "status": { "allocation": allocation } });
            self.request(Request::Patch(key, status)).map_err(Error::new)?;
        }
        self.settle()
    }
}

/// The devices of the cluster.
#[derive(Default)]
struct Devices {
    interner: Interner,
    inventory: Inventory,
    /// Number of share IDs that were assigned so far.
    shares: u64,
}

impl Devices {
    /// Adds an object. A claim without an allocation is not added but returned.
    fn add(&mut self, object: &AnyObject) -> Option<Arc<ResourceClaim>> {
        match convert_object(object, &mut self.interner)? {
            Object::DeviceClass(class) => self.inventory.set_class(&class),
            Object::ResourceSlice(slice) => self.inventory.set_slice(&slice, &self.interner),
            Object::ResourceClaim(claim) => match &claim.status.allocation {
                None => return Some(claim),
                allocation => {
                    self.inventory.set_claim(claim.namespace, claim.name, allocation.as_ref(), &self.interner);
                }
            },
            _ => {}
        }
        None
    }

    /// Allocates devices for a claim on the first node that has them. The nodes are tried in random order.
    fn allocate(&mut self, claim: &ResourceClaim, nodes: &mut [Node], random: &mut Random) -> Result<Value, Error> {
        let Devices { interner, inventory, shares } = self;
        let name = format!("{}/{}", interner.resolve(claim.namespace), interner.resolve(claim.name));
        let prepared = inventory.prepare(std::slice::from_ref(&claim.spec), interner);
        for at in 0..nodes.len() {
            nodes.swap(at, at + random.below(nodes.len() - at));
            let share_id = || {
                *shares += 1;
                format!("00000000-0000-4000-8000-{shares:012x}").into()
            };
            let found = inventory.allocate(&prepared, &nodes[at], interner, || false, share_id);
            match found.map(|allocations| allocations.into_iter().next()) {
                Ok(Some(allocation)) => {
                    inventory.set_claim(claim.namespace, claim.name, Some(&allocation), interner);
                    return Ok(allocation.to_json(interner));
                }
                Err(unfit @ Unfit::Failed(_)) => return Err(Error::new(unfit.message(|_| name))),
                Ok(None) | Err(_) => {}
            }
        }
        Err(Error::new(format!("no node has devices for claim {name}")))
    }
}

/// Returns the slice of a driver on a node. The devices equal those of scheduler_perf's driver.
fn slice(driver: &str, node: &str, devices: usize) -> Value {
    let device = |at| {
        json!({
            "name": format!("instance-{at}"),
            "attributes": {
                "model": { "string": "A100" },
                "family": { "string": "GPU" },
                "driverVersion": { "version": "1.2.3" },
                "dra.example.com/numa": { "int": at },
            },
            "capacity": { "memory": { "value": "1Gi" } },
        })
    };
    json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": { "name": node },
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": { "name": node, "generation": 0, "resourceSliceCount": 1 },
            "devices": (0..devices).map(device).collect::<Vec<_>>(),
        },
    })
}

/// Returns whether a name matches a pattern with `*` for any text, and `?` for one character.
fn is_match(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut in_pattern, mut in_name, mut last_star) = (0, 0, None);
    while in_name < name.len() {
        match pattern.get(in_pattern) {
            Some(b'*') => {
                last_star = Some((in_pattern, in_name));
                in_pattern += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[in_name] => {
                in_pattern += 1;
                in_name += 1;
            }
            // The last star takes one more character.
            _ => match &mut last_star {
                Some((star, begin)) => {
                    *begin += 1;
                    (in_pattern, in_name) = (*star + 1, *begin);
                }
                None => return false,
            },
        }
    }
    pattern[in_pattern..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::is_match;

    #[test]
    fn patterns_match_node_names() {
        for (pattern, name, expected) in [
            ("node-*", "node-a", true),
            ("node-*", "node-", true),
            ("node-*", "other", false),
            ("*-gpu-*", "a-gpu-gpu-b", true),
            ("*-gpu", "a-gpu-b-gpu", true),
            ("*-gpu", "a-gpu-b", false),
            ("n?de", "node", true),
            ("n?de", "nde", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(is_match(pattern, name), expected, "{pattern} {name}");
        }
    }
}
