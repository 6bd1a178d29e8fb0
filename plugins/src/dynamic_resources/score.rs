//! Score: prefers nodes where devices of earlier alternatives are free.

use std::sync::Arc;

use schedc_core::extension_points::{Extent, NormalizeScore, PrepareScore, ScoreError, ScorePlugin, default_normalize};
use schedc_core::model::NodeIndex;
use schedc_core::plugin::View;

use super::{DynamicResources, DynamicResourcesArgs, DynamicResourcesPod};

/// State of Score: the score of each node; `None` if all are 0. Only requests with alternatives contribute to scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceScores(Option<Arc<[i64]>>);

impl PrepareScore for DynamicResources {
    fn prepare(&self, _: &DynamicResourcesArgs, pod: &DynamicResourcesPod, view: View<'_, Self>) -> DeviceScores {
        let Some(claimant) = view.base.claimant().filter(|_| pod.uses_devices()) else {
            return DeviceScores::default();
        };
        let last =
            self.last_attempt().as_ref().filter(|last| last.pod == claimant.uid).map(|last| last.evaluation.clone());
        let evaluation = last.or_else(|| {
            let claims = self.look_up(claimant, pod.extended.is_any_backed(), view).ok()?;
            let evaluator = self.evaluator(claimant, &pod.extended, &claims, view.base);
            Some(Arc::new(evaluator.evaluate_all(&mut self.devices(), &[])))
        });
        DeviceScores(evaluation.and_then(|evaluation| evaluation.scores()))
    }
}

impl ScorePlugin for DynamicResources {
    type Cycle = DeviceScores;

    #[inline(always)]
    fn score(
        _: &DynamicResourcesArgs,
        _: &DynamicResourcesPod,
        cycle: &DeviceScores,
        node: NodeIndex,
    ) -> Result<i64, ScoreError> {
        Ok(cycle.0.as_ref().map_or(0, |scores| scores.get(node.get()).copied().unwrap_or(0)))
    }
}

impl NormalizeScore for DynamicResources {
    const USES_MIN: bool = false;

    #[inline(always)]
    fn normalize(_: &DynamicResourcesArgs, extent: Extent, raw: i64) -> i64 {
        default_normalize(extent, false, raw)
    }
}
