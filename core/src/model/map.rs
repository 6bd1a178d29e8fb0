//! A hash map with a fixed hasher: the same events replay to the same state, and small keys hash in a few instructions.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use indexmap::IndexMap;

use super::Uid;

/// Length of the text of a UUID.
const UUID_LEN: usize = 36;

/// A map whose iteration order depends on its history alone.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<FixedHasher>>;
/// A set whose iteration order depends on its history alone.
pub type Set<K> = HashSet<K, BuildHasherDefault<FixedHasher>>;
/// A map with dense positions. A scan from the last position to the first visits every entry that stays, even if entries
/// are added, changed or removed (`swap_remove`) meanwhile.
pub(crate) type IndexedMap<K, V> = IndexMap<K, V, BuildHasherDefault<FixedHasher>>;

/// Maximum capacity of a map that is never shrunk.
const SMALL_MAP: usize = 1024;

/// Frees memory of a map that has far fewer entries than it had during a burst. Call it after removals.
pub fn shrink_after_burst<K: Eq + Hash, V>(map: &mut Map<K, V>) {
    if map.capacity() > SMALL_MAP && map.len() < map.capacity() / 8 {
        map.shrink_to((2 * map.len()).max(SMALL_MAP / 2));
    }
}

/// A multiplicative hasher without a random seed. It has no protection against malicious keys: keys come from the API
/// server, which bounds their number.
#[derive(Clone, Copy, Default)]
pub struct FixedHasher(u64);

impl FixedHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Returns the hash of a uid. Most uids are UUIDs, whose constant length permits a hash without loops and branches.
#[inline]
pub(crate) fn hash_of_uid(uid: &Uid) -> u64 {
    let bytes = uid.0.as_bytes();
    let mut hasher = FixedHasher::default();
    match bytes.as_array::<UUID_LEN>() {
        Some(uuid) => hasher.write(uuid),
        None => hasher.write(bytes),
    }
    hasher.finish()
}

impl Hasher for FixedHasher {
    #[inline]
    fn finish(&self) -> u64 {
        // The low bits select the bucket, but after the multiplication they are the weakest.
        self.0 ^ (self.0 >> 32)
    }
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        // The rest is less than a word. It is composed without a copy of variable length.
        let (half, rest) = rest.as_chunks::<4>();
        let half = half.first().map(|half| u64::from(u32::from_le_bytes(*half)));
        let above = rest.iter().rev().fold(0, |above, &byte| above << 8 | u64::from(byte));
        let last = half.map_or(above, |half| half | above << 32);
        self.mix(last ^ (bytes.len() as u64) << 56);
    }
    #[inline]
    fn write_u8(&mut self, n: u8) {
        self.mix(n.into());
    }
    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.mix(n.into());
    }
    #[inline]
    fn write_u64(&mut self, n: u64) {
        self.mix(n);
    }
    #[inline]
    fn write_usize(&mut self, n: usize) {
        self.mix(n as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_shrinks_after_a_burst() {
        let mut map: Map<u64, u64> = (0..100_000).map(|key| (key, key)).collect();
        let full = map.capacity();
        for key in 100..100_000 {
            map.remove(&key);
            shrink_after_burst(&mut map);
        }
        assert!(full >= 100_000 && map.capacity() <= SMALL_MAP, "{full} {}", map.capacity());
        assert!((0..100).all(|key| map.get(&key) == Some(&key)));
    }
}
