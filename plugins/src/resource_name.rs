//! Resource names in the arguments of the scoring plugins, and the requests of a pod for these resources.

use std::sync::Arc;

use schedc_core::args::{Decode, Errors, Format, Node, Schema, decode};
use schedc_core::cache::Base;
use schedc_core::device_counts::{DeviceCount, NodeDeviceCounts};
use schedc_core::handle::Handle;
use schedc_core::incremental::DependsOn;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{NodeIndex, Resources, label_key_problems};

use crate::columns::NodeResources;
use crate::exact::are_exact;

/// A resource in arguments. Decoding the arguments determines the variant, so plugins compare no
/// strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceName {
    /// `cpu`.
    Cpu,
    /// `memory`.
    Memory,
    /// `ephemeral-storage`.
    EphemeralStorage,
    /// Any other resource.
    Scalar(&'static str),
}

impl ResourceName {
    #[doc(hidden)]
    pub const PLACEHOLDER: Self = ResourceName::Cpu;

    /// The schema of the value in a profile.
    pub const SCHEMA: Schema = Schema::String(Format::QualifiedName);

    /// Reads the name, and adds its errors to `errors`.
    pub const fn decode_into(node: &Node, errors: &mut Errors) -> Self {
        match decode::string(node, Format::QualifiedName, errors).as_bytes() {
            b"cpu" => ResourceName::Cpu,
            b"memory" => ResourceName::Memory,
            b"ephemeral-storage" => ResourceName::EphemeralStorage,
            _ => ResourceName::Scalar(decode::string(node, Format::Any, errors)),
        }
    }
}

impl Decode for ResourceName {
    const SCHEMA: Schema = ResourceName::SCHEMA;

    fn decode_value(node: &Node, errors: &mut Errors) -> Self {
        ResourceName::decode_into(node, errors)
    }
}

/// Requests of a pod for the resources in the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestedAmounts {
    milli_cpu: i64,
    memory: i64,
    ephemeral_storage: i64,
    /// In the order of the arguments.
    scalars: Box<[(Symbol, i64)]>,
    kind: RequestKind,
    /// Whether floating-point numbers are exact for CPU and memory.
    are_exact: bool,
}

/// Summary of a pod's requests: one byte, because it is read for every pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum RequestKind {
    /// All are 0.
    #[default]
    Zero,
    /// Only nodes serve them, no devices.
    Nodes,
    /// Devices may serve some of them.
    Devices,
}

/// Devices that serve scalar resources on nodes without these resources: an entry for each scalar resource in the
/// arguments, in their order. `None` if no devices serve the pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackingDevices(Option<Arc<[Option<NodeDeviceCounts>]>>);

/// A node's allocatable amount of a resource, and its usage without and with the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResourceUsage {
    pub(crate) allocatable: i64,
    pub(crate) before: i64,
    pub(crate) after: i64,
}

impl RequestedAmounts {
    /// Returns the requests in `requests` for the resources in `names`.
    #[inline]
    pub(crate) fn new(
        requests: &Resources,
        names: impl Iterator<Item = ResourceName>,
        interner: &mut Interner,
    ) -> RequestedAmounts {
        let mut amounts = RequestedAmounts::default();
        let mut scalars = Vec::new();
        for name in names {
            match name {
                ResourceName::Cpu => amounts.milli_cpu = requests.milli_cpu,
                ResourceName::Memory => amounts.memory = requests.memory,
                ResourceName::EphemeralStorage => amounts.ephemeral_storage = requests.ephemeral_storage,
                ResourceName::Scalar(name) => {
                    let symbol = interner.intern(name);
                    let requested = requests.scalar(symbol).unwrap_or(0);
                    if requested != 0 && is_device_resource(name) {
                        amounts.kind = RequestKind::Devices;
                    }
                    scalars.push((symbol, requested));
                }
            }
        }
        let is_zero = [amounts.milli_cpu, amounts.memory, amounts.ephemeral_storage] == [0; 3]
            && scalars.iter().all(|&(_, requested): &(Symbol, i64)| requested == 0);
        if !is_zero && amounts.kind == RequestKind::Zero {
            amounts.kind = RequestKind::Nodes;
        }
        amounts.scalars = scalars.into();
        amounts.are_exact = are_exact([amounts.milli_cpu, amounts.memory]);
        amounts
    }

    /// Returns whether all requests are 0.
    #[inline(always)]
    pub(crate) fn is_zero(&self) -> bool {
        self.kind == RequestKind::Zero
    }

    /// Returns the requests for CPU and memory, if [exact arithmetic](crate::exact) is possible with them.
    #[inline(always)]
    pub(crate) fn exact_cpu_and_memory(&self) -> Option<[i64; 2]> {
        self.are_exact.then_some([self.milli_cpu, self.memory])
    }

    /// Returns the usage of each resource. `milli_cpu` and `memory`: the amounts of CPU and memory in use on the node.
    #[inline(always)]
    pub(crate) fn usages<'a>(
        &'a self,
        (node, index): (&'a NodeResources, NodeIndex),
        devices: &'a BackingDevices,
        (milli_cpu, memory): (i64, i64),
    ) -> ResourceUsages<'a> {
        ResourceUsages { amounts: self, node, index, devices, milli_cpu, memory, scalars: self.scalars.iter() }
    }

    /// Returns whether a node's usage depends on the node alone, or on the cluster because devices may serve a
    /// resource.
    #[inline(always)]
    pub(crate) fn depend_on(&self) -> DependsOn {
        if self.kind == RequestKind::Devices { DependsOn::Cluster } else { DependsOn::Node }
    }

    /// Returns the devices that serve the pod of the current attempt.
    #[inline(always)]
    pub(crate) fn backing_devices(&self, base: &Base, handle: &Handle) -> BackingDevices {
        match self.kind {
            RequestKind::Devices => BackingDevices::of(&self.scalars, base, handle),
            RequestKind::Zero | RequestKind::Nodes => BackingDevices::default(),
        }
    }
}

impl BackingDevices {
    /// Makes DynamicResources count the devices that serve resources in the arguments.
    pub(crate) fn request(names: impl Iterator<Item = ResourceName>, handle: &Handle) {
        for name in names {
            if let ResourceName::Scalar(name) = name {
                handle.device_counts().request(name);
            }
        }
    }

    fn of(requested: &[(Symbol, i64)], base: &Base, handle: &Handle) -> BackingDevices {
        let Some(pod) = base.claimant() else { return BackingDevices::default() };
        let counts = handle.device_counts();
        let backing = |&(name, requested): &(Symbol, i64)| match requested {
            0 => None,
            _ => counts.get(&pod.uid, name).cloned(),
        };
        let all: Arc<[_]> = requested.iter().map(backing).collect();
        BackingDevices(all.iter().any(Option::is_some).then_some(all))
    }

    /// Returns the counts of a node's devices that serve the scalar resource at position `at`; `None` if there are no
    /// such devices.
    fn count(&self, at: usize, node: NodeIndex) -> Option<DeviceCount> {
        let counts = self.0.as_ref()?.get(at)?.as_ref()?;
        counts.get(node.get()).copied().filter(|count| count.allocatable > 0)
    }
}

/// Usage of the resources in the arguments, in their order.
pub(crate) struct ResourceUsages<'a> {
    amounts: &'a RequestedAmounts,
    node: &'a NodeResources,
    index: NodeIndex,
    devices: &'a BackingDevices,
    milli_cpu: i64,
    memory: i64,
    scalars: std::slice::Iter<'a, (Symbol, i64)>,
}

impl ResourceUsages<'_> {
    /// Returns the usage of the next resource, which has this name. `None` for a resource that neither the node nor its
    /// devices provide, and for a scalar resource that the pod does not request (`calculateNodeAllocatableRequest`).
    #[inline(always)]
    pub(crate) fn next(&mut self, name: ResourceName) -> Option<ResourceUsage> {
        let node = self.node;
        let (allocatable, before, requested) = match name {
            ResourceName::Cpu => (node.allocatable.milli_cpu, self.milli_cpu, self.amounts.milli_cpu),
            ResourceName::Memory => (node.allocatable.memory, self.memory, self.amounts.memory),
            ResourceName::EphemeralStorage => {
                (node.allocatable.ephemeral_storage, node.requested.ephemeral_storage, self.amounts.ephemeral_storage)
            }
            ResourceName::Scalar(_) => {
                let at = self.amounts.scalars.len() - self.scalars.len();
                let &(name, requested) = self.scalars.next()?;
                if requested == 0 {
                    return None;
                }
                match node.allocatable_scalar(name).filter(|allocatable| *allocatable != 0) {
                    Some(allocatable) => (allocatable, node.requested_scalar(name).unwrap_or(0), requested),
                    None => {
                        let devices = self.devices.count(at, self.index)?;
                        (devices.allocatable, devices.used, requested)
                    }
                }
            }
        };
        (allocatable != 0).then(|| ResourceUsage { allocatable, before, after: before.wrapping_add(requested) })
    }
}

/// Returns whether the name is that of an extended resource (`IsExtendedResourceName`).
pub(crate) fn is_extended(name: &str) -> bool {
    name.contains('/')
        && !name.contains("kubernetes.io/")
        && !name.starts_with("requests.")
        && label_key_problems(&format!("requests.{name}")).is_empty()
}

/// Returns whether devices can serve the resource (`IsDRAExtendedResourceName`).
pub(crate) fn is_device_resource(name: &str) -> bool {
    name.starts_with("deviceclass.resource.kubernetes.io/") || is_extended(name)
}
