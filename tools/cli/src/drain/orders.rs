//! Orders of nodes.

/// Maximum number of orders, which is the number of orders of four nodes.
const MAX_ORDERS: usize = 24;

/// Returns the orders to try, the given one first, and whether these are all orders. If there are more than
/// [`MAX_ORDERS`], each of the first [`MAX_ORDERS`] nodes begins one order.
pub(crate) fn orders(nodes: &[String]) -> (Vec<Vec<String>>, bool) {
    let number = (1..=nodes.len()).try_fold(1_usize, |product, n| product.checked_mul(n));
    if number.is_some_and(|number| number <= MAX_ORDERS) {
        return (permutations(nodes), true);
    }
    let with_first = |first: usize| {
        let mut order = nodes.to_vec();
        order[..=first].rotate_right(1);
        order
    };
    ((0..nodes.len().min(MAX_ORDERS)).map(with_first).collect(), false)
}

/// Returns all permutations, in lexicographic order of the positions.
fn permutations(nodes: &[String]) -> Vec<Vec<String>> {
    if nodes.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in 0..nodes.len() {
        let mut rest = nodes.to_vec();
        let node = rest.remove(first);
        for mut order in permutations(&rest) {
            order.insert(0, node.clone());
            all.push(order);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| i.to_string()).collect()
    }

    #[test]
    fn few_nodes_have_all_orders() {
        let (orders, is_all) = orders(&names(3));
        let text: Vec<String> = orders.iter().map(|order| order.concat()).collect();
        assert_eq!((text, is_all), (["012", "021", "102", "120", "201", "210"].map(String::from).to_vec(), true));
    }

    #[test]
    fn many_nodes_have_each_node_first() {
        let (orders, is_all) = orders(&names(6));
        let text: Vec<String> = orders.iter().map(|order| order.concat()).collect();
        assert_eq!(text, ["012345", "102345", "201345", "301245", "401235", "501234"]);
        assert!(!is_all);
    }
}
