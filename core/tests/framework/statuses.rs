//! The rows of docs/statuses.md: the effects of a plugin's answer. Each row is executed and compared; `UPDATE_EXPECT=1`
//! writes the results.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use expect_test::expect_file;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use schedc_core::client::{ApiError, Client, Condition, Event, StatusPatch};
use schedc_core::extension_points::Placement;
use schedc_core::model::Pod;
use schedc_core::queue::QueuePlace;
use schedc_core::scheduler::{Change, Completed, Options, Scheduler, Tasks, TieBreak};
use schedc_core::status::Code;
use schedc_objects::testing;

use crate::framework::plugins::stage::{self, Answer, notes, set_answer};
use crate::framework::test_cluster::uid;

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/everywhere.toml");
}
use scheduler::Profiles;

/// Extension points whose plugins return a status.
const POINTS: [&str; 10] = [
    "PreEnqueue",
    "PreFilter",
    "Filter",
    "PostFilter",
    "PreScore",
    "Reserve",
    "Permit",
    "PreBindPreFlight",
    "PreBind",
    "Bind",
];
const CODES: [&str; 7] =
    ["Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending"];

const SECOND: i64 = 1_000_000_000;

/// The test of a row: the answers of the plugins X and Y, and the steps after the attempt.
struct Scene {
    answers: Vec<(&'static str, Answer)>,
    nodes: &'static [&'static str],
    then: fn(&mut Stage),
}

impl Scene {
    /// Makes a scene in which Y binds all pods that reach it.
    fn of(call: &'static str, answer: Answer) -> Scene {
        Scene { answers: vec![("Y bind", Answer::Done), (call, answer)], nodes: &["n"], then: |_| {} }
    }
    fn and(mut self, call: &'static str, answer: Answer) -> Scene {
        self.answers.push((call, answer));
        self
    }
    fn then(self, then: fn(&mut Stage)) -> Scene {
        Scene { then, ..self }
    }
}

/// Returns the scene of a row.
fn scene(point: &str, answer: &str) -> Scene {
    let status = match answer.split(',').next().unwrap_or_default() {
        "Success" => Some(Answer::Nothing),
        "Unschedulable" => Some(Answer::Reject("no")),
        "UnschedulableAndUnresolvable" => Some(Answer::RejectUnresolvable("no")),
        "Pending" => Some(Answer::Pend("no")),
        "Error" => Some(Answer::Fail("no")),
        "Skip" => Some(Answer::Misuse(Code::Skip, "no")),
        "Wait" => Some(Answer::Misuse(Code::Wait, "no")),
        _ => None,
    };
    let with_status = |call| status.map(|status| Scene::of(call, status));
    let scene = match (point, answer) {
        ("PreEnqueue", _) => with_status("X pre-enqueue"),
        ("PreFilter", "Success, for no node") => Some(Scene::of("X pre-filter", Answer::NoNode)),
        ("PreFilter", "Skip") => Some(Scene::of("X pre-filter", Answer::Skip)),
        ("PreFilter", _) => with_status("X pre-filter"),
        ("Filter", _) => with_status("X filter"),
        ("PostFilter", "Success") => Some(Scene::of("X post-filter", Answer::Done)),
        ("PostFilter", "Success, with a node") => Some(Scene::of("X post-filter", Answer::Nominate)),
        ("PostFilter", _) => with_status("X post-filter"),
        ("PreScore", "Skip") => Some(Scene::of("X pre-score", Answer::Skip)),
        ("PreScore", _) => with_status("X pre-score"),
        ("Score", "Success, 101") => Some(Scene::of("X score", Answer::Number(101))),
        ("Score", _) => with_status("X score"),
        ("Reserve", _) => with_status("X reserve"),
        ("Permit", "Wait, no answer") => Some(Scene::of("X permit", Answer::Wait(1)).then(|stage| stage.tick(1))),
        ("Permit", "Wait, then allowed") => {
            let scene = Scene::of("X permit other", Answer::AllowOthers).and("X permit web", Answer::Wait(1));
            Some(scene.then(|stage| stage.pod("other")))
        }
        ("Permit", "Wait, then rejected") => {
            let reject = Answer::Call(|handle| handle.reject(uid("web"), "X", "no"));
            let scene = Scene::of("X permit other", reject).and("X permit web", Answer::Wait(1));
            Some(scene.then(|stage| stage.pod("other")))
        }
        ("Permit", "Wait, then preempted") => Some(Scene::of("X permit", Answer::Wait(1)).then(Stage::preempt)),
        ("Permit", "Wait, then deleted") => {
            Some(Scene::of("X permit", Answer::Wait(1)).then(|stage| stage.change(Change::PodDeleted(uid("web")))))
        }
        ("Permit", "Wait") => Some(Scene::of("X permit", Answer::Wait(1))),
        ("Permit", _) => with_status("X permit"),
        ("PreBindPreFlight", "Success, in parallel") => Some(Scene::of("X pre-flight", Answer::Parallel)),
        ("PreBindPreFlight", "Skip") => Some(Scene::of("X pre-flight", Answer::Skip)),
        ("PreBindPreFlight", _) => with_status("X pre-flight"),
        ("PreBind", "nothing yet, and the pod is preempted") => {
            Some(Scene::of("X pre-bind", Answer::Never).then(Stage::preempt))
        }
        ("PreBind", _) => with_status("X pre-bind"),
        ("Bind", "Success") => Some(Scene::of("X bind", Answer::Done)),
        ("Bind", "Skip") => Some(Scene::of("X bind", Answer::Nothing)),
        ("Bind", "Skip, and so do all others") => {
            Some(Scene::of("Y bind", Answer::Nothing).and("X bind", Answer::Nothing))
        }
        ("Bind", _) => with_status("X bind"),
        ("PostBind", _) => with_status("X post-bind"),
        _ => None,
    };
    let mut scene = scene.unwrap_or_else(|| panic!("{point}: unknown answer `{answer}`"));
    match point {
        "PostFilter" => scene.answers.insert(0, ("X filter", Answer::Reject("full"))),
        "PreScore" | "Score" => scene.nodes = &["n", "m"],
        _ => {}
    }
    scene
}

/// A cluster that records the writes about the pod `web`.
#[derive(Clone, Default)]
struct Cluster(Arc<Mutex<Writes>>);

#[derive(Default)]
struct Writes {
    conditions: Vec<Condition>,
    nominations: Vec<Option<Arc<str>>>,
    events: Vec<Event>,
}

impl Client for Cluster {
    async fn bind(&self, _: &Placement) -> Result<(), ApiError> {
        Ok(())
    }
    async fn patch_pod_status(&self, pod: &Arc<Pod>, patch: &StatusPatch) -> Result<(), ApiError> {
        if &*pod.name == "web" {
            let writes = &mut *self.0.lock().unwrap();
            writes.conditions.extend(patch.condition.clone());
            writes.nominations.extend(patch.nominated_node.clone());
        }
        Ok(())
    }
    fn record(&self, event: Event) {
        if &*event.regarding.name == "web" {
            self.0.lock().unwrap().events.push(event);
        }
    }
    async fn sleep(&self, _: Duration) {}
}

/// Tasks in progress.
#[derive(Default)]
struct Running(Vec<BoxFuture<'static, Completed>>);

impl Tasks for Running {
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static) {
        self.0.push(task.boxed());
    }
}

impl Running {
    /// Returns the tasks that complete now.
    fn poll(&mut self) -> Vec<Completed> {
        let mut completed = Vec::new();
        self.0.retain_mut(|task| match task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => {
                completed.push(done);
                false
            }
            Poll::Pending => true,
        });
        completed
    }
}

/// A scheduler whose cluster responds at once.
struct Stage {
    scheduler: Scheduler<Profiles, Cluster>,
    cluster: Cluster,
    tasks: Running,
    /// The calls about the pod `web`.
    calls: Vec<String>,
}

impl Stage {
    fn new(scene: &Scene) -> Stage {
        stage::clear();
        let cluster = Cluster::default();
        let options = Options { tie_break: TieBreak::First, ..Options::default() };
        let scheduler = Scheduler::new(cluster.clone(), options).unwrap();
        let mut stage = Stage { scheduler, cluster, tasks: Running::default(), calls: Vec::new() };
        scene.nodes.iter().for_each(|node| stage.node(node));
        scene.answers.iter().for_each(|(call, answer)| set_answer(call, *answer));
        stage
    }

    fn change(&mut self, change: Change) {
        self.scheduler.on_change(change, &mut self.tasks);
        self.settle();
    }
    fn node(&mut self, name: &str) {
        let yaml = format!("metadata: {{ name: '{name}' }}");
        let node = testing::node(&yaml, &mut self.scheduler.cache.base.interner);
        self.change(Change::Node(node));
    }
    /// Adds and attempts a pod. The pod `web` is nominated for a node that no longer exists.
    fn pod(&mut self, name: &str) {
        let status = if name == "web" { "{ nominatedNodeName: gone }" } else { "{}" };
        let yaml = format!(
            "metadata: {{ name: {name}, uid: {name}, namespace: default }}\nspec: {{ schedulerName: everywhere }}\n\
             status: {status}"
        );
        let pod = testing::pod(&yaml, &mut self.scheduler.cache.base.interner);
        self.change(Change::Pod(pod));
        self.scheduler.schedule_one(&mut self.tasks);
        self.settle();
        // Most calls before PostFilter do not name the pod.
        let about_web =
            |note: &&String| name == "web" || note.split(' ').nth(2).is_some_and(|pod| pod.starts_with("web"));
        self.calls.extend(notes().iter().filter(about_web).cloned());
    }
    /// Adds a pod that preempts `web`.
    fn preempt(&mut self) {
        set_answer("X filter", Answer::Reject("full"));
        set_answer("X post-filter", Answer::Evict("web"));
        self.pod("other");
    }
    fn tick(&mut self, seconds: i64) {
        self.scheduler.tick(seconds * SECOND, &mut self.tasks);
        self.settle();
    }
    fn settle(&mut self) {
        loop {
            let completed = self.tasks.poll();
            if completed.is_empty() {
                return;
            }
            completed.into_iter().for_each(|completed| self.scheduler.on_completed(completed, &mut self.tasks));
        }
    }

    /// Returns the place of the pod `web`. If the pod is unschedulable, also returns its place after an event.
    fn place(&mut self) -> String {
        let place = self.scheduler.place(&uid("web"));
        match place {
            None if self.scheduler.cache.pod(&uid("web")).is_some() => "bound".to_owned(),
            None => "forgotten".to_owned(),
            Some(QueuePlace::Unschedulable) => {
                self.node("later");
                let place = self.scheduler.place(&uid("web")).map_or("forgotten", describe);
                format!("unschedulable; after an event, {place}")
            }
            Some(place) => describe(place).to_owned(),
        }
    }
}

pub fn describe(place: QueuePlace) -> &'static str {
    match place {
        QueuePlace::Active => "active",
        QueuePlace::Backoff => "backoff",
        QueuePlace::ErrorBackoff => "error backoff",
        QueuePlace::Unschedulable => "unschedulable",
        QueuePlace::Gated => "gated",
        QueuePlace::InFlight => "in flight",
    }
}

/// Returns the cells of a row that follow the cell with the answer.
fn row_cells(point: &str, answer: &str) -> [String; 5] {
    let scene = scene(point, answer);
    let mut stage = Stage::new(&scene);
    notes();
    stage.pod("web");
    (scene.then)(&mut stage);
    stage.calls.extend(notes());
    let calls = calls_after(scene.answers.last().unwrap().0, &stage.calls);
    let place = stage.place();
    let writes = stage.cluster.0.lock().unwrap();
    let condition = match &writes.conditions[..] {
        [] => "none".to_owned(),
        [Condition { kind: "PodScheduled", status: false, reason, message }] => format!("{reason}: `{message}`"),
        more => panic!("{point}, {answer}: {more:?}"),
    };
    let nominations: Vec<&str> = writes.nominations.iter().map(|node| node.as_deref().unwrap_or("none")).collect();
    for event in &writes.events {
        match event.reason {
            "FailedScheduling" => assert_eq!(event.note, writes.conditions[0].message),
            "Scheduled" => assert_eq!(event.note, "Successfully assigned default/web to n"),
            _ => {}
        }
    }
    let events: Vec<&str> = writes.events.iter().map(|event| event.reason).collect();
    let events = if events.is_empty() { "none".to_owned() } else { events.join(", ") };
    let nominations = if nominations.is_empty() { "unchanged".to_owned() } else { nominations.join(", then ") };
    [calls, condition, events, nominations, place]
}

/// Returns the calls after X's answer, point by point.
fn calls_after(call: &str, notes: &[String]) -> String {
    let mut points: Vec<(String, Vec<String>)> = Vec::new();
    let prefix: Vec<&str> = call.split(' ').take(2).collect();
    let mut notes = notes.iter().map(|note| note.split(' ').collect::<Vec<_>>());
    notes.find(|note| note.starts_with(&prefix));
    // Filter or Score may run again: for another node, or to compute the reasons.
    for note in notes.filter(|note| !note.starts_with(&prefix)) {
        let [plugin, point] = [note[0], note[1]].map(str::to_owned);
        match points.last_mut() {
            Some((last, plugins)) if *last == point => {
                if !plugins.contains(&plugin) {
                    plugins.push(plugin);
                }
            }
            _ => points.push((point, vec![plugin])),
        }
    }
    let calls: Vec<String> = points.iter().map(|(point, plugins)| format!("{point} {}", plugins.join(" "))).collect();
    if calls.is_empty() { "none".to_owned() } else { calls.join("; ") }
}

#[test]
fn statuses_have_the_documented_effects() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/statuses.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let (mut point, mut actual, mut rows) = ("", String::new(), Vec::new());
    for line in written.lines() {
        point = line.strip_prefix("## ").unwrap_or(point);
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let is_row = line.starts_with("| ") && !line.starts_with("| X returns") && !point.is_empty();
        if is_row {
            rows.push((point, cells[0].split(',').next().unwrap_or_default()));
            actual += &format!("| {} | {} |\n", cells[0], row_cells(point, cells[0]).join(" | "));
        } else {
            actual += line;
            actual += "\n";
        }
    }
    expect_file![path].assert_eq(&actual);
    for point in POINTS {
        for code in CODES {
            assert!(rows.contains(&(point, code)), "{point} has no row for `{code}`");
        }
    }
}
