//! Table of requested resources of the nodes.

use indicatif::{BinaryBytes, HumanCount};

use crate::commands::output::{Columns, heading};
use crate::utilisation::{Unit, Utilisation};

pub(super) fn utilisation(rows: &[Utilisation]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let names = ["RESOURCE", ">REQUESTED", ">ALLOCATABLE", ">SHARE", ">LOWEST NODE", ">MEDIAN", ">HIGHEST"];
    let mut columns = Columns::new(names);
    for row in rows {
        let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{share:.1} %"));
        columns.row(vec![
            row.resource.clone(),
            amount(row.requested, row.unit),
            amount(row.allocatable, row.unit),
            percent(row.percent),
            percent(row.per_node.map(|spread| spread.min)),
            percent(row.per_node.map(|spread| spread.median)),
            percent(row.per_node.map(|spread| spread.max)),
        ]);
    }
    Some(heading("Utilisation") + "\n" + &columns.text())
}

fn amount(amount: i64, unit: Unit) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    let size = amount.unsigned_abs();
    match unit {
        Unit::Millicores => {
            let (cores, rest) = (HumanCount(size / 1000), size % 1000);
            let text = format!("{sign}{cores}.{rest:03}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Unit::Bytes => format!("{sign}{}", BinaryBytes(size)),
        Unit::Count => format!("{sign}{}", HumanCount(size)),
    }
}
