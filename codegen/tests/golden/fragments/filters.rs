//! PreFilter and Filter.

use expect_test::expect;

use super::{PROFILE, check};

#[test]
fn pre_filter_passes_the_states_that_plugins_read() {
    check(
        PROFILE,
        "fn pre_filter(",
        &expect![[r#"
            fn pre_filter(
                &self,
                pod: &Pod,
                cache: &Cache<State>,
                run: &mut PreFilterRun,
            ) -> Result<Cycle, Status> {
                let node_ports = run
                    .take(
                        "NodePorts",
                        <NodePorts as PreFilterPlugin>::pre_filter(
                            &self.node_ports,
                            &args::NODE_PORTS,
                            &pod.node_ports,
                            view::node_ports(cache),
                        ),
                    )?;
                let gpu_share = run
                    .take(
                        "GPUShare",
                        <GpuShare as PreFilterPlugin>::pre_filter(
                            &self.gpu_share,
                            &args::GPU_SHARE,
                            &pod.gpu_share,
                            view::gpu_share(cache),
                        ),
                    )?;
                let view_ = run
                    .take(
                        "View",
                        <MyPluginsView as PreFilterPlugin>::pre_filter(
                            &self.view_,
                            &args::VIEW,
                            &pod.view_,
                            View {
                                columns: (),
                                indexes: (),
                                reads: (Some(&gpu_share), Some(&node_ports)),
                                base: &cache.base,
                            },
                        ),
                    )?;
                Ok(Cycle {
                    node_ports,
                    gpu_share,
                    view_,
                })
            }"#]],
    );
    check(
        PROFILE,
        "fn remove_pod(&mut self, index",
        &expect![[r#"
        fn remove_pod(&mut self, index: NodeIndex, pod: &model::Pod) {
            Column::remove_pod(&mut self.node_ports[index.get()], pod);
            Column::remove_pod(&mut self.gpus[index.get()], pod);
            Index::remove_pod(&mut self.gangs, index, pod);
            Index::remove_pod(&mut self.image_nodes, index, pod);
        }"#]],
    );
}

#[test]
fn filters_are_called_in_sequence() {
    check(
        PROFILE,
        "fn filter<",
        &expect![[r#"
            fn filter<const IDLE: u8>(
                pod: &Pod,
                cycle: &Cycle,
                columns: Columns<'_>,
                index: usize,
            ) -> Result<(), Rejection> {
                if idle_plugins::runs(
                    Promises::<NodePorts>::SKIPS,
                    cycle.node_ports.skip,
                    IDLE,
                ) {
                    <NodePorts as FilterPlugin>::filter(
                            &args::NODE_PORTS,
                            &pod.node_ports,
                            &cycle.node_ports.state,
                            &columns.node_ports[index],
                        )
                        .map_err(Rejection::NodePorts)?;
                }
                if idle_plugins::runs(
                    Promises::<GpuShare>::SKIPS,
                    cycle.gpu_share.skip,
                    IDLE,
                ) {
                    <GpuShare as FilterPlugin>::filter(
                            &args::GPU_SHARE,
                            &pod.gpu_share,
                            &cycle.gpu_share.state,
                            (
                                &columns.gpus[index],
                                &columns.infos[index],
                                <Position as ColumnSet>::row(columns.first, index),
                            ),
                        )
                        .map_err(Rejection::GPUShare)?;
                }
                Ok(())
            }"#]],
    );
    check(
        PROFILE,
        "pub enum Rejection",
        &expect![[r#"
        pub enum Rejection {
            /// `NodePorts` rejected it.
            NodePorts(<NodePorts as FilterPlugin>::Rejection),
            /// `GPUShare` rejected it.
            GPUShare(<GpuShare as FilterPlugin>::Rejection),
        }"#]],
    );
}

#[test]
fn a_filter_without_its_pre_filter_gets_the_default_state() {
    let profile = "[plugins]\nmulti-point = [\"PrioritySort\", \"GPUShare\", \"DefaultBinder\"]\npre-filter = []\n";
    check(
        profile,
        "pub struct Cycle",
        &expect![[r#"
        pub struct Cycle {
            /// The default: the profile omits PreFilter of `GPUShare`.
            pub gpu_share: <GpuShare as PreFilterPlugin>::Cycle,
        }"#]],
    );
    check(
        profile,
        "fn pre_filter(",
        &expect![[r#"
        fn pre_filter(
            &self,
            _pod: &Pod,
            _cache: &Cache<State>,
            _run: &mut PreFilterRun,
        ) -> Result<Cycle, Status> {
            Ok(Cycle {
                gpu_share: Default::default(),
            })
        }"#]],
    );
    check(
        profile,
        "fn filter<",
        &expect![[r#"
            fn filter<const IDLE: u8>(
                pod: &Pod,
                cycle: &Cycle,
                columns: Columns<'_>,
                index: usize,
            ) -> Result<(), Rejection> {
                <GpuShare as FilterPlugin>::filter(
                        &args::GPU_SHARE,
                        &pod.gpu_share,
                        &cycle.gpu_share,
                        (
                            &columns.gpus[index],
                            &columns.infos[index],
                            <Position as ColumnSet>::row(columns.first, index),
                        ),
                    )
                    .map_err(Rejection::GPUShare)?;
                Ok(())
            }"#]],
    );
}

#[test]
fn a_profile_without_filters_rejects_nothing() {
    let profile = "[plugins]\nmulti-point = [\"PrioritySort\", \"DefaultBinder\"]\n";
    check(
        profile,
        "fn code(",
        &expect![[r#"
        fn code(rejection: &Rejection) -> Code {
            match *rejection {}
        }"#]],
    );
    check(
        profile,
        "fn explain(",
        &expect![[r#"
        fn explain(
            _pod: &Pod,
            _cycle: &Cycle,
            _columns: Columns<'_>,
            _index: usize,
            rejection: Rejection,
            _out: &mut Reasons<'_>,
        ) {
            match rejection {}
        }"#]],
    );
    check(
        profile,
        "fn total<",
        &expect![[r#"
            fn total<const IDLE: u8>(
                _pod: &Pod,
                _score: &Score,
                _raw: &Raw,
                _extents: &Extents,
                _index: usize,
                _range: &mut ScoreRange,
            ) -> i64 {
                0
            }"#]],
    );
    check(
        profile,
        "pub struct Columns",
        &expect![[r#"
            pub struct Columns<'a> {
                /// No column is borrowed.
                pub nothing: PhantomData<&'a ()>,
            }"#]],
    );
}
