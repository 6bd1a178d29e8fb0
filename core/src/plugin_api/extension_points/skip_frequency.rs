//! How often a plugin skips.

/// How often PreFilter or PreScore skips Filter or Score
/// ([`Incremental::SKIPS`](crate::incremental::Incremental::SKIPS)). The loops over nodes are compiled in variants for
/// it: nodes pay nothing for skipped plugins. A correct value affects only speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipFrequency {
    /// Never, or if it skips, its Filter passes and its score is 0: the loops do not check.
    Never,
    /// For some pods.
    Sometimes,
    /// For most pods: the plugin is skipped together with others that are seldom needed.
    Usually,
}
