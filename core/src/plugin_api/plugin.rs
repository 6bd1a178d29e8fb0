//! The [`Plugin`] trait, and the types that plugins receive.

use std::hash::Hash;

use crate::model::cache::Base;
use crate::model::intern::{Interner, Symbol};
use crate::model::{NodeIndex, PodSpec};
use crate::plugin_api::column::{ColumnSet, IndexSet};
use crate::plugin_api::handle::Handle;

/// A scheduling plugin. Each profile has one instance of it, for all extension points. The scheduling thread and
/// binding tasks share the instance.
///
/// The kernels (`filter`, `score`) are functions without `self`. They read the arguments, the compiled pod, the
/// plugin's own cycle state and the declared columns of one node. Therefore every input of a result is declared.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scheduler plugin",
    note = "write `#[plugin]` on its `impl Plugin`, `impl SimpleFilter` or `impl SimpleScore`"
)]
pub trait Plugin: Send + Sync + Sized + 'static {
    /// Name in profiles, statuses and metrics.
    const NAME: &'static str;
    /// Arguments that a profile can set.
    type Args: Sync + 'static;
    /// Columns that the kernels read of a node.
    type Columns: ColumnSet;
    /// Indexes that the plugin reads outside of its kernels, for example in PreFilter, PreScore and Reserve.
    type Indexes: IndexSet;
    /// Other plugins whose cycle state this plugin reads: `()`, [`StateOf`](crate::extension_points::StateOf),
    /// [`OptionalStateOf`](crate::extension_points::OptionalStateOf), or a tuple of them.
    type Reads: ReadSet;
    /// All that the plugin reads of a pod. These values of all plugins of a profile are the pod's signature, except the
    /// parts that are [`ExcludedFromSignature`](crate::incremental::ExcludedFromSignature).
    type Pod: Eq + Hash + Send + Sync + 'static;

    /// Creates the instance.
    ///
    /// # Errors
    /// The reason why the plugin cannot work. The scheduler then does not start, and reports the failures of all
    /// plugins.
    fn new(args: &'static Self::Args, handle: &Handle) -> Result<Self, String>;

    /// Compiles a pod. Pods with equal specifications may share the result until
    /// [`Incremental::compile_epoch`](crate::incremental::Incremental::compile_epoch) changes. Data that `compile`
    /// reads from indexes, or registers with them, must stay valid until then. Strings that `compile` interns are never
    /// freed: intern constants and arguments only, and take the symbols of the pod from `pod`.
    fn compile(args: &Self::Args, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Self::Pod;

    /// Closes the plugin when the scheduler stops.
    fn close(&self) {}
}

/// State that [`Plugin::compile`] can use.
pub struct CompileContext<'a, P: Plugin> {
    /// The cluster's strings; strings of arguments are interned here.
    pub interner: &'a mut Interner,
    /// The plugin's indexes.
    pub indexes: <P::Indexes as IndexSet>::Muts<'a>,
}

/// The declared columns of one node.
pub type Row<'a, P> = <<P as Plugin>::Columns as ColumnSet>::Row<'a>;
/// The declared columns of all nodes.
pub type Slices<'a, P> = <<P as Plugin>::Columns as ColumnSet>::Slices<'a>;
/// The declared indexes.
pub type Refs<'a, P> = <<P as Plugin>::Indexes as IndexSet>::Refs<'a>;
/// Cycle states of other plugins that the plugin reads.
pub type Reads<'a, P> = <<P as Plugin>::Reads as ReadSet>::Refs<'a>;

/// The cluster, for extension points that run once in a scheduling cycle.
pub struct View<'a, P: Plugin> {
    /// The plugin's columns.
    pub columns: Slices<'a, P>,
    /// The plugin's indexes.
    pub indexes: Refs<'a, P>,
    /// Cycle states of the plugins named in `Reads`.
    pub reads: Reads<'a, P>,
    /// Nodes and their names.
    pub base: &'a Base,
}

impl<P: Plugin> Clone for View<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Plugin> Copy for View<'_, P> {}

impl<'a, P: Plugin> View<'a, P> {
    /// Returns the plugin's columns of one node.
    #[inline]
    pub fn row(&self, node: NodeIndex) -> Row<'a, P> {
        P::Columns::row(self.columns, node.get())
    }
    /// Returns the node with this name.
    pub fn node(&self, name: Symbol) -> Option<NodeIndex> {
        self.base.node(name)
    }
    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.base.count()
    }
}

/// The cluster, for calls outside of scheduling cycles: PreEnqueue, queueing hints and timestamps of QueueSort.
pub struct IndexView<'a, P: Plugin> {
    /// The plugin's indexes.
    pub indexes: Refs<'a, P>,
    /// Nodes and their names.
    pub base: &'a Base,
}

impl<P: Plugin> Clone for IndexView<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Plugin> Copy for IndexView<'_, P> {}

impl<'a, P: Plugin> IndexView<'a, P> {
    /// Returns the cluster's strings.
    pub fn interner(&self) -> &'a Interner {
        &self.base.interner
    }
}

/// Cycle state of one plugin in one profile. A skipped plugin has a state too: a later update can find that the plugin
/// has to run again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CycleSlot<C> {
    /// The state.
    pub state: C,
    /// Whether the plugin's Filter or Score is skipped.
    pub skip: bool,
}

impl<C> CycleSlot<C> {
    /// Makes the state of a plugin that runs.
    #[inline(always)]
    pub fn ready(state: C) -> Self {
        CycleSlot { state, skip: false }
    }
    /// Makes the state of a plugin that is skipped for this pod.
    #[inline(always)]
    pub fn skip(state: C) -> Self {
        CycleSlot { state, skip: true }
    }
    /// Returns the state, unless the plugin is skipped.
    #[inline(always)]
    pub fn get(&self) -> Option<&C> {
        (!self.skip).then_some(&self.state)
    }
    /// Returns the state for changes, unless the plugin is skipped.
    #[inline(always)]
    pub fn get_mut(&mut self) -> Option<&mut C> {
        (!self.skip).then_some(&mut self.state)
    }
}

/// The cycle states that a plugin reads.
pub trait ReadSet: 'static {
    /// References to the states.
    type Refs<'a>: Copy;
}
impl ReadSet for () {
    type Refs<'a> = ();
}

impl<A: ReadSet> ReadSet for (A,) {
    type Refs<'a> = (A::Refs<'a>,);
}
impl<A: ReadSet, B: ReadSet> ReadSet for (A, B) {
    type Refs<'a> = (A::Refs<'a>, B::Refs<'a>);
}
impl<A: ReadSet, B: ReadSet, C: ReadSet> ReadSet for (A, B, C) {
    type Refs<'a> = (A::Refs<'a>, B::Refs<'a>, C::Refs<'a>);
}
