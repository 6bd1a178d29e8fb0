//! Views without rows: time series and bars.

use crate::heat_map::HeatMap;
use crate::table::Table;
use crate::unit::Unit;

/// A part of a report.
#[derive(Clone, Debug)]
pub enum View {
    /// Values over time or over another number.
    Lines(Lines),
    /// Values by name.
    Bars(Bars),
    /// Shares in percent, for every node.
    HeatMap(HeatMap),
    /// Rows.
    Table(Table),
}

impl From<Lines> for View {
    fn from(view: Lines) -> Self {
        View::Lines(view)
    }
}

impl From<Bars> for View {
    fn from(view: Bars) -> Self {
        View::Bars(view)
    }
}

impl From<HeatMap> for View {
    fn from(view: HeatMap) -> Self {
        View::HeatMap(view)
    }
}

impl From<Table> for View {
    fn from(view: Table) -> Self {
        View::Table(view)
    }
}

/// Values over time or over another number.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Heading.
    pub title: String,
    /// One sentence about the values.
    pub description: String,
    /// Name of the horizontal axis.
    pub x_label: String,
    /// Unit of the horizontal axis.
    pub x_unit: Unit,
    /// Positions of the values, ascending.
    pub x: Vec<f64>,
    /// Unit of the values.
    pub unit: Unit,
    /// Lines.
    pub series: Vec<Series>,
    /// Whether the chart stands next to the following or preceding one on wide screens.
    pub is_half: bool,
}

/// A line.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name.
    pub name: String,
    /// A value for each position; `None` leaves a gap.
    pub values: Vec<Option<f64>>,
}

/// Values by name.
#[derive(Clone, Debug, Default)]
pub struct Bars {
    /// Heading.
    pub title: String,
    /// One sentence about the values.
    pub description: String,
    /// What a bar stands for, such as `Reason`.
    pub label: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Names of the values of each bar.
    pub series: Vec<String>,
    /// Bars.
    pub bars: Vec<Bar>,
    /// Text if there are no bars.
    pub empty: String,
}

/// Maximum number of bars of a chart whose number of bars depends on the cluster.
const MAX_BARS: usize = 50;

impl Bars {
    /// Keeps the first 50 bars; if there are more, the description states how many.
    pub fn shortened(mut self) -> Self {
        let all = self.bars.len();
        if all > MAX_BARS {
            self.bars.truncate(MAX_BARS);
            self.description += &format!(" The first {MAX_BARS} of {all} are shown.");
        }
        self
    }
}

/// One bar per series, with a common name.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Name.
    pub label: String,
    /// A value for each series.
    pub values: Vec<f64>,
    /// Search text for the rows that the bar counts.
    pub query: Option<String>,
}
