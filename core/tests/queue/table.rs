//! The table of `docs/queue.md`: a row for each thing that can happen, a cell for each place where the pod may be then.

use schedc_core::queue::Attempt;
use schedc_core::queue::Place::{self, Active, Backoff, ErrorBackoff, Gated, InFlight, Unschedulable};

use crate::queue::desk::{Desk, uid};

const PLACES: [Option<Place>; 7] =
    [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Unschedulable), Some(Gated), Some(InFlight), None];

/// A queue in which the pod `web` is in a place: `Fit` rejected it where one has to, `Gate` gates it where one has to.
fn with_web_in(place: Option<Place>) -> (Desk, Option<Attempt>) {
    let mut desk = Desk::new();
    let Some(place) = place else { return (desk, None) };
    if place == Gated {
        desk.gate("web", "Gate");
    }
    desk.add("web");
    if place != Active && place != Gated {
        let attempt = desk.pop();
        if place == InFlight {
            return (desk, Some(attempt));
        }
        if place == Backoff {
            desk.event("Fit");
        }
        let rejectors: &[_] = if place == ErrorBackoff { &[] } else { &["Fit"] };
        desk.reject(attempt, rejectors);
    }
    assert_eq!(desk.place("web"), Some(place));
    (desk, None)
}

/// What becomes of `web` in each of `PLACES`. In flight, what becomes of it when `Fit` rejects it after that.
fn row(happens: impl Fn(&mut Desk)) -> [Option<Place>; 7] {
    PLACES.map(|place| {
        let (mut desk, attempt) = with_web_in(place);
        happens(&mut desk);
        if let Some(attempt) = attempt {
            desk.reject(attempt, &["Fit"]);
        }
        assert_eq!((desk.queue.in_flight(), desk.queue.in_flight_events()), (0, 0), "from {place:?}");
        desk.place("web")
    })
}

/// Active, backoff, error backoff, unschedulable, gated, in flight, not known.
#[test]
fn nothing() {
    let nothing = row(|_| {});
    assert_eq!(
        nothing,
        [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Unschedulable), Some(Gated), Some(Unschedulable), None]
    );
}

#[test]
fn created() {
    let created = row(|desk| desk.add("web"));
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
fn changed_in_a_way_that_its_rejector_finds_worth_an_attempt() {
    let changed = row(|desk| desk.update("web", "Fit"));
    assert_eq!(
        changed,
        [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Backoff), Some(Gated), Some(Backoff), Some(Active)]
    );
}

#[test]
fn changed_in_a_way_that_concerns_nobody() {
    let changed = row(|desk| desk.update("web", "Other"));
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
fn changed_so_that_its_gate_opens() {
    let changed = row(|desk| {
        desk.open("web");
        desk.update("web", "Gate");
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
fn deleted_or_bound_by_someone_else() {
    assert_eq!(row(|desk| _ = desk.delete("web")), [None; 7]);
}

#[test]
fn deleted_and_created_again_under_the_same_name() {
    let created = row(|desk| {
        let (old, mut new) = (desk.pod("web", 0), (*desk.pod("web", 0)).clone());
        new.uid = uid("second");
        desk.queue.update(0, &old, new.into(), [], &mut desk.plugins, desk.now);
        let is_gated = desk.plugins.gates.contains_key("web");
        assert_eq!(desk.place("second"), Some(if is_gated { Gated } else { Active }), "it is another pod");
    });
    assert_eq!(created, [None; 7]);
}

#[test]
fn activated() {
    let activated = row(|desk| _ = desk.activate("web"));
    assert_eq!(
        activated,
        [Some(Active), Some(Active), Some(Active), Some(Active), Some(Gated), Some(Backoff), None],
        "PreEnqueue still holds the gated one"
    );
}

#[test]
fn activated_with_its_gate_open() {
    let activated = row(|desk| {
        desk.open("web");
        desk.activate("web");
    });
    assert_eq!(activated, [Some(Active), Some(Active), Some(Active), Some(Active), Some(Active), Some(Backoff), None]);
}

#[test]
fn an_event_that_its_rejector_finds_worth_an_attempt() {
    let woken = row(|desk| desk.event("Fit"));
    assert_eq!(
        woken,
        [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Backoff), Some(Gated), Some(Backoff), None]
    );
}

#[test]
fn the_same_event_after_its_backoff() {
    let woken = row(|desk| {
        desk.now += 3 * crate::queue::desk::SECOND;
        desk.event("Fit");
    });
    assert_eq!(
        woken,
        [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Active), Some(Gated), Some(Backoff), None],
        "only a tick ends a backoff that is being waited for"
    );
}

#[test]
fn an_event_that_its_rejector_finds_of_no_use() {
    let asleep = row(|desk| desk.event_for("Fit", &["another"]));
    assert_eq!(asleep, row(|_| {}));
}

#[test]
fn an_event_that_its_gate_waits_for() {
    let still_gated = row(|desk| desk.event("Gate"));
    assert_eq!(still_gated, row(|_| {}), "PreEnqueue is asked, and still holds it");
    let open = row(|desk| {
        desk.open("web");
        desk.event("Gate");
    });
    assert_eq!(
        open,
        [Some(Active), Some(Backoff), Some(ErrorBackoff), Some(Unschedulable), Some(Active), Some(Unschedulable), None]
    );
}

#[test]
fn its_backoff_ends() {
    let ended = row(|desk| desk.wait(3.0));
    assert_eq!(
        ended,
        [Some(Active), Some(Active), Some(Active), Some(Unschedulable), Some(Gated), Some(Unschedulable), None]
    );
}

#[test]
fn it_is_there_for_more_than_five_minutes() {
    let late = row(|desk| {
        desk.open("web");
        desk.wait(331.0);
    });
    assert_eq!(
        late,
        [Some(Active), Some(Active), Some(Active), Some(Active), Some(Active), Some(Unschedulable), None],
        "whatever is parked is reached, gated or not"
    );
}

#[test]
fn popped() {
    let popped = PLACES.map(|place| {
        let (mut desk, _attempt) = with_web_in(place);
        desk.try_pop().map(|attempt| attempt.pod().name.to_string())
    });
    let web = || Some("web".to_string());
    assert_eq!(popped, [web(), web(), None, None, None, None, None], "there is nothing else, so backoff is cut short");
}
