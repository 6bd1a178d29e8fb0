//! Names, for plugins that exist more than once.

/// Tells plugins of one type apart.
pub trait Named: Send + Sync + 'static {
    const PROBE: &'static str;
    const PINNED: &'static str = "";
    const PINNED_LABEL: &'static str = "";
    const FAVOUR: &'static str = "";
}

pub struct NamedA;
impl Named for NamedA {
    const PROBE: &'static str = "A";
    const PINNED: &'static str = "PinnedA";
    const PINNED_LABEL: &'static str = "only-a";
    const FAVOUR: &'static str = "FavourA";
}

pub struct NamedB;
impl Named for NamedB {
    const PROBE: &'static str = "B";
    const PINNED: &'static str = "PinnedB";
    const PINNED_LABEL: &'static str = "only-b";
    const FAVOUR: &'static str = "FavourB";
}

pub struct NamedC;
impl Named for NamedC {
    const PROBE: &'static str = "C";
}
