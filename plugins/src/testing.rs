//! A cluster with one column, for tests of plugins.

use std::sync::Arc;

use proptest::prelude::*;
use schedc_core::args::{Decode, Node as Written, Value, decode_at_runtime};
use schedc_core::cache::{Base, Cache, PodState, State};
use schedc_core::column::{Column, ColumnSet, IndexSet, Position, rebuild_entry};
use schedc_core::events::EventObject;
use schedc_core::extension_points::{EnqueueExtensions, FilterPlugin, HintContext, QueueingHint, ScorePlugin};
use schedc_core::handle::Handle;
use schedc_core::intern::Interner;
use schedc_core::model::{Node, NodeIndex, NonZero, Object, Pod};
use schedc_core::plugin::{CompileContext, IndexView, Plugin, View};
use schedc_core::status::Reasons;
use schedc_objects::testing;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::columns::{Basics, NodeResources};
use crate::indexes::DeviceClasses;

/// State with one column, updated as generated code updates columns.
pub(crate) struct OneColumn<C>(Vec<C>);

impl<C> Default for OneColumn<C> {
    fn default() -> Self {
        OneColumn(Vec::new())
    }
}

impl<C: Column> State for OneColumn<C> {
    type Hypothetical<'a> = C;

    fn set_node(&mut self, base: &Base, index: NodeIndex, _: Option<&Node>) -> bool {
        rebuild_entry(&mut self.0, base, index)
    }

    fn add_pod(&mut self, index: NodeIndex, pod: &Pod) {
        self.0[index.get()].add_pod(pod);
    }

    fn remove_pod(&mut self, index: NodeIndex, pod: &Pod) {
        self.0[index.get()].remove_pod(pod);
    }

    fn set_object(&mut self, _: Option<&Object>, _: Option<&Object>) {}

    fn hypothetical(&self, _: &Base, index: NodeIndex) -> C {
        self.0[index.get()].clone()
    }

    fn hypothetical_add(node: &mut C, pod: &Arc<Pod>) {
        node.add_pod(pod);
    }

    fn hypothetical_remove(node: &mut C, pod: &Arc<Pod>) {
        node.remove_pod(pod);
    }
}

/// Nodes and their pods.
pub(crate) struct Cluster<C: Column> {
    pub(crate) cache: Cache<OneColumn<C>>,
    classes: DeviceClasses,
}

/// Columns of a plugin in a [`Cluster`].
pub(crate) trait TestColumns: ColumnSet {
    type Column: Column;
    fn slices(column: &[Self::Column]) -> Self::Slices<'_>;
}

macro_rules! test_columns {
    ($($column:ident)*) => { $(
        impl TestColumns for crate::columns::$column {
            type Column = Self;
            fn slices(column: &[Self]) -> Self::Slices<'_> {
                column
            }
        }
    )* }
}
test_columns! { NodeDisks NodeFeatures NodeIdentity NodeImages NodeLabels NodePortsInUse NodeTaints }

impl TestColumns for (NodeResources, Position) {
    type Column = NodeResources;
    fn slices(column: &[NodeResources]) -> Self::Slices<'_> {
        (column, NodeIndex(0))
    }
}

/// Returns a strategy for amounts of a resource: usual and unusual ones.
pub(crate) fn any_amount() -> impl Strategy<Value = i64> {
    let usual = prop_oneof![0..200_i64, 0..1_i64 << 40];
    prop_oneof![9 => usual, 1 => any::<i64>(), 1 => (1_i64 << 46) - 2..(1 << 46) + 2, 1 => -9..0_i64]
}

/// Returns a node with amounts of CPU and memory. `requested` and `non_zero` are those of its pods.
pub(crate) fn node_with(allocatable: [i64; 2], requested: [i64; 2], non_zero: [i64; 2]) -> NodeResources {
    let basics = |[milli_cpu, memory]: [i64; 2]| Basics { milli_cpu, memory, ephemeral_storage: 0 };
    let mut node = NodeResources::default();
    (node.allocatable, node.requested) = (basics(allocatable), basics(requested));
    node.non_zero = NonZero { milli_cpu: non_zero[0], memory: non_zero[1] };
    node.update_evenness();
    node
}

/// Indexes that a [`Cluster`] has.
pub(crate) trait TestIndexes: IndexSet {
    fn refs(classes: &DeviceClasses) -> Self::Refs<'_>;
    fn muts(classes: &mut DeviceClasses) -> Self::Muts<'_>;
}

impl TestIndexes for () {
    fn refs(_: &DeviceClasses) -> Self::Refs<'_> {}
    fn muts(_: &mut DeviceClasses) -> Self::Muts<'_> {}
}

impl TestIndexes for DeviceClasses {
    fn refs(classes: &DeviceClasses) -> Self::Refs<'_> {
        classes
    }
    fn muts(classes: &mut DeviceClasses) -> Self::Muts<'_> {
        classes
    }
}

impl<C: Column> Cluster<C> {
    /// Returns a cluster of these nodes, in this order.
    pub(crate) fn new(nodes: &[&str]) -> Self {
        let mut cache = Cache::default();
        for yaml in nodes {
            let node = testing::node(yaml, &mut cache.base.interner);
            cache.set_node(node);
        }
        Cluster { cache, classes: DeviceClasses::default() }
    }

    /// Adds pods to the nodes in their specs.
    pub(crate) fn with_pods(mut self, pods: &[&str]) -> Self {
        for yaml in pods {
            let pod = self.pod(yaml);
            let node = pod.spec.node_name.expect("a pod on a node");
            self.cache.add_pod(Arc::new(pod), node, PodState::Bound);
        }
        self
    }

    pub(crate) fn pod(&mut self, yaml: &str) -> Pod {
        testing::pod(yaml, &mut self.cache.base.interner)
    }

    pub(crate) fn compile<P: Plugin<Columns: TestColumns<Column = C>, Indexes: TestIndexes>>(
        &mut self,
        args: &P::Args,
        pod: &str,
    ) -> P::Pod {
        let pod = self.pod(pod);
        let indexes = P::Indexes::muts(&mut self.classes);
        P::compile(args, &pod.spec, CompileContext { interner: &mut self.cache.base.interner, indexes })
    }

    pub(crate) fn plugin<P: Plugin<Columns: TestColumns<Column = C>>>(&self, args: &'static P::Args) -> P {
        P::new(args, &Handle::default()).expect("arguments are right")
    }

    pub(crate) fn columns(&self) -> &[C] {
        &self.cache.state.0
    }

    pub(crate) fn view<P: Plugin<Columns: TestColumns<Column = C>, Indexes: TestIndexes, Reads = ()>>(
        &self,
    ) -> View<'_, P> {
        View {
            columns: P::Columns::slices(&self.cache.state.0),
            indexes: P::Indexes::refs(&self.classes),
            reads: (),
            base: &self.cache.base,
        }
    }

    /// Returns Filter's results, one line for each node: its name, then code and reasons if the node is rejected.
    pub(crate) fn filter<P>(&mut self, args: &P::Args, pod: &str) -> String
    where
        P: FilterPlugin<Columns: TestColumns<Column = C>, Indexes: TestIndexes, Reads = (), Cycle = ()>,
    {
        let pod = self.compile::<P>(args, pod);
        let mut lines = String::new();
        for index in self.cache.base.alive().iter() {
            lines += self.cache.base.name(index);
            if let Err(rejection) = P::filter(args, &pod, &(), self.view::<P>().row(index)) {
                let mut reasons = Reasons::new(&self.cache.base.interner);
                P::explain(args, &pod, &(), self.view::<P>().row(index), rejection, &mut reasons);
                lines += &format!(": {}: {}", P::code(&rejection), reasons.into_list().join(", "));
            }
            lines += "\n";
        }
        lines
    }

    /// Returns the raw score of each node.
    pub(crate) fn scores<P>(&mut self, args: &P::Args, pod: &str) -> Vec<i64>
    where
        P: ScorePlugin<Columns: TestColumns<Column = C>, Indexes: TestIndexes, Reads = (), Cycle: Default>,
    {
        let pod = self.compile::<P>(args, pod);
        let nodes = self.cache.base.alive().iter();
        nodes
            .map(|index| P::score(args, &pod, &P::Cycle::default(), self.view::<P>().row(index)).expect("a score"))
            .collect()
    }
}

/// Returns a plugin's hint for an event, in a cluster without other objects.
pub(crate) fn hint<P: EnqueueExtensions<Indexes: TestIndexes>>(
    args: &'static P::Args,
    rejected: &Pod,
    object: EventObject<'_>,
    interner: &Interner,
) -> QueueingHint {
    let mut base = Base::default();
    base.interner = interner.clone();
    let plugin = P::new(args, &Handle::default()).expect("arguments are right");
    let classes = DeviceClasses::default();
    let view = IndexView { indexes: P::Indexes::refs(&classes), base: &base };
    plugin.queueing_hint(args, HintContext { rejected, object, view }).expect("a hint")
}

/// Returns the arguments of a profile, or their errors.
pub(crate) fn args<T: Decode>(profile: &str) -> Result<&'static T, String> {
    let table = DeTable::parse(profile).expect("a profile");
    let table = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
    let args = decode_at_runtime(&tree(profile, &table)).map_err(|complaints| complaints.join("\n"))?;
    Ok(Box::leak(Box::new(args)))
}

fn tree(profile: &str, value: &Spanned<DeValue<'_>>) -> Written {
    let before = &profile[..value.span().start];
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1) + 1;
    let value = match value.get_ref() {
        DeValue::Integer(value) => Value::Int(value.as_str().parse().expect("an integer")),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::String(value) => Value::leaked_str(&**value),
        DeValue::Array(entries) => Value::leaked_list(entries.iter().map(|entry| tree(profile, entry)).collect()),
        DeValue::Table(entries) => {
            Value::leaked_table(entries.iter().map(|(key, entry)| (key.get_ref().to_string(), tree(profile, entry))))
        }
        other => panic!("no argument here is a {}", other.type_str()),
    };
    Written { file: "p.toml", line: line as u32, column: column as u32, value }
}
