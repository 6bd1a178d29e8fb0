//! What follows a decision: PostFilter, Reserve, PreBind and Bind.

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
fn reserve_undoes_what_it_did() {
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
                reserved.gang = Some(
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
fn pre_bind_looks_ahead_and_the_first_binder_wins() {
    check(
        PROFILE,
        "async fn bind",
        &expect![[r#"
        async fn bind<C: Client>(
            &self,
            client: &C,
            placement: &Placement,
            reserved: &Reserved,
        ) -> Result<(), Status> {
            let Some(gang) = &reserved.gang else {
                return Err(
                    Status::error("nothing is reserved by plugin \"Gang\"")
                        .with_plugin("Gang"),
                );
            };
            let gang_wanted = <Gang as PreBindPlugin>::pre_bind_pre_flight(
                    &self.gang,
                    &args::GANG,
                    placement,
                    gang,
                )
                .map_err(|status| failed("PreBindPreFlight", "Gang", status))?;
            let prepare_wanted = <Prepare as PreBindPlugin>::pre_bind_pre_flight(
                    &self.prepare,
                    &args::PREPARE,
                    placement,
                    &Default::default(),
                )
                .map_err(|status| failed("PreBindPreFlight", "Prepare", status))?;
            if gang_wanted == PreFlight::Run {
                <Gang as PreBindPlugin>::pre_bind(
                        &self.gang,
                        &args::GANG,
                        client,
                        placement,
                        gang,
                    )
                    .await
                    .map_err(|status| rejected_or_failed(
                        "PreBind plugin",
                        "Gang",
                        status,
                    ))?;
            }
            if prepare_wanted == PreFlight::Run {
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
            let bound = <Gang as BindPlugin>::bind(
                    &self.gang,
                    &args::GANG,
                    client,
                    placement,
                )
                .await
                .map_err(|status| rejected_or_failed("Bind plugin", "Gang", status))?
                == Binding::Done
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
                    ))? == Binding::Done;
            if !bound {
                return Err(Status::new(Code::Skip, ""));
            }
            <Gang as PostBindPlugin>::post_bind(&self.gang, &args::GANG, placement);
            Ok(())
        }"#]],
    );
}
