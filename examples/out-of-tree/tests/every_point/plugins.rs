//! Small plugins at every extension point. They record their calls as events of the scheduler.

use schedc_core::Plugin;
use schedc_core::args::{Args, NoArgs};
use schedc_core::cache::Base;
use schedc_core::client::Client;
use schedc_core::column::{Column, Index, NodeInfo, Position};
use schedc_core::extension_points::*;
use schedc_core::handle::{Handle, WaitingPods};
use schedc_core::intern::Interner;
use schedc_core::model::{Node, NodeIndex, Pod, PodSpec};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, IndexView};
use schedc_core::profile::Profile;
use schedc_core::status::{Code, Reasons, Status};

/// A framework type that generated code must distinguish from the plugin `View`.
type PluginView<'a, P> = schedc_core::plugin::View<'a, P>;

/// Number of pods on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load(pub i64);

impl Column for Load {
    fn build(_: &Node, _: &Interner) -> Self {
        Load(0)
    }
    fn add_pod(&mut self, _: &Pod) {
        self.0 += 1;
    }
    fn remove_pod(&mut self, _: &Pod) {
        self.0 -= 1;
    }
}

/// Number of pods on all nodes.
#[derive(Default)]
pub struct Pods(pub i64);

impl Index for Pods {
    fn add_pod(&mut self, _: NodeIndex, _: &Pod) {
        self.0 += 1;
    }
    fn remove_pod(&mut self, _: NodeIndex, _: &Pod) {
        self.0 -= 1;
    }
}

/// Defines a plugin without arguments and state, with a handle.
macro_rules! plugin {
    ($name:ident, $label:literal, $columns:ty, $indexes:ty, $reads:ty, $pod:ty) => {
        pub struct $name {
            #[allow(dead_code, reason = "not every plugin uses it")]
            handle: Handle,
        }

        impl Plugin for $name {
            const NAME: &'static str = $label;
            type Args = NoArgs;
            type Columns = $columns;
            type Indexes = $indexes;
            type Reads = $reads;
            type Pod = $pod;
            fn new(_: &'static NoArgs, handle: &Handle) -> Result<Self, String> {
                Ok(Self { handle: handle.clone() })
            }
            fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) -> Self::Pod {}
        }
    };
}

plugin!(Sort, "Sort", (), (), (), ());

impl QueueSortPlugin for Sort {
    fn less(_: &NoArgs, a: &QueuedPod, b: &QueuedPod) -> bool {
        a.pod.name < b.pod.name
    }
}

plugin!(Gate, "Gate", (), (), (), ());

impl PreEnqueuePlugin for Gate {
    fn pre_enqueue(&self, _: &NoArgs, pod: &Pod, view: IndexView<'_, Self>) -> Result<(), Status> {
        let interner = view.interner();
        match pod.spec.scheduling_gates.first() {
            None => Ok(()),
            Some(gate) => Err(Status::unresolvable(format!("waits for {}", interner.resolve(*gate)))),
        }
    }
}

#[derive(Clone, Copy, Args)]
pub struct LimitArgs {
    /// Maximum number of pods on a node.
    #[args(default = 1, range = 0..=9)]
    pub pods: i64,
}

/// Limits the pods on a node, and prefers nodes with fewer pods.
pub struct Limit;

impl Plugin for Limit {
    const NAME: &'static str = "Limit";
    type Args = LimitArgs;
    type Columns = (Load, NodeInfo, Position);
    type Indexes = Pods;
    type Reads = ();
    type Pod = i32;
    fn new(args: &'static LimitArgs, _: &Handle) -> Result<Self, String> {
        if args.pods == 0 { Err("nothing fits".to_owned()) } else { Ok(Limit) }
    }
    fn compile(_: &LimitArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> i32 {
        assert!(cx.indexes.0 >= 0);
        pod.priority
    }
}

/// Hypothetical changes of the number of pods.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HypotheticalPods(pub i64);

impl PreFilterPlugin for Limit {
    type Cycle = HypotheticalPods;
    fn pre_filter(
        &self,
        _: &LimitArgs,
        priority: &i32,
        view: PluginView<'_, Self>,
    ) -> Result<PreFilterResult<HypotheticalPods>, Status> {
        assert_eq!(view.columns.0.len(), view.columns.1.len());
        Ok(if *priority > 1000 {
            PreFilterResult::skip(HypotheticalPods(0))
        } else {
            PreFilterResult::ready(HypotheticalPods(0))
        })
    }
    fn add_pod(_: &i32, cycle: &mut HypotheticalPods, _: &Pod, _: PluginView<'_, Self>, _: NodeIndex) {
        cycle.0 += 1;
    }
    fn remove_pod(_: &i32, cycle: &mut HypotheticalPods, _: &Pod, _: PluginView<'_, Self>, _: NodeIndex) {
        cycle.0 -= 1;
    }
}

impl FilterPlugin for Limit {
    type Cycle = HypotheticalPods;
    type Rejection = i64;
    fn filter(args: &LimitArgs, _: &i32, _: &HypotheticalPods, node: (&Load, &NodeInfo, NodeIndex)) -> Result<(), i64> {
        let (load, info, _) = node;
        assert_eq!(load.0, info.pods.len() as i64);
        if load.0 < args.pods { Ok(()) } else { Err(load.0) }
    }
    fn code(_: &i64) -> Code {
        Code::Unschedulable
    }
    fn explain(
        args: &LimitArgs,
        _: &i32,
        _: &HypotheticalPods,
        _: (&Load, &NodeInfo, NodeIndex),
        pods: i64,
        out: &mut Reasons<'_>,
    ) {
        out.push(format!("{pods} of {} pod(s)", args.pods));
    }
}

impl PreScorePlugin for Limit {
    type Cycle = i64;
    fn pre_score(
        &self,
        _: &LimitArgs,
        _: &i32,
        _: PluginView<'_, Self>,
        nodes: &NodeMask,
    ) -> Result<CycleSlot<i64>, Status> {
        Ok(CycleSlot::ready(nodes.count() as i64))
    }
}

impl ScorePlugin for Limit {
    type Cycle = i64;
    fn score(_: &LimitArgs, _: &i32, _: &i64, node: (&Load, &NodeInfo, NodeIndex)) -> Result<i64, ScoreError> {
        Ok(node.0.0)
    }
}

impl NormalizeScore for Limit {
    fn normalize(_: &LimitArgs, extent: Extent, raw: i64) -> i64 {
        default_normalize(extent, true, raw)
    }
}

plugin!(View, "View", Load, Pods, (StateOf<Limit>, OptionalStateOf<other::Hooks>), ());

impl PreFilterPlugin for View {
    type Cycle = bool;
    fn pre_filter(&self, _: &NoArgs, _: &(), view: PluginView<'_, Self>) -> Result<PreFilterResult<bool>, Status> {
        let (limit, other) = view.reads;
        assert_eq!(limit.state, HypotheticalPods(0));
        assert!(other.is_none(), "PreFilter of Other runs later");
        Ok(PreFilterResult::ready(limit.skip))
    }
}

impl FilterPlugin for View {
    type Cycle = bool;
    type Rejection = &'static str;
    fn filter(_: &NoArgs, _: &(), limit_is_skipped: &bool, node: &Load) -> Result<(), &'static str> {
        if *limit_is_skipped && node.0 > 0 { Err("taken") } else { Ok(()) }
    }
    fn code(_: &&'static str) -> Code {
        Code::UnschedulableAndUnresolvable
    }
    fn explain(_: &NoArgs, _: &(), _: &bool, _: &Load, reason: &'static str, out: &mut Reasons<'_>) {
        out.push(reason);
    }
}

impl ScorePlugin for View {
    type Cycle = i64;
    fn score(_: &NoArgs, _: &(), pods: &i64, _: &Load) -> Result<i64, ScoreError> {
        Ok(*pods)
    }
}

impl PrepareScore for View {
    fn prepare(&self, _: &NoArgs, _: &(), view: PluginView<'_, Self>) -> i64 {
        assert!(view.reads.1.is_some(), "all PreFilters ran");
        view.indexes.0
    }
}

plugin!(Hooks, "Hooks", (), (), OptionalStateOf<Limit>, ());

impl Hooks {
    fn record(&self, placement: &Placement, point: &'static str, note: impl Into<String>) {
        self.handle.event(placement.pod.uid.clone(), point, note);
    }
}

impl PostFilterPlugin for Hooks {
    fn post_filter<P: Profile>(
        &self,
        _: &NoArgs,
        cx: PostFilterContext<'_, P>,
        view: PluginView<'_, Self>,
    ) -> PostFilterResult {
        assert_eq!(view.reads.is_some(), cx.cycle.is_some());
        PostFilterResult::unschedulable(format!("no help for {}", cx.pod.name))
    }
}

impl ReservePlugin for Hooks {
    type Reserved = String;
    fn reserve(&self, _: &NoArgs, placement: &Placement, view: PluginView<'_, Self>) -> Result<String, Status> {
        assert!(view.reads.is_some());
        let base: &Base = view.base;
        Ok(base.name(placement.node).to_owned())
    }
    fn unreserve(&self, _: &NoArgs, placement: &Placement, reserved: Option<&String>) {
        self.record(placement, "Unreserve", format!("Hooks {reserved:?}"));
    }
}

impl PermitPlugin for Hooks {
    fn permit(&self, _: &NoArgs, placement: &Placement, _: &mut WaitingPods<'_>) -> PermitResult {
        match &*placement.pod.name {
            "refused" => PermitResult::Reject(Status::unschedulable("refused")),
            _ => PermitResult::Allow,
        }
    }
}

impl PreBindPlugin for Hooks {
    type Reserved = String;
    fn pre_bind_pre_flight(&self, _: &NoArgs, _: &Placement, _: &String) -> Result<PreFlightResult, Status> {
        Ok(PreFlightResult::Run)
    }
    async fn pre_bind<C: Client>(
        &self,
        _: &NoArgs,
        _: &C,
        placement: &Placement,
        reserved: &String,
    ) -> Result<(), Status> {
        self.record(placement, "PreBind", reserved);
        Ok(())
    }
}

impl BindPlugin for Hooks {
    async fn bind<C: Client>(&self, _: &NoArgs, _: &C, placement: &Placement) -> Result<BindResult, Status> {
        self.record(placement, "Bind", "Hooks skips");
        Ok(BindResult::Skip)
    }
}

impl PostBindPlugin for Hooks {
    fn post_bind(&self, _: &NoArgs, placement: &Placement) {
        self.record(placement, "PostBind", &*placement.node_name);
    }
}

/// A type with the same name as another plugin type.
pub mod other {
    use super::*;

    plugin!(Hooks, "Other", (), (), (), ());

    impl PreFilterPlugin for Hooks {
        type Cycle = ();
        fn pre_filter(&self, _: &NoArgs, _: &(), _: PluginView<'_, Self>) -> Result<PreFilterResult<()>, Status> {
            Ok(PreFilterResult::ready(()))
        }
    }

    impl PostFilterPlugin for Hooks {
        fn post_filter<P: Profile>(
            &self,
            _: &NoArgs,
            cx: PostFilterContext<'_, P>,
            _: PluginView<'_, Self>,
        ) -> PostFilterResult {
            PostFilterResult::unschedulable(format!("{} nodes", cx.diagnosis.nodes))
        }
    }

    impl ReservePlugin for Hooks {
        type Reserved = ();
        fn reserve(&self, _: &NoArgs, placement: &Placement, _: PluginView<'_, Self>) -> Result<(), Status> {
            match &*placement.pod.name {
                "unlucky" => Err(Status::unschedulable("bad luck")),
                "broken" => Err(Status::error("out of order")),
                _ => Ok(()),
            }
        }
        fn unreserve(&self, _: &NoArgs, placement: &Placement, reserved: Option<&()>) {
            self.handle.event(placement.pod.uid.clone(), "Unreserve", format!("Other {reserved:?}"));
        }
    }

    impl PreBindPlugin for Hooks {
        type Reserved = ();
        fn pre_bind_pre_flight(&self, _: &NoArgs, _: &Placement, _: &()) -> Result<PreFlightResult, Status> {
            Ok(PreFlightResult::Skip)
        }
        async fn pre_bind<C: Client>(&self, _: &NoArgs, _: &C, _: &Placement, _: &()) -> Result<(), Status> {
            Err(Status::error("it skips"))
        }
    }

    impl BindPlugin for Hooks {
        async fn bind<C: Client>(&self, _: &NoArgs, client: &C, placement: &Placement) -> Result<BindResult, Status> {
            if &*placement.pod.name == "unbound" {
                return Ok(BindResult::Skip);
            }
            client.bind(placement).await.map_err(Status::error)?;
            self.handle.event(placement.pod.uid.clone(), "Bind", "Other binds");
            Ok(BindResult::Done)
        }
    }
}
