//! DynamicResources
//!
//! **What it does.** Holds pods with missing resource claims, and rejects pods with existing claims. For
//! pods without resource claims, it only adds its part of the message of an unschedulable pod.
//!
//! **Extension points.** PreEnqueue, PreFilter (skips without claims), Filter, PostFilter, Score (always 0), Reserve,
//! PreBind.
//!
//! **Arguments.** [`DynamicResourcesArgs`].
//!
//! **Upstream.** `plugins/dynamicresources` (kube-scheduler 1.36.2).
//!
//! **Differences.** Resource claims are not supported. There is no NormalizeScore: scores are all 0.

use schedc_core::args::{Args, Errors, Node, Part, parse_duration};
use schedc_core::client::Client;
use schedc_core::extension_points::{
    FilterPlugin, Placement, PostFilterContext, PostFilterPlugin, PostFilterResult, PreBindPlugin, PreEnqueuePlugin,
    PreFilterPlugin, PreFilterResult, PreFlightResult, ReservePlugin, ScoreError, ScorePlugin, SkipFrequency,
};
use schedc_core::model::{Pod, PodSpec};
use schedc_core::plugin::{CompileContext, IndexView, View};
use schedc_core::profile::Profile;
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};

mod claims;
mod hint;

use crate::indexes::ResourceClaims;

/// Arguments of DynamicResources. They apply to pods with resource claims, and are validated as in
/// kube-scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
#[args(check = check_binding_timeout)]
pub struct DynamicResourcesArgs {
    /// timeout of Filter for finding devices on a node, 0s for none; default 10s
    #[args(default = "10s", format = "duration")]
    pub filter_timeout: &'static str,
    /// timeout of PreBind for devices to become ready, at least 1s; default 10m
    #[args(default = "600s", format = "duration")]
    pub binding_timeout: &'static str,
}

const fn check_binding_timeout(args: &DynamicResourcesArgs, node: &Node, errors: &mut Errors) {
    if matches!(parse_duration(args.binding_timeout), Some(..1_000_000_000)) {
        errors.report(node, &[Part::Name("binding-timeout"), Part::Text(" must be at least 1 second")]);
    }
}

/// Passes pods without resource claims.
#[derive(Debug, Default)]
pub struct DynamicResources;

const NOT_SUPPORTED: &str = "resource claims are not supported yet";

#[plugin]
impl Plugin for DynamicResources {
    type Args = DynamicResourcesArgs;
    type Indexes = ResourceClaims;
    /// Whether the pod has resource claims.
    type Pod = bool;

    fn compile(_: &DynamicResourcesArgs, pod: &PodSpec, _: CompileContext<'_, Self>) -> bool {
        !pod.resource_claims.is_empty()
    }

    #[inline]
    fn compile_epoch(_: &ResourceClaims) -> Option<u64> {
        Some(0)
    }
}

impl PreEnqueuePlugin for DynamicResources {
    fn pre_enqueue(&self, _: &DynamicResourcesArgs, pod: &Pod, view: IndexView<'_, Self>) -> Result<(), Status> {
        claims::of_pod(pod, view).map(|_| ()).map_err(Status::unresolvable)
    }
}

impl PreFilterPlugin for DynamicResources {
    type Cycle = ();
    const SKIPS: SkipFrequency = SkipFrequency::Usually;
    const READS_ONLY_POD: bool = true;

    #[inline]
    fn pre_filter(
        &self,
        _: &DynamicResourcesArgs,
        has_claims: &bool,
        _: View<'_, Self>,
    ) -> Result<PreFilterResult<()>, Status> {
        if *has_claims { Err(Status::unresolvable(NOT_SUPPORTED)) } else { Ok(PreFilterResult::skip(())) }
    }
}

impl FilterPlugin for DynamicResources {
    type Cycle = ();
    type Rejection = ();
    const CAN_FAIL: bool = false;

    /// Rejects only in a profile without this plugin's PreFilter.
    #[inline(always)]
    fn filter(_: &DynamicResourcesArgs, has_claims: &bool, _: &(), _: ()) -> Result<(), ()> {
        if *has_claims { Err(()) } else { Ok(()) }
    }

    fn code(_: &()) -> Code {
        Code::UnschedulableAndUnresolvable
    }

    fn explain(_: &DynamicResourcesArgs, _: &bool, _: &(), _: (), _: (), out: &mut Reasons<'_>) {
        out.push(NOT_SUPPORTED);
    }
}

impl PostFilterPlugin for DynamicResources {
    /// If the PreFilter of an earlier plugin rejects the pod as unresolvable, kube-scheduler's PostFilter does
    /// not find the state of its own PreFilter.
    fn post_filter<P: Profile>(
        &self,
        _: &DynamicResourcesArgs,
        cx: PostFilterContext<'_, P>,
        _: View<'_, Self>,
    ) -> PostFilterResult {
        PostFilterResult::nothing(match cx.ran_pre_filter(Self::NAME) {
            true => Status::unschedulable("no new claims to deallocate"),
            false => Status::error("not found"),
        })
    }
}

impl ScorePlugin for DynamicResources {
    type Cycle = ();

    #[inline(always)]
    fn score(_: &DynamicResourcesArgs, _: &bool, _: &(), _: ()) -> Result<i64, ScoreError> {
        Ok(0)
    }
}

impl ReservePlugin for DynamicResources {
    type Reserved = ();

    #[inline]
    fn reserve(&self, _: &DynamicResourcesArgs, _: &Placement, _: View<'_, Self>) -> Result<(), Status> {
        Ok(())
    }

    fn unreserve(&self, _: &DynamicResourcesArgs, _: &Placement, _: Option<&()>) {}
}

impl PreBindPlugin for DynamicResources {
    type Reserved = ();

    fn pre_bind_pre_flight(&self, _: &DynamicResourcesArgs, _: &Placement, _: &()) -> Result<PreFlightResult, Status> {
        Ok(PreFlightResult::Skip)
    }

    async fn pre_bind<C: Client>(&self, _: &DynamicResourcesArgs, _: &C, _: &Placement, _: &()) -> Result<(), Status> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::args;
    use schedc_core::intern::Interner;

    #[test]
    fn timeouts_are_durations() {
        let check = |profile: &str, expected: Result<(), &str>| {
            let answer = args::<DynamicResourcesArgs>(profile).map(|_| ());
            assert_eq!(answer, expected.map_err(str::to_owned), "{profile}");
        };
        check("", Ok(()));
        check("filter-timeout = '0s'\nbinding-timeout = '1s'", Ok(()));
        check("binding-timeout = '1m0.5s'", Ok(()));
        check("binding-timeout = '999ms'", Err("p.toml:1:1: `binding-timeout` must be at least 1 second"));
        check(
            "filter-timeout = '-1s'",
            Err("p.toml:1:18: `filter-timeout` is \"-1s\", but must be a duration, like `10s`, `1m30s` or `500ms`"),
        );
    }

    #[test]
    fn pods_with_claims_are_rejected_and_others_skip() {
        let mut interner = Interner::default();
        for (spec, expected) in [
            ("{}", Ok(true)),
            ("{resourceClaims: []}", Ok(true)),
            ("{resourceClaims: [{name: gpu, resourceClaimName: a}]}", Err(Status::unresolvable(NOT_SUPPORTED))),
        ] {
            let pod = schedc_objects::testing::pod(&format!("spec: {spec}"), &mut interner);
            let args = args("").unwrap();
            let mut claims = ResourceClaims::default();
            let cx = CompileContext { interner: &mut interner, indexes: &mut claims };
            let has_claims = DynamicResources::compile(args, &pod.spec, cx);
            let base = Default::default();
            let view = View { columns: (), indexes: &claims, reads: (), base: &base };
            let answer = DynamicResources.pre_filter(args, &has_claims, view).map(|answer| answer.slot.skip);
            assert_eq!(answer, expected, "{spec}");
            assert_eq!(DynamicResources::filter(args, &has_claims, &(), ()).is_ok(), expected.is_ok(), "{spec}");
        }
    }
}
