//! How often a plugin skips.

/// How often PreFilter or PreScore leaves Filter or Score out. The loops over nodes come in forms in which that is known, so
/// that no node pays for plugins which have nothing to say about the pod. What is told here decides about speed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipFrequency {
    /// It does not, or its Filter passes and its score is 0 all the same: the loops do not ask.
    Never,
    /// For some pods.
    Sometimes,
    /// For most pods: it is left out together with others that are seldom needed.
    Usually,
}
