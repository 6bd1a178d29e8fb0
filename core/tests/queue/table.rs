//! The table of `docs/queue.md`: a row for each event, a cell for each place of the pod.

use schedc_core::queue::QueuePlace::{self, Active, Backoff, ErrorBackoff, Gated, InFlight, Unschedulable};
use schedc_core::queue::{Attempt, PodUpdate};

use crate::queue::queue_fixture::{QueueFixture, uid};

/// The places, in the order of the cells of each row; `None`: the queue does not know the pod.
const PLACES: [Option<QueuePlace>; 7] =
    [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Unschedulable), Some(Gated), Some(InFlight), None];

/// Makes a queue with the pod `web` in a place; if necessary, `Fit` rejects or `Gate` gates it.
fn with_web_in(place: Option<QueuePlace>) -> (QueueFixture, Option<Attempt>) {
    let mut fixture = QueueFixture::new();
    let Some(place) = place else { return (fixture, None) };
    if place == Gated {
        fixture.gate("web", "Gate");
    }
    fixture.add("web");
    if place != Active && place != Gated {
        let attempt = fixture.pop();
        if place == InFlight {
            return (fixture, Some(attempt));
        }
        if place == Backoff {
            fixture.event("Fit");
        }
        let rejectors: &[_] = if place == ErrorBackoff { &[] } else { &["Fit"] };
        fixture.reject(attempt, rejectors);
    }
    assert_eq!(fixture.place("web"), Some(place));
    (fixture, None)
}

/// Returns the place of `web` after an event, for each of `PLACES`. If the pod is in flight, `Fit` rejects it after the
/// event.
fn row(event: impl Fn(&mut QueueFixture)) -> [Option<QueuePlace>; 7] {
    PLACES.map(|place| {
        let (mut fixture, attempt) = with_web_in(place);
        event(&mut fixture);
        if let Some(attempt) = attempt {
            fixture.reject(attempt, &["Fit"]);
        }
        assert_eq!((fixture.queue.in_flight(), fixture.queue.in_flight_events()), (0, 0), "from {place:?}");
        fixture.place("web")
    })
}

#[test]
fn places_without_an_event() {
    let places = row(|_| {});
    assert_eq!(
        places,
        [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Unschedulable), Some(Gated), Some(Unschedulable), None]
    );
}

#[test]
fn places_after_a_creation() {
    let created = row(|fixture| fixture.add("web"));
    assert_eq!(
        created,
        [
            Some(Active),
            Some(Backoff),
            Some(ErrorBackoff),
            Some(Unschedulable),
            Some(Gated),
            Some(Backoff),
            Some(Active)
        ]
    );
}

#[test]
fn updated_and_its_hint_returns_queue() {
    let changed = row(|fixture| fixture.update("web", "Fit"));
    assert_eq!(
        changed,
        [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Backoff), Some(Gated), Some(Backoff), Some(Active)]
    );
}

#[test]
fn updated_without_a_related_event() {
    let changed = row(|fixture| fixture.update("web", "Other"));
    assert_eq!(
        changed,
        [
            Some(Active),
            Some(Backoff),
            Some(ErrorBackoff),
            Some(Unschedulable),
            Some(Gated),
            Some(Unschedulable),
            Some(Active)
        ]
    );
}

#[test]
fn updated_so_that_its_gate_opens() {
    let changed = row(|fixture| {
        fixture.open("web");
        fixture.update("web", "Gate");
    });
    assert_eq!(
        changed,
        [
            Some(Active),
            Some(Backoff),
            Some(ErrorBackoff),
            Some(Unschedulable),
            Some(Active),
            Some(Unschedulable),
            Some(Active)
        ]
    );
}

#[test]
fn deleted_or_bound_by_another_scheduler() {
    assert_eq!(row(|fixture| _ = fixture.delete("web")), [None; 7]);
}

#[test]
fn deleted_and_created_again_under_the_same_name() {
    let created = row(|fixture| {
        let (old, mut new) = (fixture.pod("web", 0), (*fixture.pod("web", 0)).clone());
        new.uid = uid("second");
        fixture.queue.update(
            0,
            PodUpdate { old: &old, new: new.into(), events: [] },
            &mut fixture.plugins,
            fixture.now,
        );
        let is_gated = fixture.plugins.gates.contains_key("web");
        assert_eq!(fixture.place("second"), Some(if is_gated { Gated } else { Active }), "it is another pod");
    });
    assert_eq!(created, [None; 7]);
}

#[test]
fn places_after_an_activation() {
    let activated = row(|fixture| _ = fixture.activate("web"));
    assert_eq!(
        activated,
        [Some(Active), Some(Active), Some(Active), Some(Active), Some(Gated), Some(Backoff), None],
        "PreEnqueue still holds the gated pod"
    );
}

#[test]
fn activated_with_its_gate_open() {
    let activated = row(|fixture| {
        fixture.open("web");
        fixture.activate("web");
    });
    assert_eq!(activated, [Some(Active), Some(Active), Some(Active), Some(Active), Some(Active), Some(Backoff), None]);
}

#[test]
fn an_event_whose_hint_returns_queue() {
    let woken = row(|fixture| fixture.event("Fit"));
    assert_eq!(
        woken,
        [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Backoff), Some(Gated), Some(Backoff), None]
    );
}

#[test]
fn the_same_event_after_its_backoff() {
    let woken = row(|fixture| {
        fixture.now += 3 * crate::queue::queue_fixture::SECOND;
        fixture.event("Fit");
    });
    assert_eq!(
        woken,
        [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Active), Some(Gated), Some(Backoff), None],
        "only a tick ends a backoff"
    );
}

#[test]
fn an_event_whose_hint_returns_skip() {
    let unchanged = row(|fixture| fixture.event_for("Fit", &["another"]));
    assert_eq!(unchanged, row(|_| {}));
}

#[test]
fn an_event_that_its_gate_waits_for() {
    let still_gated = row(|fixture| fixture.event("Gate"));
    assert_eq!(still_gated, row(|_| {}), "PreEnqueue runs, and still holds it");
    let open = row(|fixture| {
        fixture.open("web");
        fixture.event("Gate");
    });
    assert_eq!(
        open,
        [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Unschedulable), Some(Active), Some(Unschedulable), None]
    );
}

#[test]
fn its_backoff_ends() {
    let ended = row(|fixture| fixture.wait(3.0));
    assert_eq!(
        ended,
        [Some(Active), Some(Active), Some(Active), Some(Unschedulable), Some(Gated), Some(Unschedulable), None]
    );
}

#[test]
fn in_the_queue_for_more_than_five_minutes() {
    let late = row(|fixture| {
        fixture.open("web");
        fixture.wait(331.0);
    });
    assert_eq!(
        late,
        [Some(Active), Some(Active), Some(Active), Some(Active), Some(Active), Some(Unschedulable), None],
        "every parked pod is reached, gated or not"
    );
}

#[test]
fn only_active_pods_and_pods_in_backoff_are_popped() {
    let popped = PLACES.map(|place| {
        let (mut fixture, _attempt) = with_web_in(place);
        fixture.try_pop().map(|attempt| attempt.pod().name.to_string())
    });
    let web = || Some("web".to_string());
    assert_eq!(popped, [web(), web(), None, None, None, None, None], "without active pods, backoff ends early");
}
