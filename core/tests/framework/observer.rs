//! Notifications of observers, duration metrics, and the event of the last change.

use schedc_core::events::{Action, ClusterEvent, EventResource};
use schedc_core::minimal_cluster::{InlineTasks, NoopClient};
use schedc_core::model::Pod;
use schedc_core::scheduler::{Change, Observer, Options, Point, Scheduler};
use schedc_core::status::Code;
use schedc_objects::testing;

use crate::framework::plugins::stage::{self, Answer, set_answer};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/binding.toml");
}
use scheduler::Profiles;

/// Notifications of the last attempt.
#[derive(Default)]
struct Notes(Vec<String>);

impl Observer for Notes {
    fn attempt_started(&mut self, profile: usize, _: &Pod) {
        self.0 = vec![format!("profile {profile}")];
    }
    fn point_ended(&mut self, point: Point, code: Code) {
        self.0.push(format!("{point} {code}"));
    }
}

struct SchedulerFixture {
    scheduler: Scheduler<Profiles, NoopClient>,
    tasks: InlineTasks,
    now: i64,
}

impl SchedulerFixture {
    fn new() -> SchedulerFixture {
        stage::clear();
        let scheduler = Scheduler::new(NoopClient, Options::default()).unwrap();
        SchedulerFixture { scheduler, tasks: InlineTasks::default(), now: 0 }
    }
    fn node(&mut self, name: &str) {
        let yaml = format!("metadata: {{ name: '{name}' }}\nstatus: {{ allocatable: {{ pods: 1 }} }}");
        let node = testing::node(&yaml, &mut self.scheduler.cache.base.interner);
        self.scheduler.on_change(Change::Node(node), &mut self.tasks);
    }
    /// Adds and attempts a pod. Returns the notifications of the attempt.
    fn pod(&mut self, name: &str) -> Vec<String> {
        let yaml = format!("metadata: {{ name: '{name}', uid: '{name}' }}\nspec: {{ schedulerName: binding }}");
        let pod = testing::pod(&yaml, &mut self.scheduler.cache.base.interner);
        self.scheduler.on_change(Change::Pod(pod), &mut self.tasks);
        let mut notes = Notes::default();
        assert!(self.scheduler.schedule_one_with_observer(&mut self.tasks, &mut notes));
        notes.0
    }
    /// Advances the time by milliseconds, and completes calls.
    fn wait(&mut self, milliseconds: i64) {
        self.now += milliseconds * 1_000_000;
        self.scheduler.tick(self.now, &mut self.tasks);
        while let Some(completed) = self.tasks.pop() {
            self.scheduler.on_completed(completed, &mut self.tasks);
        }
    }
}

#[test]
fn the_observer_is_called_when_extension_points_end() {
    let mut fixture = SchedulerFixture::new();
    fixture.node("n");
    fixture.node("m");
    let points = fixture.pod("first").join(", ");
    assert_eq!(points, "profile 0, PreFilter Success, Filter Success, Score Success, Reserve Success, Permit Success");
    set_answer("A permit second", Answer::Wait(60));
    assert_eq!(fixture.pod("second").last().map(String::as_str), Some("Permit Wait"));
    // The answer is cached and updated, so the observer is not notified of PreFilter and Filter.
    assert_eq!(fixture.pod("third"), ["profile 0", "PostFilter Unschedulable"]);
}

#[test]
fn waits_in_permit_and_bindings_are_measured() {
    let mut fixture = SchedulerFixture::new();
    fixture.node("n");
    set_answer("A permit web", Answer::Wait(1));
    fixture.pod("web");
    fixture.wait(1);
    fixture.wait(1500);
    let metrics = fixture.scheduler.duration_metrics();
    let (code, waits) = &metrics.permit_waits[0];
    assert_eq!((*code, waits.sum() / 1_000_000), (Code::Unschedulable, 1501));

    set_answer("A permit web", Answer::Done);
    fixture.wait(10_000);
    fixture.pod("another");
    fixture.wait(5);
    let points = &fixture.scheduler.duration_metrics().points;
    let bind = points.iter().find(|((_, point, code), _)| (*point, *code) == (Point::Bind, Code::Success));
    assert!(bind.is_some_and(|(_, durations)| durations.counts(2).iter().sum::<u64>() == 1), "{points:?}");
}

#[test]
fn the_last_change_has_an_event_unless_nothing_changed() {
    let mut fixture = SchedulerFixture::new();
    fixture.node("n");
    assert_eq!(fixture.scheduler.last_event(), Some(ClusterEvent::new(EventResource::Node, Action::ADD)));
    fixture.node("n");
    assert_eq!(fixture.scheduler.last_event(), None);
    fixture.pod("web");
    assert_eq!(fixture.scheduler.last_event(), Some(ClusterEvent::new(EventResource::UnschedulablePod, Action::ADD)));
}
