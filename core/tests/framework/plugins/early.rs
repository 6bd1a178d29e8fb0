//! Plugins `X` and `Y`: configured answers at PreEnqueue, PreFilter, Filter, PreScore and Score. At all other points,
//! they are like `A`.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{
    FilterPlugin, PreEnqueuePlugin, PreFilterPlugin, PreFilterResult, PreScorePlugin, ScoreError, ScorePlugin,
};
use schedc_core::model::Pod;
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CycleSlot, IndexView, View};
use schedc_core::status::{Code, Reasons, Status};

use super::names::{Everywhere, NamedX, NamedY};
use super::probe::Probe;
use super::stage::{Answer, answer, note};

pub type X = Probe<NamedX>;
pub type Y = Probe<NamedY>;

/// Returns the configured answer at an extension point whose functions do not receive the pod.
fn called<N: Everywhere>(point: &str) -> Answer {
    let call = format!("{} {point}", N::PROBE);
    note(&*call);
    answer(&call, "")
}

impl<N: Everywhere> PreEnqueuePlugin for Probe<N> {
    fn pre_enqueue(&self, _: &NoArgs, pod: &Pod, _: IndexView<'_, Self>) -> Result<(), Status> {
        self.record_call("pre-enqueue", pod).status()
    }
}

impl<N: Everywhere> PreFilterPlugin for Probe<N> {
    type Cycle = ();

    fn pre_filter(&self, _: &NoArgs, (): &(), _: View<'_, Self>) -> Result<PreFilterResult<()>, Status> {
        match called::<N>("pre-filter") {
            Answer::Skip => Ok(PreFilterResult::skip(())),
            Answer::NoNode => Ok(PreFilterResult::ready(()).only([])),
            answer => Ok(match answer.status() {
                Err(status) => PreFilterResult::reject((), status),
                Ok(()) => PreFilterResult::ready(()),
            }),
        }
    }
}

impl<N: Everywhere> FilterPlugin for Probe<N> {
    type Cycle = ();
    type Rejection = Answer;

    fn filter(_: &NoArgs, (): &(), (): &(), (): ()) -> Result<(), Answer> {
        let answer = called::<N>("filter");
        answer.status().map_err(|_| answer)
    }

    fn code(answer: &Answer) -> Code {
        answer.status().map_or_else(|status| status.code, |()| Code::Success)
    }

    fn explain(_: &NoArgs, (): &(), (): &(), (): (), answer: Answer, out: &mut Reasons<'_>) {
        if let Err(status) = answer.status() {
            status.reasons.into_iter().for_each(|reason| out.push(reason));
        }
    }
}

impl<N: Everywhere> PreScorePlugin for Probe<N> {
    type Cycle = ();

    fn pre_score(&self, _: &NoArgs, (): &(), _: View<'_, Self>, _: &NodeMask) -> Result<CycleSlot<()>, Status> {
        match called::<N>("pre-score") {
            Answer::Skip => Ok(CycleSlot::skip(())),
            answer => answer.status().map(|()| CycleSlot::ready(())),
        }
    }
}

impl<N: Everywhere> ScorePlugin for Probe<N> {
    type Cycle = ();

    fn score(_: &NoArgs, (): &(), (): &(), (): ()) -> Result<i64, ScoreError> {
        match called::<N>("score") {
            Answer::Fail(reason) => Err(ScoreError(reason)),
            Answer::Number(score) => Ok(score),
            _ => Ok(0),
        }
    }
}
