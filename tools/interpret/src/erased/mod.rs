//! Plugins behind trait objects: a trait for each extension point, which [`Instance`] implements for every
//! plugin with the point.
//!
//! Functions that are generic over the API client are not included: the generated `plugins::bind` and
//! `plugins::pre_bind` select the plugin by its type.

/// Declares the trait object of an extension point, and implements it for the plugins with the traits of the point.
macro_rules! erased_point {
    (
        $(#[$about:meta])*
        trait $trait:ident for $($point:path),+ {
            $(
                $(#[$doc:meta])*
                fn $function:ident(&$self:ident $(, $name:ident: $type:ty)* $(,)?) $(-> $output:ty)? $body:block
            )*
        }
    ) => {
        $(#[$about])*
        pub(crate) trait $trait: Send + Sync {
            $($(#[$doc])* fn $function(&$self $(, $name: $type)*) $(-> $output)?;)*
        }

        impl<P: Reads $(+ $point)+> $trait for Instance<P> {
            $(fn $function(&$self $(, $name: $type)*) $(-> $output)? $body)*
        }
    };
}

mod cycle;
mod plugin;
mod scores;
mod value;

pub(crate) use cycle::{Filter, PostFilter, PreEnqueue, PreFilter, QueueSort, QueueingHints};
pub(crate) use plugin::{PluginBuilder, PluginTraits};
pub(crate) use scores::{Normalize, PreBind, PreScore, Prepare, Reserve, Score};
pub(crate) use value::{AnyValue, FilterState, PodValue, downcast_value, downcast_value_mut};

use std::any::Any;

use schedc_core::cache::{Base, Cache};
use schedc_core::column::IndexSet;
use schedc_core::intern::Interner;
use schedc_core::model::{NodeIndex, PodSpec};
use schedc_core::plugin::{CompileContext, CycleSlot, IndexView, Plugin, Refs, Slices, View};

use crate::plugins::Columns;
use crate::state::State;

/// The columns of all plugins, like the columns of a profile in generated code.
pub(crate) trait AllColumns {
    type Columns<'a>: Copy;
    fn columns<'a>(state: &'a State, base: &'a Base) -> Self::Columns<'a>;
    fn aligned<'a>(columns: Self::Columns<'a>) -> Self::Columns<'a>;
    fn hypothetical_columns<'a>(
        node: &'a <State as schedc_core::cache::State>::Hypothetical<'_>,
        index: NodeIndex,
    ) -> Self::Columns<'a>;
}

/// Type with the columns of all in-tree plugins.
pub(crate) struct InTreeColumns;

/// The part of the state that a plugin reads.
pub(crate) trait Reads: Plugin<Reads = ()> {
    fn columns<'a>(columns: &Columns<'a>) -> Slices<'a, Self>;
    fn indexes(state: &State) -> Refs<'_, Self>;
    fn indexes_mut(state: &mut State) -> <Self::Indexes as IndexSet>::Muts<'_>;
    fn compile_epoch(state: &State) -> Option<u64>;
}

/// A plugin and its arguments.
pub(crate) struct Instance<P: Plugin> {
    pub(crate) plugin: P,
    pub(crate) args: &'static P::Args,
}

/// The functions of every plugin.
pub(crate) trait ErasedPlugin: Any + Send + Sync {
    fn compile(&self, pod: &PodSpec, interner: &mut Interner, state: &mut State) -> Box<dyn PodValue>;
    fn compile_epoch(&self, state: &State) -> Option<u64>;
    fn close(&self);
}

impl<P: Reads> ErasedPlugin for Instance<P> {
    fn compile(&self, pod: &PodSpec, interner: &mut Interner, state: &mut State) -> Box<dyn PodValue> {
        Box::new(P::compile(self.args, pod, CompileContext { interner, indexes: P::indexes_mut(state) }))
    }
    fn compile_epoch(&self, state: &State) -> Option<u64> {
        <P as Reads>::compile_epoch(state)
    }
    fn close(&self) {
        self.plugin.close();
    }
}

/// The inputs of a plugin's Filter and Score, except for the node.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) pod: &'a dyn PodValue,
    /// The state of PreFilter, PreScore or PrepareScore; `None` for a plugin without such a state.
    pub(crate) state: Option<&'a AnyValue>,
    pub(crate) cache: &'a Cache<State>,
}

impl<'a> Inputs<'a> {
    /// Returns the plugin's columns of all nodes.
    fn columns<P: Reads>(self) -> Slices<'a, P> {
        P::columns(&InTreeColumns::columns(&self.cache.state, &self.cache.base))
    }
}

/// Returns the plugin's view of the cluster in a cycle.
fn view<P: Reads>(cache: &Cache<State>) -> View<'_, P> {
    let columns = P::columns(&InTreeColumns::columns(&cache.state, &cache.base));
    View { columns, indexes: P::indexes(&cache.state), reads: (), base: &cache.base }
}

/// Returns the plugin's view of the cluster outside of cycles.
fn index_view<P: Reads>(cache: &Cache<State>) -> IndexView<'_, P> {
    IndexView { indexes: P::indexes(&cache.state), base: &cache.base }
}

/// Returns the plugin's compiled pod.
fn downcast_pod<P: Plugin>(pod: &dyn PodValue) -> &P::Pod {
    downcast_value(pod)
}

/// Returns the state of PreFilter or PreScore in its concrete type.
fn slot_state<T: 'static>(state: &AnyValue) -> &T {
    let slot: &CycleSlot<T> = downcast_value(state);
    &slot.state
}
