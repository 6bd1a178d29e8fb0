//! The claim for a pod's extended resources that devices serve.

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{ContainerRequests, PodSpec};

/// Request in the claim for extended resources: a number of devices of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExtendedRequest {
    /// `container-I-request-J`.
    pub(super) name: String,
    pub(super) class: Symbol,
    pub(super) count: i64,
}

/// The request that serves an extended resource of a container, for the pod's status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestMapping {
    pub(super) container: Symbol,
    pub(super) resource: Symbol,
    pub(super) request: String,
}

/// Returns the requests for the resources in `backed`, each with its class, and the requests of each container
/// (`createRequestsAndMappings`).
pub(super) fn requests(
    pod: &PodSpec,
    backed: &[(Symbol, Symbol)],
    interner: &Interner,
) -> (Vec<ExtendedRequest>, Vec<RequestMapping>) {
    let mut backed = backed.to_vec();
    backed.sort_unstable_by_key(|&(resource, _)| interner.resolve(resource));
    let (mut all, mut mappings) = (Vec::new(), Vec::new());
    for (resource, class) in backed {
        let (mut of_long_lived, mut of_short_lived) = (Vec::new(), Vec::new());
        let mut by_container: Vec<Option<ExtendedRequest>> = vec![None; pod.container_requests.len()];
        for (at, container) in pod.container_requests.iter().enumerate().filter(|(_, other)| !other.ends_early) {
            by_container[at] = request(at, container, (resource, class), &[], &mut of_long_lived);
        }
        let mut short_lived: Vec<ExtendedRequest> = Vec::new();
        for (at, container) in pod.container_requests.iter().enumerate().filter(|(_, other)| other.ends_early) {
            short_lived.extend(request(at, container, (resource, class), &by_container[at..], &mut of_short_lived));
        }
        // Containers that end one after the other share the largest of their requests; of several, the first.
        if let Some(largest) = short_lived.iter().rev().max_by_key(|request| request.count).cloned() {
            for mapping in &mut of_short_lived {
                if short_lived.iter().any(|other| other.name == mapping.request) {
                    mapping.request.clone_from(&largest.name);
                }
            }
            all.push(largest);
        }
        all.extend(by_container.into_iter().flatten());
        mappings.append(&mut of_long_lived);
        mappings.append(&mut of_short_lived);
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    (all, mappings)
}

/// Returns the request of a container beyond the requests that it can use, and adds its mappings.
fn request(
    at: usize,
    container: &ContainerRequests,
    (resource, class): (Symbol, Symbol),
    reusable: &[Option<ExtendedRequest>],
    mappings: &mut Vec<RequestMapping>,
) -> Option<ExtendedRequest> {
    let wanted = container.scalars.iter().find(|scalar| scalar.name == resource).filter(|scalar| scalar.amount != 0)?;
    let mut mapping = |request: &str| {
        mappings.push(RequestMapping { container: container.name, resource, request: request.to_owned() });
    };
    let mut found = 0;
    for other in reusable.iter().flatten() {
        found += other.count;
        mapping(&other.name);
        if found >= wanted.amount {
            return None;
        }
    }
    let name = format!("container-{at}-request-{}", wanted.place);
    mapping(&name);
    Some(ExtendedRequest { name, class, count: wanted.amount - found })
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::pod;

    use super::*;

    /// Returns the requests and mappings of a pod as text. Containers are `(kind, requests)`.
    fn check(containers: &[(&str, &str)], expected_requests: &[&str], expected_mappings: &[&str]) {
        let mut interner = Interner::default();
        let (mut init, mut main) = (String::new(), String::new());
        for (at, (kind, requests)) in containers.iter().enumerate() {
            let (list, more) = match *kind {
                "init" => (&mut init, ""),
                "sidecar" => (&mut init, ", restartPolicy: Always"),
                _ => (&mut main, ""),
            };
            *list += &format!("{{name: c{at}, resources: {{requests: {{{requests}}}}}{more}}},");
        }
        let pod = pod(&format!("spec: {{initContainers: [{init}], containers: [{main}]}}"), &mut interner);
        let backed = ["example.com/nic", "example.com/gpu"]
            .map(|resource| (interner.intern(resource), interner.intern(&resource.replace("example.com/", ""))));
        let (requests, mappings) = super::requests(&pod.spec, &backed, &interner);
        let text = |symbol| interner.resolve(symbol);
        let requests: Vec<String> =
            requests.iter().map(|request| format!("{} {}: {}", request.name, text(request.class), request.count)).collect();
        let mappings: Vec<String> = mappings
            .iter()
            .map(|mapping| format!("{} {}: {}", text(mapping.container), text(mapping.resource), mapping.request))
            .collect();
        assert_eq!(requests, expected_requests, "{containers:?}");
        assert_eq!(mappings, expected_mappings, "{containers:?}");
    }

    #[test]
    fn each_container_has_a_request_for_each_resource() {
        check(
            &[("main", "cpu: 1, example.com/gpu: 2, memory: 1"), ("main", "example.com/gpu: 1, example.com/nic: 1")],
            &["container-0-request-1 gpu: 2", "container-1-request-0 gpu: 1", "container-1-request-1 nic: 1"],
            &[
                "c0 example.com/gpu: container-0-request-1",
                "c1 example.com/gpu: container-1-request-0",
                "c1 example.com/nic: container-1-request-1",
            ],
        );
    }

    #[test]
    fn containers_that_end_use_the_devices_of_later_ones() {
        check(
            &[("init", "example.com/gpu: 1"), ("sidecar", "example.com/gpu: 2"), ("main", "example.com/gpu: 1")],
            &["container-1-request-0 gpu: 2", "container-2-request-0 gpu: 1"],
            &[
                "c1 example.com/gpu: container-1-request-0",
                "c2 example.com/gpu: container-2-request-0",
                "c0 example.com/gpu: container-1-request-0",
            ],
        );
    }

    #[test]
    fn of_the_missing_devices_of_containers_that_end_the_largest_number_is_requested() {
        check(
            &[("init", "example.com/gpu: 4"), ("init", "example.com/gpu: 6"), ("main", "example.com/gpu: 1")],
            &["container-1-request-0 gpu: 5", "container-2-request-0 gpu: 1"],
            &[
                "c2 example.com/gpu: container-2-request-0",
                "c0 example.com/gpu: container-2-request-0",
                "c0 example.com/gpu: container-1-request-0",
                "c1 example.com/gpu: container-2-request-0",
                "c1 example.com/gpu: container-1-request-0",
            ],
        );
    }
}
