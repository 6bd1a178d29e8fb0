//! Heat maps: a share in percent for every node, at several moments.

/// Characters for shares from 0 % to 100 %, and the last one for more. They need no escape in JSON and in HTML.
pub(crate) const LEVELS: &str =
    "!#$%'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
/// The character for nodes that do not exist, or that do not have the resource.
const ABSENT: char = ' ';
/// Maximum number of characters of all layers and moments of a map.
const MAX_CELLS: usize = 300_000;
/// Maximum number of moments.
const MAX_MOMENTS: usize = 60;

/// Shares in percent, for every node.
#[derive(Clone, Debug, Default)]
pub struct HeatMap {
    /// Heading.
    pub title: String,
    /// One sentence about the shares.
    pub description: String,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Name of the moments, such as `Time`.
    pub x_label: String,
    /// Unit of the moments.
    pub x_unit: crate::unit::Unit,
    /// Moments, ascending.
    pub x: Vec<f64>,
    /// Layers, of which one is shown at a time.
    pub layers: Vec<Layer>,
    /// Whether the map stands next to the following or preceding view on wide screens.
    pub is_half: bool,
}

/// The shares of one resource.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Name of the resource.
    pub name: String,
    /// For each moment, the shares of the nodes in percent.
    pub shares: Vec<Vec<Option<f64>>>,
}

impl HeatMap {
    /// Returns the number of moments for which a map of this size stays small.
    pub fn moments(nodes: usize, layers: usize) -> usize {
        (MAX_CELLS / (nodes * layers).max(1)).clamp(1, MAX_MOMENTS)
    }
}

/// Returns a character for each share.
pub(crate) fn encoded(shares: &[Option<f64>]) -> String {
    let levels: Vec<char> = LEVELS.chars().collect();
    let last = levels.len() - 1;
    let character = |share: &Option<f64>| match *share {
        Some(percent) if percent > 100.0 => levels[last],
        Some(percent) if percent >= 0.0 => levels[(percent / 100.0 * (last - 1) as f64).round() as usize],
        _ => ABSENT,
    };
    shares.iter().map(character).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_share_has_a_character() {
        let text = encoded(&[Some(0.0), Some(100.0), Some(100.1), None, Some(f64::NAN), Some(50.0)]);
        assert_eq!(text, "!}~  Q");
    }

    #[test]
    fn levels_need_no_escapes() {
        assert!(LEVELS.chars().all(|level| level.is_ascii_graphic() && !"\"\\<>&".contains(level)));
        assert_eq!(LEVELS.chars().collect::<BTreeSet<_>>().len(), LEVELS.len());
    }

    #[test]
    fn maps_of_large_clusters_have_fewer_moments() {
        assert_eq!([HeatMap::moments(6, 3), HeatMap::moments(5000, 4), HeatMap::moments(1_000_000, 4)], [60, 15, 1]);
    }
}
