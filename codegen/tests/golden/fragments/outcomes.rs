//! Extension points after Filter and Score: PostFilter, Reserve, PreBind, Bind and PostBind.

use expect_test::expect;

use super::{PROFILE, check};

#[test]
fn every_post_filter_can_end_the_run() {
    check(
        PROFILE,
        "fn post_filter(",
        &expect![[r#"
            fn post_filter(&self, run: &mut PostFilterRun, cx: PostFilterContext<'_, Self>) {
                let cache = cx.cache;
                if let Some(cycle) = cx.cycle
                    && run
                        .take(
                            "Gang",
                            <Gang as PostFilterPlugin>::post_filter(
                                &self.gang,
                                &args::GANG,
                                PostFilterContext { ..cx },
                                View {
                                    columns: (),
                                    indexes: (&cache.state.gangs, &cache.state.image_nodes),
                                    reads: &cycle.gpu_share,
                                    base: &cache.base,
                                },
                            ),
                        )
                {
                    return;
                }
                run.take(
                    "Prepare",
                    <Prepare as PostFilterPlugin>::post_filter(
                        &self.prepare,
                        &args::PREPARE,
                        cx,
                        view::prepare(cache),
                    ),
                );
            }"#]],
    );
}

#[test]
fn failed_reserve_is_undone() {
    check(
        PROFILE,
        "fn reserve(",
        &expect![[r#"
        fn reserve(
            &self,
            cycle: &Cycle,
            cache: &Cache<State>,
            placement: &Placement,
        ) -> Result<Reserved, Status> {
            let mut reserved = Reserved::default();
            match self.run_reserve(cycle, cache, placement, &mut reserved) {
                Ok(()) => Ok(reserved),
                Err(status) => {
                    self.unreserve(placement, &reserved);
                    Err(status)
                }
            }
        }"#]],
    );
    check(
        PROFILE,
        "fn run_reserve(",
        &expect![[r#"
            fn run_reserve(
                &self,
                cycle: &Cycle,
                cache: &Cache<State>,
                placement: &Placement,
                reserved: &mut Reserved,
            ) -> Result<(), Status> {
                reserved
                    .gang
                    .get_or_insert(
                        <Gang as ReservePlugin>::reserve(
                                &self.gang,
                                &args::GANG,
                                placement,
                                View {
                                    columns: (),
                                    indexes: (&cache.state.gangs, &cache.state.image_nodes),
                                    reads: &cycle.gpu_share,
                                    base: &cache.base,
                                },
                            )
                            .map_err(|status| rejected_or_failed(
                                "Reserve plugin",
                                "Gang",
                                status,
                            ))?,
                    );
                Ok(())
            }"#]],
    );
    check(
        PROFILE,
        "fn unreserve(",
        &expect![[r#"
        fn unreserve(&self, placement: &Placement, reserved: &Reserved) {
            <Gang as ReservePlugin>::unreserve(
                &self.gang,
                &args::GANG,
                placement,
                reserved.gang.as_ref(),
            );
        }"#]],
    );
}

#[test]
fn pre_bind_runs_pre_flight_and_then_groups_in_parallel() {
    check(
        PROFILE,
        "fn pre_bind_pre_flight(",
        &expect![[r#"
        fn pre_bind_pre_flight(
            &self,
            placement: &Placement,
            reserved: &Reserved,
        ) -> Result<PreBindPlan, Status> {
            let mut plan = PreBindPlan::default();
            plan.take(
                0,
                "Gang",
                <Gang as PreBindPlugin>::pre_bind_pre_flight(
                    &self.gang,
                    &args::GANG,
                    placement,
                    reserved_by("Gang", &reserved.gang)?,
                ),
            )?;
            plan.take(
                1,
                "Prepare",
                <Prepare as PreBindPlugin>::pre_bind_pre_flight(
                    &self.prepare,
                    &args::PREPARE,
                    placement,
                    &Default::default(),
                ),
            )?;
            Ok(plan)
        }"#]],
    );
    check(
        PROFILE,
        "async fn pre_bind<",
        &expect![[r#"
        async fn pre_bind<C: Client>(
            &self,
            client: &C,
            placement: &Placement,
            reserved: &Reserved,
            plan: PreBindPlan,
        ) -> Result<(), Status> {
            for group in plan.groups() {
                try_join(
                        async {
                            if group.contains(0) {
                                <Gang as PreBindPlugin>::pre_bind(
                                        &self.gang,
                                        &args::GANG,
                                        client,
                                        placement,
                                        reserved_by("Gang", &reserved.gang)?,
                                    )
                                    .await
                                    .map_err(|status| rejected_or_failed(
                                        "PreBind plugin",
                                        "Gang",
                                        status,
                                    ))?;
                            }
                            Ok(())
                        },
                        async {
                            if group.contains(1) {
                                <Prepare as PreBindPlugin>::pre_bind(
                                        &self.prepare,
                                        &args::PREPARE,
                                        client,
                                        placement,
                                        &Default::default(),
                                    )
                                    .await
                                    .map_err(|status| rejected_or_failed(
                                        "PreBind plugin",
                                        "Prepare",
                                        status,
                                    ))?;
                            }
                            Ok(())
                        },
                    )
                    .await?;
            }
            Ok(())
        }"#]],
    );
}

#[test]
fn the_first_binder_that_does_not_skip_wins() {
    check(
        PROFILE,
        "async fn bind<",
        &expect![[r#"
        async fn bind<C: Client>(
            &self,
            client: &C,
            placement: &Placement,
        ) -> Result<(), Status> {
            let bound = <Gang as BindPlugin>::bind(
                    &self.gang,
                    &args::GANG,
                    client,
                    placement,
                )
                .await
                .map_err(|status| rejected_or_failed("Bind plugin", "Gang", status))?
                == BindResult::Done
                || <DefaultBinder as BindPlugin>::bind(
                        &self.default_binder,
                        &args::DEFAULT_BINDER,
                        client,
                        placement,
                    )
                    .await
                    .map_err(|status| rejected_or_failed(
                        "Bind plugin",
                        "DefaultBinder",
                        status,
                    ))? == BindResult::Done;
            if bound { Ok(()) } else { Err(Status::new(Code::Skip, "")) }
        }"#]],
    );
    check(
        PROFILE,
        "fn post_bind(",
        &expect![[r#"
        fn post_bind(&self, placement: &Placement) {
            <Gang as PostBindPlugin>::post_bind(&self.gang, &args::GANG, placement);
        }"#]],
    );
}

#[test]
fn pre_bind_has_groups_only_for_several_plugins() {
    let one = "[plugins]\nmulti-point = [\"PrioritySort\", \"Prepare\", \"DefaultBinder\"]";
    check(
        one,
        "async fn pre_bind<",
        &expect![[r#"
        async fn pre_bind<C: Client>(
            &self,
            client: &C,
            placement: &Placement,
            _reserved: &Reserved,
            plan: PreBindPlan,
        ) -> Result<(), Status> {
            if plan.runs(0) {
                <Prepare as PreBindPlugin>::pre_bind(
                        &self.prepare,
                        &args::PREPARE,
                        client,
                        placement,
                        &Default::default(),
                    )
                    .await
                    .map_err(|status| rejected_or_failed(
                        "PreBind plugin",
                        "Prepare",
                        status,
                    ))?;
            }
            Ok(())
        }"#]],
    );
    let none = "[plugins]\nmulti-point = [\"PrioritySort\", \"DefaultBinder\"]";
    check(
        none,
        "fn pre_bind_pre_flight(",
        &expect![[r#"
        fn pre_bind_pre_flight(
            &self,
            _placement: &Placement,
            _reserved: &Reserved,
        ) -> Result<PreBindPlan, Status> {
            Ok(PreBindPlan::default())
        }"#]],
    );
    check(
        none,
        "async fn pre_bind<",
        &expect![[r#"
        async fn pre_bind<C: Client>(
            &self,
            _client: &C,
            _placement: &Placement,
            _reserved: &Reserved,
            _plan: PreBindPlan,
        ) -> Result<(), Status> {
            Ok(())
        }"#]],
    );
    check(none, "fn post_bind(", &expect!["fn post_bind(&self, _placement: &Placement) {}"]);
}
