//! The table of docs/queue.md about a pod that has its node: a row for each event, a column for each phase. Each cell
//! is executed and compared; `UPDATE_EXPECT=1` writes the results.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use expect_test::expect_file;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use schedc_core::cache::PodState;
use schedc_core::client::{ApiError, ApiReason, Client};
use schedc_core::extension_points::Placement;
use schedc_core::queue::QueuePlace;
use schedc_core::scheduler::{Change, Completed, InProgressCounts, ObjectId, Options, Scheduler, Tasks};
use schedc_objects::testing;

use crate::framework::plugins::stage::{self, Answer, notes, set_answer};
use crate::framework::statuses::describe;
use crate::framework::test_cluster::uid;

pub mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/binding.toml");
}
use scheduler::Profiles;

const SECOND: i64 = 1_000_000_000;

/// Phase of a pod.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Writing,
    Waiting,
    PreBinding,
    Binding,
    Finished,
    Bound,
}

const PHASES: [(&str, Phase); 6] = [
    ("its nomination is written", Phase::Writing),
    ("it waits in Permit", Phase::Waiting),
    ("PreBind runs", Phase::PreBinding),
    ("it is being bound", Phase::Binding),
    ("bound, unconfirmed", Phase::Finished),
    ("bound", Phase::Bound),
];

/// A cluster that refuses to bind the pod `web` if the flag is set, as if the pod had been deleted or bound meanwhile.
#[derive(Clone, Default)]
struct Cluster(Arc<AtomicBool>);

impl Client for Cluster {
    async fn bind(&self, placement: &Placement) -> Result<(), ApiError> {
        match &*placement.pod.uid.0 == "web" && self.0.load(Ordering::Relaxed) {
            true => Err(ApiError::new(ApiReason::Conflict, "the pod was deleted or bound meanwhile")),
            false => Ok(()),
        }
    }
    async fn sleep(&self, _: Duration) {}
}

/// Calls to the cluster that have not run yet.
#[derive(Default)]
struct Held(Vec<BoxFuture<'static, Completed>>);

impl Tasks for Held {
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static) {
        self.0.push(task.boxed());
    }
}

/// The pod `web` on its way to node `n`, and the pod `other`, which is unschedulable because `n` is full.
struct SchedulerFixture {
    scheduler: Scheduler<Profiles, Cluster>,
    cluster: Cluster,
    held: Held,
}

impl SchedulerFixture {
    fn new(phase: Phase) -> SchedulerFixture {
        stage::clear();
        let cluster = Cluster::default();
        let scheduler = Scheduler::new(cluster.clone(), Options::default()).unwrap();
        let mut fixture = SchedulerFixture { scheduler, cluster, held: Held::default() };
        fixture.node("n", 1);
        set_answer("A permit other", Answer::AllowOthers);
        if phase == Phase::Waiting {
            set_answer("A permit web", Answer::Wait(60));
        }
        fixture.pod("web", "");
        assert!(fixture.scheduler.schedule_one(&mut fixture.held));
        let rounds = match phase {
            Phase::Writing => 0,
            Phase::Waiting | Phase::PreBinding => 1,
            Phase::Binding => 2,
            Phase::Finished | Phase::Bound => 3,
        };
        for _ in 0..rounds {
            assert!(fixture.round());
        }
        if phase == Phase::Bound {
            fixture.pod("web", "n");
        }
        fixture.pod("other", "");
        assert!(fixture.scheduler.schedule_one(&mut fixture.held));
        assert_eq!(fixture.scheduler.place(&uid("other")), Some(QueuePlace::Unschedulable));
        assert_eq!(fixture.scheduler.in_progress().waiting, usize::from(phase == Phase::Waiting));
        fixture
    }

    fn change(&mut self, change: Change) {
        self.scheduler.on_change(change, &mut self.held);
    }
    fn node(&mut self, name: &str, pods: u32) {
        let yaml = format!("metadata: {{ name: '{name}' }}\nstatus: {{ allocatable: {{ pods: {pods} }} }}");
        let node = testing::node(&yaml, &mut self.scheduler.cache.base.interner);
        self.change(Change::Node(node));
    }
    fn pod(&mut self, name: &str, node: &str) {
        self.pod_with(name, &format!("nodeName: '{node}'"), "");
    }
    fn pod_with(&mut self, uid: &str, spec: &str, meta: &str) {
        let name = uid.trim_end_matches('2');
        let yaml =
            format!("metadata: {{ name: '{name}', uid: '{uid}', {meta} }}\nspec: {{ schedulerName: binding, {spec} }}");
        let pod = testing::pod(&yaml, &mut self.scheduler.cache.base.interner);
        self.change(Change::Pod(pod));
    }

    /// Runs and completes all calls. Returns whether there was one.
    fn round(&mut self) -> bool {
        let held = std::mem::take(&mut self.held.0);
        let had_calls = !held.is_empty();
        for mut call in held {
            let Poll::Ready(completed) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
                panic!("every call is ready at once")
            };
            self.scheduler.on_completed(completed, &mut self.held);
        }
        had_calls
    }

    /// Returns the node on which the pod counts, and whether it is only assumed.
    fn node_of_web(&self) -> String {
        let Some((_, node, state)) = self.scheduler.cache.pod(&uid("web")) else { return "nowhere".to_owned() };
        let node = self.scheduler.cache.base.interner.resolve(node);
        let state = match state {
            PodState::Assumed => "assumed on",
            PodState::BindingFinished => "unconfirmed on",
            PodState::Bound => "on",
        };
        format!("{state} {node}")
    }

    /// Completes everything in progress; if the pod waits in Permit, the attempt of `other` allows it.
    fn finish(&mut self) -> String {
        while self.round() {}
        if self.scheduler.in_progress().waiting > 0 {
            self.node("x", 9);
            self.scheduler.tick(2 * SECOND, &mut self.held);
            assert!(self.scheduler.schedule_one(&mut self.held));
            while self.round() {}
        }
        assert_eq!(self.scheduler.in_progress(), InProgressCounts::default());
        let mut end = Vec::new();
        if notes().iter().any(|note| note.starts_with("A unreserve web")) {
            end.push("unreserved".to_owned());
        }
        match self.scheduler.place(&uid("web")) {
            Some(place) => end.push(describe(place).to_owned()),
            None if self.scheduler.cache.pod(&uid("web")).is_some() => end.push(self.node_of_web()),
            None => end.push("forgotten".to_owned()),
        }
        end.join(", ")
    }
}

fn apply(fixture: &mut SchedulerFixture, what: &str, phase: Phase) {
    // The watch reports a bound pod with its node.
    let node = if phase == Phase::Bound { "nodeName: 'n'" } else { "nodeName: ''" };
    let refuse_binding = || fixture.cluster.0.store(true, Ordering::Relaxed);
    match what {
        "nothing" => {}
        "it changes" => fixture.pod_with("web", node, "labels: { changed: 'yes' }"),
        "its deletion begins" => {
            refuse_binding();
            fixture.pod_with("web", node, "deletionTimestamp: '2026-01-01T00:00:00Z'");
        }
        "it is deleted" => {
            refuse_binding();
            fixture.change(Change::PodDeleted(uid("web")));
        }
        "it is created again, with another uid" => {
            refuse_binding();
            fixture.pod("web2", "");
            assert_eq!(fixture.scheduler.place(&uid("web2")), Some(QueuePlace::Active));
            fixture.change(Change::PodDeleted(uid("web2")));
        }
        "its binding to its node is observed" => {
            // Before this scheduler sends its binding request, an observed binding is that of another scheduler.
            if matches!(phase, Phase::Writing | Phase::Waiting | Phase::PreBinding) {
                refuse_binding();
            }
            fixture.pod("web", "n");
        }
        "another client binds it to `m`" => {
            refuse_binding();
            fixture.pod("web", "m");
        }
        "its node is deleted" => {
            let node = fixture.scheduler.cache.base.interner.intern("n");
            fixture.change(Change::NodeDeleted(node));
        }
        other => panic!("unknown row `{other}`"),
    }
}

/// Returns the text of a cell: the node on which the pod counts at once, whether other pods are retried, and the final
/// state.
fn cell(what: &str, phase: Phase) -> String {
    let mut fixture = SchedulerFixture::new(phase);
    notes();
    apply(&mut fixture, what, phase);
    let now = fixture.node_of_web();
    let woken = fixture.scheduler.place(&uid("other")) != Some(QueuePlace::Unschedulable);
    let end = fixture.finish();
    format!("{now}{}; then {end}", if woken { ", others are tried" } else { "" })
}

#[test]
fn changes_of_an_assumed_pod_have_the_documented_results() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/queue.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let head = format!("| while | {} |", PHASES.map(|(name, _)| name).join(" | "));
    let (before, after) = written.split_once(&head).unwrap();
    let mut actual = format!("{before}{head}");
    let mut is_table = true;
    for line in after.split_inclusive('\n') {
        is_table &= line == "\n" && actual.ends_with(&head) || line.starts_with('|');
        match line.strip_prefix("| ").filter(|_| is_table) {
            Some(row) => {
                let what = row.split(" | ").next().unwrap();
                let cells = PHASES.map(|(_, phase)| cell(what, phase));
                actual += &format!("| {what} | {} |\n", cells.join(" | "));
            }
            None => actual += line,
        }
    }
    expect_file![path].assert_eq(&actual);
}

#[test]
fn a_slow_status_write_delays_no_other_binding() {
    let mut fixture = SchedulerFixture::new(Phase::Binding);
    let mut binding = fixture.held.0.remove(0);
    let Poll::Ready(bound) = binding.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!() };
    fixture.scheduler.on_completed(bound, &mut fixture.held);
    assert_eq!(fixture.node_of_web(), "unconfirmed on n");
    assert_eq!(fixture.scheduler.in_progress().status_writes, 1, "the write about `other`");
}

/// Lists all objects, as after a start or a gap in the watches.
fn with_all_objects(fixture: &mut SchedulerFixture, nodes: &[&str], pods: &[&str]) {
    let interner = &mut fixture.scheduler.cache.base.interner;
    let pods = pods.iter().map(|yaml| Change::Pod(testing::pod(yaml, interner))).collect();
    let nodes = nodes.iter().map(|yaml| Change::Node(testing::node(yaml, interner))).collect();
    // The pods are listed before the nodes, which is the less likely order.
    fixture.scheduler.relist(pods, |id| matches!(id, ObjectId::Pod(_)), &mut fixture.held);
    fixture.scheduler.relist(nodes, |id| matches!(id, ObjectId::Node(_)), &mut fixture.held);
}

const N: &str = "metadata: { name: 'n' }\nstatus: { allocatable: { pods: 1 } }";
const M: &str = "metadata: { name: 'm' }\nstatus: { allocatable: { pods: 1 } }";
const ON_M: &str = "metadata: { name: bound, uid: bound }\nspec: { nodeName: m }";
const NEW: &str = "metadata: { name: new, uid: new }\nspec: { schedulerName: binding }";

#[test]
fn a_relist_repairs_missed_events() {
    let mut fixture = SchedulerFixture::new(Phase::Bound);
    let other = "metadata: { name: other, uid: other }\nspec: { schedulerName: binding }";
    // `web` and `n` were removed, `m` was added and another pod was bound there, and there is a new pod.
    with_all_objects(&mut fixture, &[M], &[ON_M, NEW, other]);
    let cache = &fixture.scheduler.cache;
    assert_eq!(cache.base.count(), 1);
    assert_eq!(cache.pods().map(|(pod, ..)| &*pod.name).collect::<Vec<_>>(), ["bound"]);
    assert_eq!(fixture.scheduler.place(&uid("new")), Some(QueuePlace::Active));
    assert_eq!(fixture.scheduler.place(&uid("other")), Some(QueuePlace::Backoff), "the relist woke it");
    // The same list again changes nothing.
    while fixture.round() {}
    with_all_objects(&mut fixture, &[M], &[ON_M, NEW, other]);
    assert_eq!(fixture.scheduler.place(&uid("other")), Some(QueuePlace::Backoff));
    assert!(!fixture.round());
}

#[test]
fn a_new_scheduler_counts_bound_pods_before_it_decides() {
    let cluster = Cluster::default();
    let scheduler = Scheduler::new(cluster.clone(), Options::default()).unwrap();
    let mut fixture = SchedulerFixture { scheduler, cluster, held: Held::default() };
    with_all_objects(&mut fixture, &[M, N], &[ON_M, NEW]);
    assert!(fixture.scheduler.schedule_one(&mut fixture.held));
    let (_, node, _) = fixture.scheduler.cache.pod(&uid("new")).unwrap();
    assert_eq!(fixture.scheduler.cache.base.interner.resolve(node), "n");
}
