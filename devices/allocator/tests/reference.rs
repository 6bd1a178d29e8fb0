//! Reference implementation of the search, for a small model. It tries every combination, and checks each one as a
//! whole.

use std::collections::BTreeMap;

/// Random bytes, from which the test derives all random choices.
pub(crate) struct Dice(pub(crate) std::vec::IntoIter<u8>);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u8) -> u8 {
        self.0.next().unwrap_or(0) % sides
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) model: u8,
    pub(crate) is_tainted: bool,
    /// Amount that the device consumes of the pool's counter, whose limit is [`LIMIT`].
    pub(crate) counter: u8,
    /// Capacity of a device that several claims may share.
    pub(crate) shared: Option<u8>,
}

pub(crate) const LIMIT: u8 = 4;

#[derive(Clone, Debug)]
pub(crate) struct Pool {
    /// `None`: all nodes.
    pub(crate) node: Option<&'static str>,
    pub(crate) devices: Vec<Device>,
}

/// An alternative of a request.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    /// Number of devices; `None`: all.
    pub(crate) count: Option<u8>,
    pub(crate) model: Option<u8>,
    pub(crate) tolerates: bool,
    pub(crate) amount: Option<u8>,
}

#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// Alternatives of each request. A request without a choice has one alternative.
    pub(crate) requests: Vec<Vec<Want>>,
    /// Whether all devices have the same model.
    pub(crate) is_uniform: bool,
}

/// A device that is held: pool, position, and the amount of a share. `None`: the device is held exclusively.
pub(crate) type Held = (String, usize, Option<u8>);

#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) pools: BTreeMap<String, Pool>,
    pub(crate) held: BTreeMap<usize, Vec<Held>>,
}

#[derive(Clone, Debug)]
struct Pick {
    claim: usize,
    request: usize,
    alternative: usize,
    pool: String,
    device: usize,
    amount: Option<u8>,
}

impl World {
    /// Returns the devices for claims on a node: position of claim, request and alternative, and the device. `None`:
    /// there is no solution.
    pub(crate) fn allocate(&self, node: &str, claims: &[Claim]) -> Option<Vec<(usize, usize, usize, Held)>> {
        let requests = claims
            .iter()
            .enumerate()
            .flat_map(|(at, claim)| (0..claim.requests.len()).map(move |request| (at, request)));
        let requests: Vec<_> = requests.collect();
        let picks = self.solve(node, claims, &requests, 0, &[])?;
        let shown = |pick: Pick| (pick.claim, pick.request, pick.alternative, (pick.pool, pick.device, pick.amount));
        Some(picks.into_iter().map(shown).collect())
    }

    fn solve(
        &self,
        node: &str,
        claims: &[Claim],
        requests: &[(usize, usize)],
        at: usize,
        picks: &[Pick],
    ) -> Option<Vec<Pick>> {
        let Some(&(claim, request)) = requests.get(at) else { return Some(picks.to_vec()) };
        claims[claim].requests[request].iter().enumerate().find_map(|(alternative, want)| {
            let matching: Vec<Pick> = self
                .visible(node)
                .filter(|(_, _, device)| selects(want, device))
                .map(|(pool, at, device)| {
                    let amount = device.shared.map(|capacity| want.amount.unwrap_or(capacity));
                    Pick { claim, request, alternative, pool: pool.clone(), device: at, amount }
                })
                .collect();
            let mut found = None;
            let matching: Vec<_> = matching.into_iter().filter(|pick| self.has_room(pick)).collect();
            match want.count {
                None if matching.is_empty() => {}
                None => {
                    let all: Vec<_> = picks.iter().chain(&matching).cloned().collect();
                    if self.is_valid(claims, &all) {
                        found = self.solve(node, claims, requests, at + 1, &all);
                    }
                }
                Some(count) => combinations(&matching, count.into(), picks, &mut |picks, is_complete| {
                    if !self.is_valid(claims, picks) {
                        return Next::Skip;
                    }
                    if is_complete {
                        found = self.solve(node, claims, requests, at + 1, picks);
                    }
                    if found.is_some() { Next::Stop } else { Next::Continue }
                }),
            }
            found
        })
    }

    fn visible(&self, node: &str) -> impl Iterator<Item = (&String, usize, &Device)> {
        let pools = self.pools.iter().filter(move |(_, pool)| pool.node.is_none_or(|other| other == node));
        pools.flat_map(|(name, pool)| pool.devices.iter().enumerate().map(move |(at, device)| (name, at, device)))
    }

    /// Returns the amounts that claims hold of a device; `None`: all of it.
    fn holdings<'a>(&'a self, pool: &'a str, device: usize) -> impl Iterator<Item = Option<u8>> + 'a {
        let held = self.held.values().flatten();
        held.filter(move |held| held.0 == pool && held.1 == device).map(|held| held.2)
    }

    /// Returns whether the allocated claims leave enough capacity for a share of a device. True for an exclusive
    /// device.
    fn has_room(&self, pick: &Pick) -> bool {
        let held: u32 = self.holdings(&pick.pool, pick.device).flatten().map(u32::from).sum();
        let capacity = self.pools[&pick.pool].devices[pick.device].shared;
        capacity.is_none_or(|capacity| held + u32::from(pick.amount.unwrap_or(0)) <= capacity.into())
    }

    /// Returns whether the picked devices can be allocated together, in addition to the devices that are held.
    fn is_valid(&self, claims: &[Claim], picks: &[Pick]) -> bool {
        let is_held = |pick: &Pick| self.holdings(&pick.pool, pick.device).any(|amount| amount.is_none());
        let has_room = picks.iter().all(|pick| {
            let picked = picks.iter().filter(|other| (&other.pool, other.device) == (&pick.pool, pick.device));
            !is_held(pick)
                && match self.pools[&pick.pool].devices[pick.device].shared {
                    None => picked.count() == 1,
                    Some(capacity) => {
                        let held = self.holdings(&pick.pool, pick.device);
                        let amounts = picked.map(|pick| pick.amount).chain(held).flatten();
                        amounts.map(u32::from).sum::<u32>() <= capacity.into()
                    }
                }
        });
        let counters = picks.iter().all(|pick| {
            let pool = &self.pools[&pick.pool];
            // If a device is picked although claims hold shares of it, its counter counts twice.
            let times = |at: usize| {
                let is_picked = picks.iter().any(|other| (&other.pool, other.device) == (&pick.pool, at));
                u8::from(is_picked) + u8::from(self.holdings(&pick.pool, at).next().is_some())
            };
            let consumed = pool.devices.iter().enumerate().map(|(at, device)| device.counter * times(at));
            pool.devices[pick.device].counter == 0 || consumed.sum::<u8>() <= LIMIT
        });
        let tolerated = picks.iter().all(|pick| {
            let want = &claims[pick.claim].requests[pick.request][pick.alternative];
            want.tolerates || !self.pools[&pick.pool].devices[pick.device].is_tainted
        });
        let uniform = claims.iter().enumerate().filter(|(_, claim)| claim.is_uniform).all(|(at, _)| {
            let mut models = picks
                .iter()
                .filter(|pick| pick.claim == at)
                .map(|pick| self.pools[&pick.pool].devices[pick.device].model);
            let first = models.next();
            models.all(|model| Some(model) == first)
        });
        has_room && counters && tolerated && uniform
    }
}

fn selects(want: &Want, device: &Device) -> bool {
    let has_capacity = match (want.amount, device.shared) {
        (None, _) => true,
        (Some(amount), Some(capacity)) => amount <= capacity,
        (Some(_), None) => false,
    };
    want.model.is_none_or(|model| model == device.model) && has_capacity
}

enum Next {
    Continue,
    Skip,
    Stop,
}

/// Calls `visit` with `picks` followed by each ascending selection of 1 to `count` devices. The second argument of
/// `visit` is whether the selection is complete, with `count` devices.
fn combinations(from: &[Pick], count: usize, picks: &[Pick], visit: &mut impl FnMut(&[Pick], bool) -> Next) {
    fn extend(from: &[Pick], count: usize, picks: &[Pick], visit: &mut impl FnMut(&[Pick], bool) -> Next) -> bool {
        from.iter().enumerate().any(|(at, pick)| {
            let longer: Vec<_> = picks.iter().chain([pick]).cloned().collect();
            match visit(&longer, count == 1) {
                Next::Stop => true,
                Next::Skip => false,
                Next::Continue => count > 1 && extend(&from[at + 1..], count - 1, &longer, visit),
            }
        })
    }
    extend(from, count, picks, visit);
}
