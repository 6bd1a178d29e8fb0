//! The first filters of a profile, as long as they read only the pod and the node.

use crate::plugin_api::incremental::DependsOn;

/// The filters of a profile, in their order, up to the first one whose verdict on a node depends on other nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeadingFilters {
    /// Number of these filters.
    pub count: u32,
    /// Those that do not skip, one bit for each place in the order.
    active: u128,
}

/// Inputs of a filter for one pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterInputs {
    /// None: PreFilter skipped.
    Nothing,
    /// The compiled pod and the node.
    Node,
    /// The cluster.
    Cluster,
}

impl FilterInputs {
    /// Returns the inputs of a filter with PreFilter.
    #[inline]
    pub fn new(skip: bool, depends: DependsOn) -> Self {
        match depends {
            _ if skip => FilterInputs::Nothing,
            DependsOn::Nothing | DependsOn::Node => FilterInputs::Node,
            DependsOn::NodeUntilUpdate | DependsOn::Cluster => FilterInputs::Cluster,
        }
    }
}

impl LeadingFilters {
    /// Finds the leading filters. `filters` has all filters of a profile, in their order.
    #[inline]
    pub fn new(filters: impl IntoIterator<Item = FilterInputs>) -> Self {
        let mut leading = LeadingFilters::default();
        for inputs in filters.into_iter().take_while(|inputs| *inputs != FilterInputs::Cluster) {
            leading.active |= u128::from(inputs == FilterInputs::Node) << leading.count;
            leading.count += 1;
        }
        leading
    }

    /// Returns whether the filter at a place in the order is a leading one that does not skip.
    #[inline]
    pub fn has_active(self, place: u32) -> bool {
        self.active >> place & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_filter_that_reads_the_cluster_ends_the_leading_ones() {
        let leading = LeadingFilters::new([
            FilterInputs::Node,
            FilterInputs::new(true, DependsOn::Cluster),
            FilterInputs::new(false, DependsOn::Node),
            FilterInputs::new(false, DependsOn::NodeUntilUpdate),
            FilterInputs::Node,
        ]);
        assert_eq!((leading.count, leading.active), (3, 0b101));
        assert_eq!([0, 1, 2, 3, 4].map(|place| leading.has_active(place)), [true, false, true, false, false]);
    }
}
