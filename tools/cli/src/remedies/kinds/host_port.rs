//! Host ports of the pod.

use std::fmt;

use k8s_openapi::api::core::v1::{Container, PodSpec};
use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Removes a host port of a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveHostPort {
    /// The container.
    pub container: String,
    /// The port.
    pub port: i32,
    /// The protocol.
    pub protocol: String,
}

impl RemoveHostPort {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        if !situation.has("NodePorts") {
            return;
        }
        let mut spec = fork.subject().spec.unwrap_or_default();
        for container in long_running(&mut spec) {
            for port in container.ports.take().into_iter().flatten() {
                if let Some(number) = port.host_port.filter(|&number| number > 0) {
                    let protocol = port.protocol.unwrap_or_else(|| "TCP".to_owned());
                    add(RemoveHostPort { container: container.name.clone(), port: number, protocol });
                }
            }
        }
    }
}

/// Returns the containers that run as long as the pod: only their host ports count.
fn long_running(spec: &mut PodSpec) -> impl Iterator<Item = &mut Container> {
    let init = spec.init_containers.iter_mut().flatten();
    let sidecars = init.filter(|container| container.restart_policy.as_deref() == Some("Always"));
    spec.containers.iter_mut().chain(sidecars)
}

impl Change for RemoveHostPort {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let mut pod = fork.subject();
        let Some(spec) = &mut pod.spec else { return false };
        // With the host's network, every container port is a host port.
        if spec.host_network == Some(true) {
            return false;
        }
        let containers = long_running(spec).filter(|container| container.name == self.container);
        for port in containers.flat_map(|container| container.ports.iter_mut().flatten()) {
            if port.host_port == Some(self.port) && port.protocol.as_deref().unwrap_or("TCP") == self.protocol {
                port.host_port = None;
            }
        }
        fork.set(pod);
        true
    }

    fn disturbance(&self) -> u32 {
        54
    }
}

impl fmt::Display for RemoveHostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RemoveHostPort { container, port, protocol } = self;
        write!(f, "remove host port {port}/{protocol} of container {container}")
    }
}
