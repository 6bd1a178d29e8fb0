//! Random histories: an inventory that follows them and a new one allocate the same devices as the reference search.

use std::sync::Arc;

use proptest::prelude::*;
use schedc_core::intern::Symbol;
use schedc_core::model::{AllocationResult, ResourceClaimSpec};
use schedc_device_allocator::Unfit;

use crate::cluster::Cluster;
use crate::reference::{Claim, Device, Dice, LIMIT, Pool, Want, World};

const POOLS: [&str; 3] = ["p0", "p1", "p2"];
const NODES: [&str; 2] = ["n1", "m1"];

/// A cluster, and the same state for the reference search.
#[derive(Default)]
struct History {
    cluster: Cluster,
    world: World,
    /// Allocations that are held, with the number in the claim's name.
    held: Vec<(usize, Arc<AllocationResult>)>,
    next: usize,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn allocations_equal_those_of_the_reference(bytes in prop::collection::vec(any::<u8>(), 40..400)) {
        let mut dice = Dice(bytes.into_iter());
        let mut history = History { cluster: Cluster::with_class(), ..History::default() };
        history.cluster.node("m1", "");
        for _ in 0..12 {
            history.step(&mut dice);
        }
    }
}

impl History {
    fn step(&mut self, dice: &mut Dice) {
        match dice.roll(8) {
            0..=2 => {
                let name = POOLS[usize::from(dice.roll(3))];
                let pool = pool(dice);
                self.set_pool(name, pool);
            }
            3 => self.remove_pool(POOLS[usize::from(dice.roll(3))]),
            4 => self.release(dice),
            _ => self.allocate(dice),
        }
    }

    fn set_pool(&mut self, name: &str, pool: Pool) {
        write_pool(&mut self.cluster, name, &pool);
        self.world.pools.insert(name.to_owned(), pool);
    }

    fn remove_pool(&mut self, name: &str) {
        self.world.pools.remove(name);
        self.cluster.remove("ResourceSlice", name);
        self.cluster.remove("ResourceSlice", &format!("{name}-counters"));
    }

    fn release(&mut self, dice: &mut Dice) {
        if self.held.is_empty() {
            return;
        }
        let (id, _) = self.held.remove(usize::from(dice.roll(self.held.len() as u8)));
        let name = self.cluster.interner.intern(&format!("held-{id}"));
        self.cluster.inventory.set_claim(Symbol::EMPTY, name, None, &self.cluster.interner);
        self.world.held.remove(&id);
    }

    /// Allocates claims, compares the results, and keeps the devices.
    fn allocate(&mut self, dice: &mut Dice) {
        let node = NODES[usize::from(dice.roll(2))];
        let claims: Vec<Claim> = (0..1 + dice.roll(2)).map(|_| claim(dice)).collect();
        let specs: Vec<_> = claims.iter().map(|claim| spec(&mut self.cluster, claim)).collect();
        let allocations = self.cluster.allocate_on(node, &specs);
        let rebuilt = self.rebuilt(&claims, node);
        assert_eq!(self.shown(&allocations), rebuilt, "a new inventory has another result");
        let expected = self.world.allocate(node, &claims);
        let shown = expected.as_ref().map(|picks| {
            let device =
                |(_, request, alternative, (pool, device, _)): &(usize, usize, usize, (String, usize, Option<u8>))| {
                    format!("r{request}/a{alternative}={pool}-d{device}")
                };
            picks.iter().map(device).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(self.shown(&allocations), shown, "the reference has another result");
        let (Ok(allocations), Some(picks)) = (allocations, expected) else { return };
        for (at, allocation) in allocations.into_iter().enumerate() {
            self.next += 1;
            let allocation = Arc::new(allocation);
            let name = self.cluster.interner.intern(&format!("held-{}", self.next));
            self.cluster.inventory.set_claim(Symbol::EMPTY, name, Some(&allocation), &self.cluster.interner);
            self.held.push((self.next, allocation));
            let held = picks.iter().filter(|pick| pick.0 == at).map(|pick| pick.3.clone()).collect();
            self.world.held.insert(self.next, held);
        }
    }

    /// Returns the result of a new inventory.
    fn rebuilt(&self, claims: &[Claim], node: &str) -> Option<String> {
        let mut cluster = Cluster::with_class();
        cluster.node("m1", "");
        for (id, allocation) in &self.held {
            let mut allocation = (**allocation).clone();
            let symbol = |old, cluster: &mut Cluster| cluster.interner.intern(self.cluster.interner.resolve(old));
            let results = allocation.results.iter().cloned().map(|mut result| {
                result.driver = symbol(result.driver, &mut cluster);
                result.pool = symbol(result.pool, &mut cluster);
                result.device = symbol(result.device, &mut cluster);
                let consumed = result.consumed_capacity.iter().map(|&(mut name, amount)| {
                    name.name = symbol(name.name, &mut cluster);
                    (name, amount)
                });
                result.consumed_capacity = consumed.collect();
                result
            });
            allocation.results = results.collect();
            let name = cluster.interner.intern(&format!("held-{id}"));
            cluster.inventory.set_claim(Symbol::EMPTY, name, Some(&Arc::new(allocation)), &cluster.interner);
        }
        for (name, pool) in self.world.pools.iter().rev() {
            write_pool(&mut cluster, name, pool);
        }
        let specs: Vec<_> = claims.iter().map(|claim| spec(&mut cluster, claim)).collect();
        cluster.allocate_on(node, &specs).ok().map(|allocations| shown(&cluster, &allocations))
    }

    fn shown(&self, allocations: &Result<Vec<AllocationResult>, Unfit>) -> Option<String> {
        allocations.as_ref().ok().map(|allocations| shown(&self.cluster, allocations))
    }
}

/// Returns the devices with their requests. A request without alternatives has the alternative `a0`, as in the
/// reference.
fn shown(cluster: &Cluster, allocations: &[AllocationResult]) -> String {
    let shown = cluster.show(allocations);
    let complete = |part: &str| if part.contains('/') { part.to_owned() } else { part.replacen('=', "/a0=", 1) };
    shown.split(' ').filter(|part| !part.is_empty()).map(complete).collect::<Vec<_>>().join(" ")
}

fn pool(dice: &mut Dice) -> Pool {
    let node = [None, Some("n1"), Some("m1")][usize::from(dice.roll(3))];
    let has_counters = dice.roll(2) == 0;
    let device = |dice: &mut Dice| {
        let shared = (dice.roll(4) == 0).then_some(10);
        let counter = if has_counters && shared.is_none() { dice.roll(4) } else { 0 };
        Device { model: dice.roll(3), is_tainted: dice.roll(5) == 0, counter, shared }
    };
    Pool { node, devices: (0..dice.roll(6)).map(|_| device(dice)).collect() }
}

fn write_pool(cluster: &mut Cluster, name: &str, pool: &Pool) {
    let has_counters = pool.devices.iter().any(|device| device.counter > 0);
    let device = |(at, device): (usize, &Device)| {
        let mut fields = format!("name: {name}-d{at}, attributes: {{model: {{string: m{}}}}}", device.model);
        if device.is_tainted {
            fields += ", taints: [{key: k, effect: NoSchedule}]";
        }
        if device.counter > 0 {
            fields +=
                &format!(", consumesCounters: [{{counterSet: s, counters: {{c: {{value: \"{}\"}}}}}}]", device.counter);
        }
        if let Some(capacity) = device.shared {
            fields += &format!(", allowMultipleAllocations: true, capacity: {{bandwidth: {{value: \"{capacity}\"}}}}");
        }
        format!("{{{fields}}}")
    };
    let devices: Vec<_> = pool.devices.iter().enumerate().map(device).collect();
    let nodes = pool.node.map_or("allNodes: true".to_owned(), |node| format!("nodeName: {node}"));
    let count = if has_counters { 2 } else { 1 };
    let spec = format!("pool: {{name: {name}, generation: 1, resourceSliceCount: {count}}}, {nodes}");
    if has_counters {
        let counters = format!("{spec}, sharedCounters: [{{name: s, counters: {{c: {{value: \"{LIMIT}\"}}}}}}]");
        cluster.slice_of(&format!("{name}-counters"), &counters, "");
    } else {
        cluster.remove("ResourceSlice", &format!("{name}-counters"));
    }
    cluster.slice_of(name, &spec, &devices.join(", "));
}

fn claim(dice: &mut Dice) -> Claim {
    let is_uniform = dice.roll(3) == 0;
    let want = |dice: &mut Dice| Want {
        count: (is_uniform || dice.roll(4) != 0).then(|| 1 + dice.roll(3)),
        model: (dice.roll(2) == 0).then(|| dice.roll(3)),
        tolerates: dice.roll(3) == 0,
        amount: (dice.roll(4) == 0).then(|| 1 + dice.roll(6)),
    };
    let request = |dice: &mut Dice| (0..1 + dice.roll(2)).map(|_| want(dice)).collect();
    Claim { requests: (0..1 + dice.roll(2)).map(|_| request(dice)).collect(), is_uniform }
}

fn spec(cluster: &mut Cluster, claim: &Claim) -> Arc<ResourceClaimSpec> {
    let fields = |want: &Want| {
        let mut fields = "deviceClassName: gpu".to_owned();
        fields += &want.count.map_or(", allocationMode: All".to_owned(), |count| {
            format!(", allocationMode: ExactCount, count: {count}")
        });
        if let Some(model) = want.model {
            fields +=
                &format!(", selectors: [{{cel: {{expression: 'device.attributes[\"gpu\"].model == \"m{model}\"'}}}}]");
        }
        if want.tolerates {
            fields += ", tolerations: [{operator: Exists}]";
        }
        if let Some(amount) = want.amount {
            fields += &format!(", capacity: {{requests: {{bandwidth: \"{amount}\"}}}}");
        }
        fields
    };
    let request = |(at, wants): (usize, &Vec<Want>)| match &wants[..] {
        [want] => format!("{{name: r{at}, exactly: {{{}}}}}", fields(want)),
        wants => {
            let alternative = |(at, want): (usize, &Want)| format!("{{name: a{at}, {}}}", fields(want));
            let alternatives: Vec<_> = wants.iter().enumerate().map(alternative).collect();
            format!("{{name: r{at}, firstAvailable: [{}]}}", alternatives.join(", "))
        }
    };
    let requests: Vec<_> = claim.requests.iter().enumerate().map(request).collect();
    let constraint = if claim.is_uniform { ", constraints: [{matchAttribute: gpu/model}]" } else { "" };
    cluster.spec(&format!("requests: [{}]{constraint}", requests.join(", ")))
}
