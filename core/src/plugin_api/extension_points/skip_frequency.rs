//! How often a plugin skips.

/// How often PreFilter or PreScore skips Filter or Score
/// ([`Incremental::SKIPS`](crate::incremental::Incremental::SKIPS)). The loops over nodes are compiled in variants, so
/// that a skipped plugin costs nothing per node. A wrong `Never` changes results; all other values affect only speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipFrequency {
    /// Never, or a skipped plugin's Filter would pass and its score would be 0: the loops do not check for a skip.
    Never,
    /// For some pods.
    Sometimes,
    /// For most pods: the plugin is skipped together with others that are seldom needed.
    Usually,
}
