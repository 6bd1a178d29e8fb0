//! A cluster of devices in a test: objects in YAML or JSON, and an inventory that follows them.

use std::collections::BTreeMap;
use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{AllocationResult, Node, Object, RequestRef, ResourceClaimSpec};
use schedc_device_allocator::{Explanation, Inventory, Unfit};
use schedc_objects::testing;

#[derive(Default)]
pub(crate) struct Cluster {
    pub(crate) interner: Interner,
    pub(crate) inventory: Inventory,
    pub(crate) nodes: BTreeMap<String, Node>,
    pub(crate) objects: BTreeMap<(String, String), Object>,
    claims: usize,
    shares: usize,
}

impl Cluster {
    /// Creates a cluster with a node `n1` and a class `gpu` of all devices of driver `gpu`.
    pub(crate) fn with_class() -> Cluster {
        let mut cluster = Cluster::default();
        cluster.node("n1", "");
        cluster.class("gpu", r#"device.driver == "gpu""#);
        cluster
    }

    pub(crate) fn node(&mut self, name: &str, labels: &str) {
        let yaml = format!("{{metadata: {{name: {name}, labels: {{{labels}}}}}}}");
        let node = testing::node(&yaml, &mut self.interner);
        self.nodes.insert(name.to_owned(), node);
    }

    pub(crate) fn class(&mut self, name: &str, expression: &str) {
        self.object(&format!(
            "{{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {{name: {name}}}, \
             spec: {{selectors: [{{cel: {{expression: '{expression}'}}}}], config: []}}}}"
        ));
    }

    /// Adds a slice of driver `gpu` on node `n1`. Its pool has the same name.
    pub(crate) fn slice(&mut self, name: &str, devices: &str) {
        self.slice_of(
            name,
            &format!("pool: {{name: {name}, generation: 1, resourceSliceCount: 1}}, nodeName: n1"),
            devices,
        );
    }

    /// Adds a slice of driver `gpu` with other fields of its `spec`.
    pub(crate) fn slice_of(&mut self, name: &str, spec: &str, devices: &str) {
        self.object(&format!(
            "{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: {name}}}, \
             spec: {{driver: gpu, {spec}, devices: [{devices}]}}}}"
        ));
    }

    /// Adds or changes an object.
    pub(crate) fn object(&mut self, text: &str) -> Object {
        let object = testing::object(text, &mut self.interner);
        self.apply(&object);
        let key = (format!("{:?}", object.key().kind), self.interner.resolve(object.key().name).to_owned());
        self.objects.insert(key, object.clone());
        object
    }

    fn apply(&mut self, object: &Object) {
        match object {
            Object::ResourceSlice(slice) => self.inventory.set_slice(slice, &self.interner),
            Object::DeviceClass(class) => self.inventory.set_class(class),
            Object::ResourceClaim(claim) => {
                let allocation = claim.status.allocation.as_ref();
                self.inventory.set_claim(claim.namespace, claim.name, allocation, &self.interner);
            }
            _ => {}
        }
    }

    pub(crate) fn remove(&mut self, kind: &str, name: &str) {
        let Some(object) = self.objects.remove(&(kind.to_owned(), name.to_owned())) else { return };
        match object {
            Object::ResourceSlice(slice) => self.inventory.remove_slice(slice.name, &self.interner),
            Object::DeviceClass(class) => self.inventory.remove_class(class.name),
            Object::ResourceClaim(claim) => {
                self.inventory.set_claim(claim.namespace, claim.name, None, &self.interner);
            }
            _ => {}
        }
    }

    /// Returns the spec of a claim from the content of `spec.devices`.
    pub(crate) fn spec(&mut self, devices: &str) -> Arc<ResourceClaimSpec> {
        let text = format!(
            "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: c, namespace: default}}, \
             spec: {{devices: {{{devices}}}}}}}"
        );
        match testing::object(&text, &mut self.interner) {
            Object::ResourceClaim(claim) => claim.spec.clone(),
            _ => unreachable!("it is a claim"),
        }
    }

    /// Allocates claims on a node.
    pub(crate) fn allocate_on(
        &mut self,
        node: &str,
        specs: &[Arc<ResourceClaimSpec>],
    ) -> Result<Vec<AllocationResult>, Unfit> {
        let Cluster { inventory, interner, nodes, shares, .. } = self;
        let prepared = inventory.prepare(specs, interner);
        let verdict = inventory.evaluate(&prepared, &nodes[node], interner, || false);
        let share = || {
            *shares += 1;
            shares.to_string().into()
        };
        let allocated = inventory.allocate(&prepared, &nodes[node], interner, || false, share);
        let allocated = allocated.map(|all| all.into_iter().map(Arc::unwrap_or_clone).collect::<Vec<_>>());
        assert_eq!(verdict.clone().err(), allocated.clone().err(), "evaluation and allocation differ");
        allocated
    }

    /// Returns the devices for claims on node `n1`, as `request=device`, or the message.
    pub(crate) fn devices(&mut self, claims: &[&str]) -> String {
        let specs: Vec<_> = claims.iter().map(|devices| self.spec(devices)).collect();
        match self.allocate_on("n1", &specs) {
            Ok(allocations) => self.show(&allocations),
            Err(unfit) => unfit.message(|at| format!("default/c{at}")),
        }
    }

    pub(crate) fn show(&self, allocations: &[AllocationResult]) -> String {
        let name = |reference: RequestRef| reference.display(&self.interner).to_string();
        let results = allocations.iter().flat_map(|allocation| allocation.results.iter());
        let shown = results.map(|result| format!("{}={}", name(result.request), self.interner.resolve(result.device)));
        shown.collect::<Vec<_>>().join(" ")
    }

    /// Allocates a claim on node `n1` and keeps the allocation. Returns the devices, as `request=device`, or the
    /// message.
    pub(crate) fn hold(&mut self, devices: &str) -> String {
        let spec = self.spec(devices);
        match self.allocate_on("n1", &[spec]) {
            Err(unfit) => unfit.message(|at| format!("default/c{at}")),
            Ok(allocations) => {
                self.claims += 1;
                let name = self.interner.intern(&format!("held-{}", self.claims));
                let allocation = Arc::new(allocations[0].clone());
                self.inventory.set_claim(Symbol::EMPTY, name, Some(&allocation), &self.interner);
                self.show(&allocations)
            }
        }
    }

    /// Releases the devices of a successful call of [`Cluster::hold`]. `number` counts the successful calls from 1.
    pub(crate) fn release(&mut self, number: usize) {
        let name = self.interner.intern(&format!("held-{number}"));
        self.inventory.set_claim(Symbol::EMPTY, name, None, &self.interner);
    }

    pub(crate) fn explain(&mut self, devices: &str) -> Explanation {
        let spec = self.spec(devices);
        let prepared = self.inventory.prepare(&[spec], &self.interner);
        self.inventory.explain(&prepared, &self.nodes["n1"], &self.interner).expect("an explanation")
    }
}
