//! The PreBind plugins that run for a pod, in sequence or concurrently.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use super::failed;
use crate::plugin_api::extension_points::PreFlightResult;
use crate::plugin_api::status::{Code, Status};
use crate::profile_api::hints::PluginSet;

/// Result of PreBindPreFlight: the plugins that have work for a pod, by their places at `pre-bind`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PreBindPlan {
    runs: PluginSet,
    parallel: PluginSet,
}

impl PreBindPlan {
    /// Adds the result of the plugin at a place. kube-scheduler's `RunPreBindPreFlights`.
    ///
    /// # Errors
    /// The plugin failed, or rejected the pod, which PreBindPreFlight does not permit.
    pub fn take(
        &mut self,
        place: usize,
        plugin: &'static str,
        result: Result<PreFlightResult, Status>,
    ) -> Result<(), Status> {
        match result {
            Ok(PreFlightResult::Skip) => Ok(()),
            Ok(PreFlightResult::Run) => {
                self.runs.insert(place);
                Ok(())
            }
            Ok(PreFlightResult::RunInParallel) => {
                self.runs.insert(place);
                self.parallel.insert(place);
                Ok(())
            }
            Err(status) if status.code == Code::Error => Err(failed("PreBindPreFlight", plugin, status)),
            Err(Status { code, .. }) => Err(Status::error(format!(
                "PreBindPreFlight {plugin} returned \"{code}\", which is unsupported. It is supposed to return Success, \
                 Skip, or Error status"
            ))
            .with_plugin(plugin)),
        }
    }

    /// Returns whether no plugin has work.
    pub fn is_empty(self) -> bool {
        self.runs.is_empty()
    }
    /// Returns whether the plugin at a place has work.
    pub fn runs(self, place: usize) -> bool {
        self.runs.contains(place)
    }
    /// Returns the plugins that run, as groups in order. The plugins of a group run concurrently: kube-scheduler's
    /// `getPreBindPluginGroups`.
    pub fn groups(self) -> impl Iterator<Item = PluginSet> {
        let mut remaining = self.runs;
        std::iter::from_fn(move || {
            let first = remaining.iter().next()?;
            let mut group = PluginSet::EMPTY;
            group.insert(first);
            if self.parallel.contains(first) {
                remaining
                    .iter()
                    .take_while(|&place| self.parallel.contains(place))
                    .for_each(|place| group.insert(place));
            }
            remaining = remaining.without(group);
            Some(group)
        })
    }
}

/// Returns the data of a plugin's Reserve, for its PreBind.
///
/// # Errors
/// Its Reserve did not run.
pub fn reserved_by<'a, R>(plugin: &'static str, reserved: &'a Option<R>) -> Result<&'a R, Status> {
    reserved
        .as_ref()
        .ok_or_else(|| Status::error(format!("nothing is reserved by plugin {plugin:?}")).with_plugin(plugin))
}

/// Runs two futures concurrently. The first failure ends both: the other future is dropped.
///
/// # Errors
/// The first failure.
pub async fn try_join(
    one: impl Future<Output = Result<(), Status>>,
    other: impl Future<Output = Result<(), Status>>,
) -> Result<(), Status> {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut one_is_done, mut other_is_done) = (false, false);
    poll_fn(move |context| {
        if !one_is_done && let Poll::Ready(result) = one.as_mut().poll(context) {
            result?;
            one_is_done = true;
        }
        if !other_is_done && let Poll::Ready(result) = other.as_mut().poll(context) {
            result?;
            other_is_done = true;
        }
        if one_is_done && other_is_done { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::task::{Context, Waker};

    use super::*;

    fn plan(results: &[PreFlightResult]) -> PreBindPlan {
        let mut plan = PreBindPlan::default();
        for (place, &result) in results.iter().enumerate() {
            assert_eq!(plan.take(place, "P", Ok(result)), Ok(()));
        }
        plan
    }

    #[test]
    fn consecutive_plugins_that_allow_it_run_concurrently() {
        use PreFlightResult::{Run, RunInParallel as Parallel, Skip};
        for (results, groups) in [
            (&[][..], &[][..]),
            (&[Skip, Skip], &[]),
            (&[Run, Run], &[&[0][..], &[1]]),
            (&[Parallel, Parallel, Run, Parallel], &[&[0, 1], &[2], &[3]]),
            (&[Run, Parallel, Skip, Parallel], &[&[0], &[1, 3]]),
        ] {
            let plan = plan(results);
            let found: Vec<Vec<usize>> = plan.groups().map(|group| group.iter().collect()).collect();
            assert_eq!(found, groups, "{results:?}");
            assert_eq!(plan.is_empty(), groups.is_empty());
            for (place, &result) in results.iter().enumerate() {
                assert_eq!(plan.runs(place), result != Skip);
            }
        }
    }

    #[test]
    fn pre_flight_cannot_reject_a_pod() {
        for (status, message) in [
            (Status::error("away"), r#"running PreBindPreFlight "P": away"#),
            (
                Status::unschedulable("no"),
                "PreBindPreFlight P returned \"Unschedulable\", which is unsupported. It is supposed to return Success, \
                 Skip, or Error status",
            ),
        ] {
            let failure =
                PreBindPlan::default().take(0, "P", Err(status)).map_err(|status| (status.code, status.message()));
            assert_eq!(failure, Err((Code::Error, message.to_owned())));
        }
    }

    /// Returns the result at the n-th poll; counts the polls.
    async fn after(n: usize, result: Result<(), &'static str>, polled: &Cell<usize>) -> Result<(), Status> {
        poll_fn(|_| {
            polled.set(polled.get() + 1);
            if polled.get() < n { Poll::Pending } else { Poll::Ready(result.map_err(Status::error)) }
        })
        .await
    }

    #[test]
    fn try_join_waits_for_both_or_returns_the_first_failure() {
        for (one, other, outcome, polls) in [
            ((1, Ok(())), (1, Ok(())), Ok(()), [1, 1]),
            ((1, Ok(())), (3, Ok(())), Ok(()), [1, 3]),
            ((3, Ok(())), (1, Ok(())), Ok(()), [3, 1]),
            ((3, Ok(())), (2, Err("other")), Err("other"), [2, 2]),
            ((1, Err("one")), (1, Err("other")), Err("one"), [1, 0]),
            ((2, Err("one")), (9, Err("other")), Err("one"), [2, 1]),
        ] {
            let polled = [Cell::new(0), Cell::new(0)];
            let mut joined = pin!(try_join(after(one.0, one.1, &polled[0]), after(other.0, other.1, &polled[1])));
            let mut context = Context::from_waker(Waker::noop());
            let found = (0..10).find_map(|_| match joined.as_mut().poll(&mut context) {
                Poll::Ready(result) => Some(result),
                Poll::Pending => None,
            });
            assert_eq!(found, Some(outcome.map_err(Status::error)));
            assert_eq!(polled.each_ref().map(Cell::get), polls);
        }
    }
}
