//! A plugin of a profile: one instance, behind a trait object for each of its extension points.

use std::sync::Arc;

use schedc_core::args::{Decode, Node, decode_at_runtime};
use schedc_core::extension_points as points;
use schedc_core::handle::Handle;
use schedc_core::hints::PluginEvents;
use schedc_core::plugin::Plugin;
use schedc_core::profile::StartError;

use super::{
    ErasedPlugin, Filter, Instance, Normalize, PostFilter, PreBind, PreEnqueue, PreFilter, PreScore, Prepare,
    QueueSort, QueueingHints, Reads, Reserve, Score,
};

/// A plugin, with the extension points in its catalog entry.
pub(crate) struct PluginTraits {
    pub(crate) name: &'static str,
    pub(crate) events: PluginEvents,
    pub(crate) erased: Arc<dyn ErasedPlugin>,
    pub(crate) hints: Option<Arc<dyn QueueingHints>>,
    pub(crate) pre_enqueue: Option<Arc<dyn PreEnqueue>>,
    pub(crate) queue_sort: Option<Arc<dyn QueueSort>>,
    pub(crate) pre_filter: Option<Arc<dyn PreFilter>>,
    pub(crate) filter: Option<Arc<dyn Filter>>,
    pub(crate) post_filter: Option<Arc<dyn PostFilter>>,
    pub(crate) pre_score: Option<Arc<dyn PreScore>>,
    pub(crate) prepare: Option<Arc<dyn Prepare>>,
    pub(crate) score: Option<Arc<dyn Score>>,
    pub(crate) normalize: Option<Arc<dyn Normalize>>,
    pub(crate) reserve: Option<Arc<dyn Reserve>>,
    pub(crate) pre_bind: Option<Arc<dyn PreBind>>,
}

/// A new plugin. Its methods have the catalog's names of extension points.
pub(crate) struct PluginBuilder<P: Plugin> {
    instance: Arc<Instance<P>>,
    plugin: PluginTraits,
}

impl<P: Reads<Args: Decode>> PluginBuilder<P> {
    /// Decodes the arguments and creates the plugin. Both have static lifetime.
    ///
    /// # Errors
    /// The arguments are invalid, or the plugin fails to start.
    pub(crate) fn new(args: &Node, handle: &Handle, events: PluginEvents) -> Result<Self, StartError> {
        let failed = |reason| StartError { plugin: P::NAME, reason };
        let args = decode_at_runtime::<P::Args>(args).map_err(|complaints| failed(complaints.join("; ")))?;
        let args: &'static P::Args = Box::leak(Box::new(args));
        let plugin = P::new(args, handle).map_err(failed)?;
        let instance = Arc::new(Instance { plugin, args });
        let plugin = PluginTraits {
            name: P::NAME,
            events,
            erased: instance.clone(),
            hints: None,
            pre_enqueue: None,
            queue_sort: None,
            pre_filter: None,
            filter: None,
            post_filter: None,
            pre_score: None,
            prepare: None,
            score: None,
            normalize: None,
            reserve: None,
            pre_bind: None,
        };
        Ok(PluginBuilder { instance, plugin })
    }
}

impl<P: Reads> PluginBuilder<P> {
    pub(crate) fn enqueue_extensions(mut self) -> Self
    where
        P: points::EnqueueExtensions,
    {
        self.plugin.hints = Some(self.instance.clone());
        self
    }
    pub(crate) fn pre_enqueue(mut self) -> Self
    where
        P: points::PreEnqueuePlugin,
    {
        self.plugin.pre_enqueue = Some(self.instance.clone());
        self
    }
    pub(crate) fn queue_sort(mut self) -> Self
    where
        P: points::QueueSortPlugin,
    {
        self.plugin.queue_sort = Some(self.instance.clone());
        self
    }
    pub(crate) fn pre_filter(mut self) -> Self
    where
        P: points::PreFilterPlugin,
    {
        self.plugin.pre_filter = Some(self.instance.clone());
        self
    }
    pub(crate) fn filter(mut self) -> Self
    where
        P: points::FilterPlugin<Cycle: Default>,
    {
        self.plugin.filter = Some(self.instance.clone());
        self
    }
    pub(crate) fn post_filter(mut self) -> Self
    where
        P: points::PostFilterPlugin,
    {
        self.plugin.post_filter = Some(self.instance.clone());
        self
    }
    pub(crate) fn pre_score(mut self) -> Self
    where
        P: points::PreScorePlugin,
    {
        self.plugin.pre_score = Some(self.instance.clone());
        self
    }
    pub(crate) fn prepares_score(mut self) -> Self
    where
        P: points::PrepareScore,
    {
        self.plugin.prepare = Some(self.instance.clone());
        self
    }
    pub(crate) fn score(mut self) -> Self
    where
        P: points::ScorePlugin<Cycle: Default>,
    {
        self.plugin.score = Some(self.instance.clone());
        self
    }
    pub(crate) fn normalizes(mut self) -> Self
    where
        P: points::NormalizeScore,
    {
        self.plugin.normalize = Some(self.instance.clone());
        self
    }
    pub(crate) fn reserve(mut self) -> Self
    where
        P: points::ReservePlugin,
    {
        self.plugin.reserve = Some(self.instance.clone());
        self
    }
    pub(crate) fn pre_bind(mut self) -> Self
    where
        P: points::PreBindPlugin<Reserved: Default>,
    {
        self.plugin.pre_bind = Some(self.instance.clone());
        self
    }
    pub(crate) fn build(self) -> PluginTraits {
        self.plugin
    }
}
