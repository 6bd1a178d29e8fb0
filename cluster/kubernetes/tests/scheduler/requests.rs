//! The requests that change objects are equal to those of kube-scheduler in the same scenarios.
//!
//! The recording is of kube-scheduler 1.36.2. Requests are compared in order for each object. Events of a pod are
//! compared separately, since they are written concurrently. Times, uids, versions, and the names of replicas, hosts
//! and events are ignored. Intended differences are in [`DIFFERENCES`].

use std::collections::BTreeMap;

use schedc_fake_apiserver::Server;
use serde_json::{Value, json};

use crate::scheduler::cluster::until;
use crate::scheduler::replica::Replica;

mod scenarios;

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";

/// Intended difference: its description, and a function that removes it from a request of either scheduler.
type Difference = (&'static str, fn(&mut Request));

const DIFFERENCES: &[Difference] = &[
    ("status patches of pods contain the uid; kube-scheduler's do not", |request| {
        if request.path.ends_with("/status") {
            take(&mut request.body, "metadata");
        }
    }),
    ("deletions of victims have the uid as a precondition; kube-scheduler's do not", |request| {
        if request.verb == "delete" {
            take(&mut request.body, "preconditions");
        }
    }),
    ("volumes and claims are patched; kube-scheduler replaces the whole object", |request| {
        let changes: &[&str] = match request.path.split('/').nth_back(1) {
            Some("persistentvolumes") => &["/metadata/annotations", "/spec/claimRef"],
            Some("persistentvolumeclaims") => &["/metadata/annotations"],
            _ => return,
        };
        request.verb = "change".to_owned();
        request.body = changes.iter().map(|path| json!({ *path: request.body.pointer(path) })).collect();
    }),
    ("empty fields of events are omitted; kube-scheduler writes `null`, `{}` and empty strings", |request| {
        if request.path.ends_with("/events") {
            remove_empty_fields(&mut request.body);
        }
    }),
    ("deletion options have version `v1`; the recording has the API server's internal form", |request| {
        if request.verb == "delete" {
            take(&mut request.body, "apiVersion");
        }
    }),
];

/// Request that changes an object.
#[derive(Clone, Debug, PartialEq)]
struct Request {
    verb: String,
    path: String,
    body: Value,
}

impl Request {
    /// Creates a request without fields that vary between runs.
    fn new(verb: &str, path: &str, body: &Value) -> Request {
        let mut body = body.clone();
        forget_what_varies(&mut body);
        Request { verb: verb.to_owned(), path: path.to_owned(), body }
    }

    /// Returns the object of the request. Requests about one object are compared in order.
    fn object(&self) -> String {
        let text = |path| self.body.pointer(path).and_then(Value::as_str).unwrap_or_default();
        match self.path.rsplit_once('/') {
            Some((path, "events")) => format!("{path} of {}{}", text("/regarding/name"), text("/involvedObject/name")),
            Some((path, "binding" | "status")) => path.to_owned(),
            // A lease is created at the path of all leases.
            Some((_, "leases")) => LEASE.to_owned(),
            _ => self.path.clone(),
        }
    }
}

/// Requests of a scenario, by object.
type Requests = BTreeMap<String, Vec<Request>>;

fn by_object(requests: impl IntoIterator<Item = Request>) -> Requests {
    let mut all = Requests::new();
    for request in requests {
        all.entry(request.object()).or_default().push(request);
    }
    // The number of lease renewals depends on the time.
    if let Some(lease) = all.get_mut(LEASE) {
        lease.dedup();
    }
    all
}

/// Formats one line for each request.
fn lines(requests: &Requests) -> String {
    let line = |Request { verb, path, body }: &Request| format!("{verb} {path} {body}\n");
    requests.values().flatten().map(line).collect()
}

/// Returns the recorded requests of kube-scheduler in a scenario.
fn recorded(scenario: &str) -> Vec<Request> {
    let lines = include_str!("../recordings/requests.jsonl").lines();
    let requests = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |request: &Value, key: &str| request[key].as_str().unwrap().to_owned();
    requests
        .filter(|request| request["scenario"] == scenario)
        .filter(|request| !["get", "list", "watch"].contains(&text(request, "verb").as_str()))
        .map(|request| Request::new(&text(&request, "verb"), &text(&request, "path"), &request["body"]))
        .collect()
}

/// Returns the requests of this scheduler.
fn writes_of(server: &Server, scenario: &str) -> Vec<Request> {
    let writes = server.writes().into_iter().filter(|request| request.scenario == scenario);
    writes.map(|request| Request::new(request.verb, &request.path, &request.body.unwrap_or_default())).collect()
}

#[test]
fn requests_of_the_scheduler_equal_those_of_kube_scheduler() {
    let server = Server::start();
    scenarios::create_nodes(&server);
    server.scenario(scenarios::START);
    let mut scheduler = Some(Replica::elected(&server, "a"));
    let mut are_needed = vec![false; DIFFERENCES.len()];
    for (scenario, play, clean_up) in scenarios::ALL {
        let recorded = recorded(scenario);
        assert!(!recorded.is_empty(), "{scenario} is not in the recording");
        server.scenario(scenario);
        if *scenario == scenarios::STOP {
            scheduler.take().map(Replica::stop);
        } else {
            play(&server);
            until(&server, scenario, |server| {
                by_object(writes_of(server, scenario)).len() >= by_object(recorded.clone()).len()
            });
            // Waits for further requests.
            scenarios::pause();
        }
        let [mut theirs, mut ours] = [recorded, writes_of(&server, scenario)].map(|requests| {
            let requests = requests.into_iter().map(|request| undo_differences(request, &mut are_needed));
            by_object(requests.map(|request| scenarios::forget_draws(scenario, request)))
        });
        if ![scenarios::START, scenarios::STOP].contains(scenario) {
            // The lease may or may not be renewed meanwhile.
            for requests in [&mut theirs, &mut ours] {
                requests.remove(LEASE);
            }
        }
        assert!(ours == theirs, "{scenario}\n\nours:\n{}\ntheirs:\n{}", lines(&ours), lines(&theirs));
        clean_up(&server);
        scenarios::pause();
    }
    for ((difference, _), is_needed) in DIFFERENCES.iter().zip(are_needed) {
        assert!(is_needed, "there is no such difference: {difference}");
    }
}

/// Returns the request without intended differences.
fn undo_differences(mut request: Request, are_needed: &mut [bool]) -> Request {
    for ((_, undo), is_needed) in DIFFERENCES.iter().zip(are_needed) {
        let before = request.clone();
        undo(&mut request);
        *is_needed |= before != request;
    }
    request
}

fn take(body: &mut Value, key: &str) {
    body.as_object_mut().and_then(|body| body.remove(key));
}

fn remove_empty_fields(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.values_mut().for_each(remove_empty_fields);
        fields.retain(|_, value| !value.is_null() && *value != json!({}) && *value != "");
    }
}

/// Replaces or removes times, uids, versions, and names of replicas, hosts and events.
fn forget_what_varies(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(forget_what_varies),
        Value::Object(fields) => {
            fields.remove("resourceVersion");
            for (key, value) in fields {
                let is_time = key.ends_with("Time") || key.ends_with("Timestamp");
                match (key.as_str(), value) {
                    (_, value) if is_time && value.is_string() => *value = "a time".into(),
                    ("holderIdentity", value) if *value != "" => *value = "a replica".into(),
                    ("uid", value) => *value = "a uid".into(),
                    (_, Value::String(text)) => *text = without_varying_parts(key, text),
                    (_, value) => forget_what_varies(value),
                }
            }
        }
        _ => {}
    }
}

fn without_varying_parts(key: &str, text: &str) -> String {
    match key {
        "message" => {
            text.split_once(" became leader").map_or(text.to_owned(), |_| "a replica became leader".to_owned())
        }
        "reportingInstance" => text.rsplit_once('-').map_or(String::new(), |(scheduler, _)| scheduler.to_owned()),
        // The name of an event is the name of its object, a dot, and 16 hexadecimal digits.
        "name" => match text.rsplit_once('.') {
            Some((pod, number)) if number.len() == 16 => pod.to_owned(),
            _ => text.to_owned(),
        },
        _ => {
            let is_uid = |word: &str| word.len() == 36 && word.matches('-').count() == 4;
            let words = text.split(' ').map(|word| if is_uid(word) { "a-uid" } else { word });
            words.collect::<Vec<_>>().join(" ")
        }
    }
}
