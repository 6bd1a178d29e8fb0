//! What every plugin is, and what it is given.

use std::hash::Hash;

use crate::cache::Base;
use crate::column::{ColumnSet, IndexSet};
use crate::extension_points::PreFilterPlugin;
use crate::handle::Handle;
use crate::intern::{Interner, Symbol};
use crate::model::{NodeIndex, PodSpec};

/// A scheduling plugin. It is instantiated once for a profile, serves all of its extension points, and is shared
/// between the scheduling thread and binding tasks.
///
/// Its kernels (`filter`, `score`) are functions without `self`: they see the arguments, the compiled pod, the
/// plugin's own cycle state and the declared columns of one node. What they cannot reach cannot influence an answer
/// unnoticed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scheduler plugin",
    note = "implement `schedc_core::Plugin` for it, or `schedc_core::SimpleFilter` for the short way"
)]
pub trait Plugin: Send + Sync + Sized + 'static {
    /// The name in profiles, statuses and metrics.
    const NAME: &'static str;
    /// The arguments that a profile can give.
    type Args: Sync + 'static;
    /// What the kernels read of a node.
    type Columns: ColumnSet;
    /// What PreFilter, PreScore and Reserve read of the cluster.
    type Indexes: IndexSet;
    /// Other plugins whose cycle state it reads: `()`, [`StateOf`], [`OptionalStateOf`], or a tuple of them.
    type Reads: ReadSet;
    /// All that the plugin reads of a pod. These, over the plugins of a profile, are the pod's signature, apart from what is
    /// [`ExcludedFromSignature`](crate::incremental::ExcludedFromSignature) in them.
    type Pod: Eq + Hash + Send + Sync + 'static;

    /// Makes the instance.
    ///
    /// # Errors
    /// Why it cannot work. The scheduler then does not start; it tells the failures of all plugins.
    fn new(args: &'static Self::Args, handle: &Handle) -> Result<Self, String>;

    /// Reads a pod. What comes of it serves all pods that are alike, until [`Plugin::compile_epoch`] is another one: what
    /// it finds in indexes, or registers with them, holds until then.
    fn compile(args: &Self::Args, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Self::Pod;

    /// A number that grows when what `compile` has found in indexes, or registered with them, does not hold any more.
    /// A plugin whose `compile` does not look at its indexes says 0. `None`: every attempt needs a new look, which is so
    /// unless a plugin has no indexes or says otherwise.
    fn compile_epoch(_indexes: Refs<'_, Self>) -> Option<u64> {
        <Self::Indexes as IndexSet>::IS_EMPTY.then_some(0)
    }

    /// The scheduler stops.
    fn close(&self) {}
}

/// What [`Plugin::compile`] can use.
pub struct CompileContext<'a, P: Plugin> {
    /// The cluster's strings; those of arguments are interned here.
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
/// The cycle states that the plugin reads of others.
pub type Reads<'a, P> = <<P as Plugin>::Reads as ReadSet>::Refs<'a>;

/// The cluster, as what runs once a cycle sees it.
pub struct View<'a, P: Plugin> {
    /// The plugin's columns.
    pub columns: Slices<'a, P>,
    /// The plugin's indexes.
    pub indexes: Refs<'a, P>,
    /// Cycle states of the plugins named in `Reads`.
    pub reads: Reads<'a, P>,
    /// Nodes and names.
    pub base: &'a Base,
}

impl<P: Plugin> Clone for View<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Plugin> Copy for View<'_, P> {}

impl<'a, P: Plugin> View<'a, P> {
    /// The plugin's columns of one node.
    #[inline]
    pub fn row(&self, node: NodeIndex) -> Row<'a, P> {
        P::Columns::row(self.columns, node.get())
    }
    /// The node of that name.
    pub fn node(&self, name: Symbol) -> Option<NodeIndex> {
        self.base.node(name)
    }
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.base.count()
    }
}

/// The cluster, as what runs outside of cycles sees it: PreEnqueue and queueing hints.
pub struct IndexView<'a, P: Plugin> {
    /// The plugin's indexes.
    pub indexes: Refs<'a, P>,
    /// Nodes and names.
    pub base: &'a Base,
}

impl<P: Plugin> Clone for IndexView<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Plugin> Copy for IndexView<'_, P> {}

impl<'a, P: Plugin> IndexView<'a, P> {
    /// The cluster's strings.
    pub fn interner(&self) -> &'a Interner {
        &self.base.interner
    }
}

/// Cycle state of one plugin in one profile. Skip is a verdict on the state, not its absence: the state lives on, so
/// that a later update can find that the plugin has something to say again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CycleSlot<C> {
    /// The state.
    pub state: C,
    /// The plugin's Filter or Score is left out.
    pub skip: bool,
}

impl<C> CycleSlot<C> {
    /// The plugin takes part.
    #[inline(always)]
    pub fn ready(state: C) -> Self {
        CycleSlot { state, skip: false }
    }
    /// The plugin has nothing to say about this pod.
    #[inline(always)]
    pub fn skip(state: C) -> Self {
        CycleSlot { state, skip: true }
    }
    /// The state, unless the plugin is left out.
    #[inline(always)]
    pub fn get(&self) -> Option<&C> {
        (!self.skip).then_some(&self.state)
    }
    /// The state to be changed, unless the plugin is left out.
    #[inline(always)]
    pub fn get_mut(&mut self) -> Option<&mut C> {
        (!self.skip).then_some(&mut self.state)
    }
}

/// Which cycle states a plugin reads.
pub trait ReadSet: 'static {
    /// References to them.
    type Refs<'a>: Copy;
}
impl ReadSet for () {
    type Refs<'a> = ();
}

/// The filter state of a plugin that must be in the profile, too: else the profile does not compile.
pub struct StateOf<P>(std::marker::PhantomData<fn() -> P>);
impl<P: PreFilterPlugin> ReadSet for StateOf<P> {
    type Refs<'a> = &'a CycleSlot<<P as PreFilterPlugin>::Cycle>;
}

/// The filter state of a plugin, if the profile has it.
pub struct OptionalStateOf<P>(std::marker::PhantomData<fn() -> P>);
impl<P: PreFilterPlugin> ReadSet for OptionalStateOf<P> {
    type Refs<'a> = Option<&'a CycleSlot<<P as PreFilterPlugin>::Cycle>>;
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
