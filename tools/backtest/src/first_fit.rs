//! Search for the first place, in a fixed order, where some amounts fit.

/// Places with free amounts of some resources, as a segment tree: each inner node has the maximum of every resource over
/// its places.
pub(crate) struct FirstFit {
    /// Number of leaves: a power of two.
    leaves: usize,
    /// Number of resources.
    width: usize,
    /// Maxima by tree node. The root is node 1; the children of node `n` are the nodes `2n` and `2n + 1`.
    maxima: Vec<i64>,
    /// For each tree node, whether it has an open place.
    is_open: Vec<bool>,
}

impl FirstFit {
    /// Creates `places` closed places with `width` resources.
    pub(crate) fn new(places: usize, width: usize) -> Self {
        let leaves = places.next_power_of_two();
        FirstFit { leaves, width, maxima: vec![i64::MIN; 2 * leaves * width], is_open: vec![false; 2 * leaves] }
    }

    /// Opens a place with some free amounts, or sets the amounts of an open place.
    pub(crate) fn open(&mut self, place: usize, free: &[i64]) {
        self.set(place, true, free);
    }

    /// Closes a place: nothing fits there.
    pub(crate) fn close(&mut self, place: usize) {
        self.set(place, false, &vec![i64::MIN; self.width]);
    }

    fn set(&mut self, place: usize, is_open: bool, free: &[i64]) {
        let mut at = self.leaves + place;
        self.is_open[at] = is_open;
        self.maxima[at * self.width..][..self.width].copy_from_slice(free);
        while at > 1 {
            at /= 2;
            self.is_open[at] = self.is_open[2 * at] || self.is_open[2 * at + 1];
            for resource in 0..self.width {
                let maximum = |child: usize| self.maxima[child * self.width + resource];
                self.maxima[at * self.width + resource] = maximum(2 * at).max(maximum(2 * at + 1));
            }
        }
    }

    /// Returns the first open place where the requests fit. A request of 0 fits everywhere.
    pub(crate) fn find(&self, requests: &[i64]) -> Option<usize> {
        let mut at = 1;
        loop {
            if self.may_fit(at, requests) {
                if at >= self.leaves {
                    return Some(at - self.leaves);
                }
                at *= 2;
                continue;
            }
            // Continue with the next subtree in order.
            while at % 2 == 1 {
                if at == 1 {
                    return None;
                }
                at /= 2;
            }
            at += 1;
        }
    }

    fn may_fit(&self, at: usize, requests: &[i64]) -> bool {
        let maxima = &self.maxima[at * self.width..][..self.width];
        self.is_open[at] && fits(requests, maxima)
    }
}

/// Returns whether requests fit in free amounts. A request of 0 fits in every amount, also in a negative one.
pub(crate) fn fits(requests: &[i64], free: &[i64]) -> bool {
    requests.iter().zip(free).all(|(requested, free)| *requested == 0 || requested <= free)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn find_returns_the_first_open_place_where_the_requests_fit(
            places in vec((any::<bool>(), [-1_i64..5, -1..5]), 0..20),
            changes in vec((0_usize..20, any::<bool>(), [-1_i64..5, -1..5]), 0..20),
            requests in [0_i64..5, 0..5],
        ) {
            let (mut expected, mut search) = (places.clone(), FirstFit::new(places.len(), 2));
            for (place, (is_open, free)) in places.iter().enumerate() {
                if *is_open {
                    search.open(place, free);
                }
            }
            for (place, is_open, free) in changes {
                let Some(slot) = expected.get_mut(place) else { continue };
                *slot = (is_open, free);
                match is_open {
                    true => search.open(place, &free),
                    false => search.close(place),
                }
            }
            let first = expected.iter().position(|(is_open, free)| *is_open && fits(&requests, free));
            prop_assert_eq!(search.find(&requests), first);
        }
    }
}
