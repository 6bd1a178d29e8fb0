//! Limits of reviews: how many wait, and how many failed reviews a client may cause.
//!
//! A client without valid credentials can cause a review with every request. Without limits, such clients would occupy
//! all connections and pass their load on to the API server.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limit of failed reviews per address: burst, and rate per second.
const ADDRESS_RATE: Rate = Rate { burst: 20.0, per_second: 2.0 };
/// Limit of failed reviews of all addresses.
const TOTAL_RATE: Rate = Rate { burst: 100.0, per_second: 50.0 };
/// Maximum number of addresses with a bucket. Other addresses are refused until a bucket is full again and dropped.
const ADDRESSES: usize = 1024;

#[derive(Clone, Copy)]
struct Rate {
    burst: f64,
    per_second: f64,
}

/// Limits for reviews. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    places: Arc<Semaphore>,
    buckets: Arc<Mutex<Buckets>>,
}

#[derive(Debug)]
struct Buckets {
    of_all: Bucket,
    of_addresses: HashMap<IpAddr, Bucket>,
}

/// Token bucket; each failed review takes a token.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    filled: Duration,
}

/// Permission for one review. It counts as a concurrent review until it is dropped.
#[derive(Debug)]
pub(super) struct Charge {
    _place: OwnedSemaphorePermit,
    buckets: Arc<Mutex<Buckets>>,
    address: IpAddr,
}

impl Budget {
    /// Creates a budget with a maximum number of concurrent reviews, waiting ones included.
    pub(super) fn new(reviews: usize) -> Self {
        let of_all = Bucket::new(TOTAL_RATE);
        let buckets = Buckets { of_all, of_addresses: HashMap::new() };
        Budget { places: Arc::new(Semaphore::new(reviews)), buckets: Arc::new(Mutex::new(buckets)) }
    }

    /// Permits a review for a client at this address. `None`: the client should retry later. The review counts as
    /// failed unless [`Charge::refund`] is called.
    pub(super) fn take(&self, address: IpAddr, clock: Duration) -> Option<Charge> {
        let place = self.places.clone().try_acquire_owned().ok()?;
        let address = network(address);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let Buckets { of_all, of_addresses } = &mut *buckets;
        if of_addresses.len() >= ADDRESSES && !of_addresses.contains_key(&address) {
            of_addresses.retain(|_, bucket| bucket.fill(ADDRESS_RATE, clock) < ADDRESS_RATE.burst);
            if of_addresses.len() >= ADDRESSES {
                return None;
            }
        }
        let of_address = of_addresses.entry(address).or_insert_with(|| Bucket::new(ADDRESS_RATE));
        if of_address.fill(ADDRESS_RATE, clock) < 1.0 || of_all.fill(TOTAL_RATE, clock) < 1.0 {
            return None;
        }
        of_address.tokens -= 1.0;
        of_all.tokens -= 1.0;
        Some(Charge { _place: place, buckets: self.buckets.clone(), address })
    }
}

impl Charge {
    /// Gives back the tokens of a review that did not fail.
    pub(super) fn refund(self) {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.of_all.tokens += 1.0;
        if let Some(bucket) = buckets.of_addresses.get_mut(&self.address) {
            bucket.tokens += 1.0;
        }
    }
}

impl Bucket {
    fn new(rate: Rate) -> Self {
        Bucket { tokens: rate.burst, filled: Duration::ZERO }
    }

    /// Refills the bucket up to this time, and returns its tokens.
    fn fill(&mut self, rate: Rate, clock: Duration) -> f64 {
        let gained = clock.saturating_sub(self.filled).as_secs_f64() * rate.per_second;
        self.filled = self.filled.max(clock);
        self.tokens = rate.burst.min(self.tokens + gained);
        self.tokens
    }
}

/// Returns the part of an address that a client cannot choose. For IPv6 this is the /64 prefix: a host can use all
/// addresses with its prefix.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    fn fails(budget: &Budget, address: IpAddr, seconds: u64) -> usize {
        let clock = Duration::from_secs(seconds);
        std::iter::from_fn(|| budget.take(address, clock)).take(1000).count()
    }

    #[test]
    fn failed_reviews_of_an_address_are_limited() {
        let budget = Budget::new(8);
        assert_eq!(fails(&budget, address(1), 0), 20);
        assert_eq!(fails(&budget, address(1), 3), 6);
        // Another address has a separate budget, and the first one recovers with time.
        assert_eq!(fails(&budget, address(2), 3), 20);
        assert_eq!(fails(&budget, address(1), 1000), 20);
    }

    #[test]
    fn failed_reviews_of_all_addresses_are_limited() {
        let budget = Budget::new(8);
        let failed: usize = (0..=255).map(|last| fails(&budget, address(last), 0)).sum();
        assert_eq!(failed, 100);
        assert_eq!((0..=255).map(|last| fails(&budget, address(last), 1)).sum::<usize>(), 50);
    }

    #[test]
    fn reviews_that_do_not_fail_cost_nothing() {
        let budget = Budget::new(8);
        for _ in 0..1000 {
            budget.take(address(1), Duration::ZERO).unwrap().refund();
        }
        assert_eq!(fails(&budget, address(1), 0), 20);
    }

    #[test]
    fn waiting_reviews_are_limited() {
        let budget = Budget::new(2);
        let take = |last| budget.take(address(last), Duration::ZERO);
        let (first, second) = (take(1), take(2));
        assert!(first.is_some() && second.is_some() && take(3).is_none());
        drop(first);
        assert!(take(3).is_some());
    }

    #[test]
    fn addresses_are_tracked_in_bounded_memory() {
        let budget = Budget::new(8);
        for bits in 0..10_000 {
            let address = IpAddr::from(std::net::Ipv4Addr::from_bits(bits));
            // After a while, all buckets are full again.
            drop(budget.take(address, Duration::from_millis(u64::from(bits) * 100)));
        }
        assert!(budget.buckets.lock().unwrap().of_addresses.len() <= ADDRESSES);
    }

    #[test]
    fn addresses_of_one_host() {
        let same = |a: &str, b: &str| network(a.parse().unwrap()) == network(b.parse().unwrap());
        assert!(same("fd00::1", "fd00::ffff:2") && same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!same("fd00::1", "fd00:0:0:1::1") && !same("10.0.0.1", "10.0.0.2"));
    }
}
