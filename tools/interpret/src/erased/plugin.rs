//! A plugin of a profile: one instance, behind a trait object for each of its extension points.

use std::sync::Arc;

use schedc_core::args::{Decode, Node, decode_at_runtime};
use schedc_core::extension_points as points;
use schedc_core::handle::Handle;
use schedc_core::hints::PluginEvents;
use schedc_core::incremental::Incremental;
use schedc_core::plugin::Plugin;
use schedc_core::profile::StartError;

use super::{
    ErasedPlugin, Filter, Instance, Normalize, PostFilter, PreBind, PreEnqueue, PreFilter, PreScore, Prepare,
    QueueSort, QueueingHints, Reads, Reserve, Score,
};

/// Declares [`PluginTraits`] and its builder. Each line is an extension point: the builder's function, the field, the
/// trait object, and the traits that a plugin needs.
macro_rules! plugin_traits {
    ($($function:ident => $field:ident: $erased:ident, $($point:path),+;)*) => {
        /// A plugin, with the extension points in its catalog entry.
        pub(crate) struct PluginTraits {
            pub(crate) name: &'static str,
            pub(crate) events: PluginEvents,
            pub(crate) erased: Arc<dyn ErasedPlugin>,
            $(pub(crate) $field: Option<Arc<dyn $erased>>,)*
        }

        impl<P: Reads<Args: Decode>> PluginBuilder<P> {
            /// Decodes the arguments, which are never freed, and creates the plugin.
            ///
            /// # Errors
            /// Returns an error if the arguments are invalid or the plugin fails to start.
            pub(crate) fn new(args: &Node, handle: &Handle, events: PluginEvents) -> Result<Self, StartError> {
                let failed = |reason| StartError { plugin: P::NAME, reason };
                let args = decode_at_runtime::<P::Args>(args).map_err(|complaints| failed(complaints.join("; ")))?;
                let args: &'static P::Args = Box::leak(Box::new(args));
                let plugin = P::new(args, handle).map_err(failed)?;
                let instance = Arc::new(Instance { plugin, args });
                let plugin = PluginTraits { name: P::NAME, events, erased: instance.clone(), $($field: None,)* };
                Ok(PluginBuilder { instance, plugin })
            }
        }

        impl<P: Reads> PluginBuilder<P> {
            $(pub(crate) fn $function(mut self) -> Self
            where
                P: $($point +)+,
            {
                self.plugin.$field = Some(self.instance.clone());
                self
            })*

            pub(crate) fn build(self) -> PluginTraits {
                self.plugin
            }
        }
    };
}

plugin_traits! {
    enqueue_extensions => hints: QueueingHints, points::EnqueueExtensions;
    pre_enqueue => pre_enqueue: PreEnqueue, points::PreEnqueuePlugin;
    queue_sort => queue_sort: QueueSort, points::QueueSortPlugin;
    pre_filter => pre_filter: PreFilter, points::PreFilterPlugin, Incremental;
    filter => filter: Filter, points::FilterPlugin<Cycle: Default>, Incremental;
    post_filter => post_filter: PostFilter, points::PostFilterPlugin;
    pre_score => pre_score: PreScore, points::PreScorePlugin, Incremental;
    prepares_score => prepare: Prepare, points::PrepareScore, Incremental;
    score => score: Score, points::ScorePlugin<Cycle: Default>, Incremental;
    normalizes => normalize: Normalize, points::NormalizeScore<Cycle: Default>, Incremental;
    reserve => reserve: Reserve, points::ReservePlugin;
    pre_bind => pre_bind: PreBind, points::PreBindPlugin<Reserved: Default>;
}

/// A builder of [`PluginTraits`]. Its methods have the catalog's names of extension points.
pub(crate) struct PluginBuilder<P: Plugin> {
    instance: Arc<Instance<P>>,
    plugin: PluginTraits,
}
