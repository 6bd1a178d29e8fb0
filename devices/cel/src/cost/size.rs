//! Ranges of sizes and costs.

/// Minimum and maximum of a number. `u64::MAX` means that there is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Range {
    pub(crate) const UNKNOWN: Range = Range { min: 0, max: u64::MAX };
    pub(crate) const ONE: Range = Range::exactly(1);
    pub(crate) const ZERO: Range = Range::exactly(0);

    pub(crate) const fn exactly(number: u64) -> Range {
        Range { min: number, max: number }
    }

    pub(crate) const fn up_to(max: u64) -> Range {
        Range { min: 0, max }
    }

    pub(crate) fn plus(self, other: Range) -> Range {
        Range { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(crate) fn times(self, other: Range) -> Range {
        Range { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// Returns the product with a factor, rounded up.
    pub(crate) fn scaled(self, factor: f64) -> Range {
        // Conversion to an integer saturates.
        let scale = |number: u64| (number as f64 * factor).ceil() as u64;
        Range { min: scale(self.min), max: scale(self.max) }
    }

    /// Returns the smallest range that contains both.
    pub(crate) fn union(self, other: Range) -> Range {
        Range { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// Sizes of a list's indexes and elements, or of a map's keys and values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntrySizes {
    pub(crate) is_list: bool,
    pub(crate) key: Range,
    pub(crate) value: Range,
}

impl EntrySizes {
    pub(crate) fn union(a: Option<EntrySizes>, b: Option<EntrySizes>) -> Option<EntrySizes> {
        let (a, b) = (a?, b?);
        Some(EntrySizes { is_list: a.is_list, key: a.key.union(b.key), value: a.value.union(b.value) })
    }
}
