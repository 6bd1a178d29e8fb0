//! One concept at a time, with a catalog and a profile as small as can be.

use expect_test::{Expect, expect};
use schedc_codegen::parse::RawCrate;
use schedc_codegen::{CatalogFinder, FoundCatalog, MissingCatalog, SourceText, compile, emit};

/// Plugins for what the in-tree ones do not do.
const CATALOG: &str = r#"
crate = "my_plugins"

[columns]
gpus = "my_plugins::Gpus"

[indexes]
gangs = "my_plugins::Gangs"

[[plugin]]
name = "GPUShare"
path = "my_plugins::GpuShare"
points = ["pre-filter", "filter", "score"]
columns = ["gpus", "node-info", "node-index"]

[[plugin]]
name = "Gang"
path = "my_plugins::gang::Gang"
points = ["post-filter", "reserve", "permit", "pre-bind", "bind", "post-bind"]
indexes = ["gangs", "image-nodes"]
reads = ["GPUShare"]

[[plugin]]
name = "Prepare"
path = "my_plugins::Prepare"
points = ["post-filter", "pre-bind", "pre-score"]

[[plugin]]
name = "View"
path = "my_plugins::View"
points = ["pre-filter"]
reads = ["GPUShare?", "NodePorts?"]
"#;

struct Inline;

impl CatalogFinder for Inline {
    fn find(&mut self, _: &RawCrate, _: &str) -> Result<FoundCatalog, MissingCatalog> {
        Ok(FoundCatalog { path: "my-plugins/schedc.toml".to_owned(), text: CATALOG.to_owned() })
    }
}

fn code(profile: &str) -> String {
    let text = format!("crates = [\"my-plugins\"]\n{profile}");
    let sources = [SourceText { path: "profiles/mine.toml".to_owned(), text }];
    let compilation = compile(&sources, &mut Inline).unwrap_or_else(|errors| panic!("{errors}"));
    emit::render(&compilation).unwrap_or_else(|error| panic!("{error}"))
}

const PROFILE: &str = r#"
[plugins]
multi-point = ["PrioritySort", "NodePorts", "GPUShare", "View", "Gang", "Prepare", "DefaultBinder"]

[args.GPUShare]
slices = [-1, { deep = true }]
"#;

/// The item whose first line contains `start`, up to the closing brace at the same depth.
fn item(code: &str, start: &str) -> String {
    let lines: Vec<&str> = code.lines().collect();
    let first = lines.iter().position(|line| line.contains(start)).unwrap_or_else(|| panic!("no {start}"));
    let indent = lines[first].len() - lines[first].trim_start().len();
    let ends = |line: &str| line.len() > indent && line[indent..].starts_with(['}', ')']) && line.ends_with(['}', ';']);
    let length = if lines[first].ends_with(['}', ';']) {
        0
    } else {
        lines[first..].iter().position(|line| ends(line)).unwrap_or(0)
    };
    let item: Vec<&str> = lines[first..=first + length].iter().map(|line| line.get(indent..).unwrap_or("")).collect();
    item.join("\n")
}

fn check(profile: &str, start: &str, expected: &Expect) {
    expected.assert_eq(&item(&code(profile), start));
}

#[test]
fn arguments_are_a_tree_with_places() {
    check(
        PROFILE,
        "pub const GPU_SHARE",
        &expect![[r#"
        pub const GPU_SHARE: <GpuShare as Plugin>::Args = <GpuShare as Plugin>::Args::decode(
            &at(
                6,
                1,
                Value::Table(
                    &[
                        (
                            "slices",
                            at(
                                7,
                                10,
                                Value::List(
                                    &[
                                        at(7, 11, Value::Int(-1)),
                                        at(
                                            7,
                                            15,
                                            Value::Table(&[("deep", at(7, 24, Value::Bool(true)))]),
                                        ),
                                    ],
                                ),
                            ),
                        ),
                    ],
                ),
            ),
        );"#]],
    );
    check(
        PROFILE,
        "const fn at(line",
        &expect![[r#"
        const fn at(line: u32, column: u32, value: Value) -> Node {
            Node {
                file: "profiles/mine.toml",
                line,
                column,
                value,
            }
        }"#]],
    );
}

#[test]
fn names_of_the_framework_are_not_taken() {
    check(PROFILE, "use ::my_plugins::{", &expect!["use ::my_plugins::{Gangs, Gpus};"]);
}

#[test]
fn the_state_has_the_columns_and_indexes_of_all_plugins() {
    check(
        PROFILE,
        "pub struct State",
        &expect![[r#"
        pub struct State {
            /// Column `node-ports`.
            pub node_ports: Vec<NodePortsInUse>,
            /// Column `gpus`.
            pub gpus: Vec<Gpus>,
            /// Index `gangs`.
            pub gangs: Gangs,
            /// Index `image-nodes`.
            pub image_nodes: ImageNodes,
        }"#]],
    );
    check(
        PROFILE,
        "pub struct Hypothetical",
        &expect![[r#"
        pub struct Hypothetical {
            /// The whole node.
            pub info: NodeInfo,
            /// Column `node-ports`.
            pub node_ports: NodePortsInUse,
            /// Column `gpus`.
            pub gpus: Gpus,
        }"#]],
    );
    check(
        PROFILE,
        "fn hypothetical_add",
        &expect![[r#"
        fn hypothetical_add(node: &mut Hypothetical, pod: &Arc<model::Pod>) {
            Column::add_pod(&mut node.node_ports, pod);
            Column::add_pod(&mut node.gpus, pod);
            node.info.add_pod(Arc::clone(pod));
        }"#]],
    );
}

#[test]
fn columns_are_wired_in_the_order_of_the_catalog() {
    check(
        PROFILE,
        "pub struct Columns",
        &expect![[r#"
        pub struct Columns<'a> {
            /// The index of the first node.
            pub first: NodeIndex,
            /// Whole nodes.
            pub infos: &'a [NodeInfo],
            /// Column `node-ports`.
            pub node_ports: &'a [NodePortsInUse],
            /// Column `gpus`.
            pub gpus: &'a [Gpus],
        }"#]],
    );
    check(
        PROFILE,
        "fn hypothetical_columns",
        &expect![[r#"
        fn hypothetical_columns<'a>(
            node: &'a Hypothetical,
            index: NodeIndex,
        ) -> Columns<'a> {
            Columns {
                first: index,
                infos: std::slice::from_ref(&node.info),
                node_ports: std::slice::from_ref(&node.node_ports),
                gpus: std::slice::from_ref(&node.gpus),
            }
        }"#]],
    );
    check(
        PROFILE,
        "fn columns<'a>",
        &expect![[r#"
        fn columns<'a>(state: &'a State, base: &'a Base) -> Columns<'a> {
            Columns {
                first: NodeIndex(0),
                infos: base.infos(),
                node_ports: &state.node_ports,
                gpus: &state.gpus,
            }
        }"#]],
    );
}

#[test]
fn pre_filter_gives_plugins_the_states_that_they_read() {
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
fn filters_are_a_straight_line() {
    check(
        PROFILE,
        "fn filter<",
        &expect![[r#"
            fn filter<const IDLE: bool>(
                pod: &Pod,
                cycle: &Cycle,
                columns: Columns<'_>,
                index: usize,
            ) -> Result<(), Rejection> {
                if ask::filter_after::<NodePorts>(&cycle.node_ports, IDLE) {
                    <NodePorts as FilterPlugin>::filter(
                            &args::NODE_PORTS,
                            &pod.node_ports,
                            &cycle.node_ports.state,
                            &columns.node_ports[index],
                        )
                        .map_err(Rejection::NodePorts)?;
                }
                if ask::filter_after::<GpuShare>(&cycle.gpu_share, IDLE) {
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
fn a_filter_whose_pre_filter_is_left_out_gets_the_default_state() {
    let profile = "[plugins]\nmulti-point = [\"PrioritySort\", \"GPUShare\", \"DefaultBinder\"]\npre-filter = []\n";
    check(
        profile,
        "pub struct Cycle",
        &expect![[r#"
        pub struct Cycle {
            /// The default: the profile leaves PreFilter of `GPUShare` out.
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
            fn filter<const IDLE: bool>(
                pod: &Pod,
                cycle: &Cycle,
                columns: Columns<'_>,
                index: usize,
            ) -> Result<(), Rejection> {
                if ask::filter::<GpuShare>(IDLE) {
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
                }
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
            fn total<const IDLE: bool>(
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
            /// Nothing is borrowed.
            pub nothing: PhantomData<&'a ()>,
        }"#]],
    );
}

#[test]
fn every_post_filter_can_end_the_run() {
    check(
        PROFILE,
        "fn post_filter(",
        &expect![[r#"
        fn post_filter(&self, run: &mut PostFilterRun, cx: PostFilterContext<'_, Self>) {
            let copy = PostFilterContext { ..cx };
            if run
                .take(
                    "Gang",
                    <Gang as PostFilterPlugin>::post_filter(
                        &self.gang,
                        &args::GANG,
                        copy,
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
                ),
            );
        }"#]],
    );
}

#[test]
fn scores_without_normalising_are_added_up_at_once() {
    check(
        PROFILE,
        "fn score<",
        &expect![[r#"
            fn score<const IDLE: bool>(
                pod: &Pod,
                _score: &Score,
                columns: Columns<'_>,
                index: usize,
                raw: &mut Raw,
                extents: &mut Extents,
            ) -> Result<(), ScoreFailure> {
                let node = &mut raw.nodes[index];
                let mut base: i64 = 0;
                let value = <GpuShare as ScorePlugin>::score(
                        &args::GPU_SHARE,
                        &pod.gpu_share,
                        &Default::default(),
                        (
                            &columns.gpus[index],
                            &columns.infos[index],
                            <Position as ColumnSet>::row(columns.first, index),
                        ),
                    )
                    .map_err(|error| ScoreFailure {
                        plugin: "GPUShare",
                        error,
                    })?;
                base = base
                    .wrapping_add(
                        extents.range.check(value).wrapping_mul(weight::GPU_SHARE),
                    );
                node.base = base;
                Ok(())
            }"#]],
    );
    check(
        PROFILE,
        "fn total<",
        &expect![[r#"
            fn total<const IDLE: bool>(
                _pod: &Pod,
                _score: &Score,
                raw: &Raw,
                _extents: &Extents,
                index: usize,
                _range: &mut ScoreRange,
            ) -> i64 {
                let node = &raw.nodes[index];
                node.base
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
            let state = <Gang as ReservePlugin>::reserve(
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
                .map_err(|status| rejected_or_failed("Reserve plugin", "Gang", status))?;
            reserved.gang = Some(state);
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

#[test]
fn catalog_entries_are_proved() {
    let code = code(PROFILE);
    let proof = &code[code.find("/// The catalog entry `View`").unwrap()..];
    expect![[r#"
        const _: () = {
            proof::declares::<
                MyPluginsView,
                (),
                (),
                (MaybeStateOf<GpuShare>, MaybeStateOf<NodePorts>),
            >();
            proof::pre_filter::<MyPluginsView>();
            proof::agrees(
                &proof::at("my-plugins/schedc.toml", 29, 8),
                "View",
                &["pre-filter"],
                <MyPluginsView as Plugin>::NAME,
                implemented!(MyPluginsView),
            );
        };"#]]
    .assert_eq(&item(proof, "const _"));
}

#[test]
fn what_a_plugin_reads_runs_before_it() {
    let text = "crates = [\"my-plugins\"]\n[plugins]\nmulti-point = [\"PrioritySort\", \"Gang\", \"GPUShare\", \"DefaultBinder\"]\n";
    for (text, error) in [
        (text.to_owned(), None),
        (
            format!("{text}pre-filter = []\n"),
            Some(
                "profiles/mine.toml:3:32: `Gang` reads the state of `GPUShare`, which does not run before it at `pre-filter`",
            ),
        ),
    ] {
        let sources = [SourceText { path: "profiles/mine.toml".to_owned(), text }];
        let errors = compile(&sources, &mut Inline).err().map(|errors| errors.one_lines().concat());
        assert_eq!(errors.as_deref(), error);
    }
}

#[test]
fn a_profile_may_be_called_as_a_module_of_ours() {
    let sources = [SourceText { path: "profiles/state.toml".to_owned(), text: String::new() }];
    let compilation = compile(&sources, &mut Inline).unwrap_or_else(|errors| panic!("{errors}"));
    let code = emit::render(&compilation).unwrap_or_else(|error| panic!("{error}"));
    assert!(code.contains("pub mod state {") && code.contains("pub mod state_ {"));
}
