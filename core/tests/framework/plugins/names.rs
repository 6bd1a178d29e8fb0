//! Names, for plugins that exist more than once.

/// Name that separates plugins of one type.
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

/// Plugins with all extension points.
pub trait Everywhere: Named {}

pub struct NamedX;
impl Named for NamedX {
    const PROBE: &'static str = "X";
}
impl Everywhere for NamedX {}

pub struct NamedY;
impl Named for NamedY {
    const PROBE: &'static str = "Y";
}
impl Everywhere for NamedY {}

pub struct NamedC;
impl Named for NamedC {
    const PROBE: &'static str = "C";
}
