//! Workloads of closed-loop simulations: recordings and traces.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, value_parser};
use k8s_openapi::jiff::Timestamp;
use schedc_backtest::report::Source;
use schedc_backtest::workload::Change;
use schedc_backtest::{Options, Workload, recorded, trace};
use schedc_bounds::price::parse_price;
use schedc_core::erased::AnyBundle;
use schedc_objects::{AnyObject, Kinds};
use schedc_recording::Reader;

use super::failure::Failure;
use super::output;

/// Options of commands that simulate a workload.
#[derive(Args)]
#[command(next_help_heading = "Workload")]
pub(crate) struct Input {
    /// Read CSV or JSON files instead of recordings; FILE maps their columns to fields of pods and nodes
    ///
    /// docs/backtest.md has the format, and mappings for public traces.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_mapping: Option<PathBuf>,

    /// Label with the price of a node for an hour, such as `example.com/price`, to compute costs
    #[arg(long, value_name = "LABEL")]
    price_label: Option<String>,

    /// Number of equidistant times at which the state of the cluster is measured
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = value_parser!(u32).range(1..=100_000))]
    samples: u32,

    /// Number of decisions for which the influence of each plugin is computed; 0 for none
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    influence: u32,
}

impl Input {
    /// Reads the workload. Pods of schedulers for which `is_served` is false keep their recorded nodes.
    pub(crate) fn read(
        &self,
        paths: &[PathBuf],
        bundle: &AnyBundle,
        is_served: &dyn Fn(&str) -> bool,
    ) -> Result<Workload, Failure> {
        let workload = match &self.trace_mapping {
            Some(mapping) => trace::read(mapping, paths).map_err(Failure::new)?,
            None => {
                let mut reader = Reader::open(paths).map_err(Failure::new)?;
                recorded::read(&mut reader, Kinds::declared(bundle.kinds), is_served).map_err(Failure::new)?
            }
        };
        if workload.pods.is_empty() {
            return Err(Failure::new(format_args!("{} has no pods", display(paths).join(", "))));
        }
        Ok(workload)
    }

    /// Returns an error if `--trace-mapping` or `--price-label` is set. Both have an effect only with the given flag.
    #[cfg(feature = "run")]
    pub(crate) fn refuse_without(&self, flag: &str) -> Result<(), Failure> {
        let set = [("--trace-mapping", self.trace_mapping.is_some()), ("--price-label", self.price_label.is_some())];
        match set.into_iter().find(|(_, is_set)| *is_set) {
            Some((option, _)) => Err(Failure::new(format_args!("{option} needs {flag}"))),
            None => Ok(()),
        }
    }

    /// Returns the options of a simulation.
    pub(crate) fn options(&self, workload: &Workload) -> Result<Options, Failure> {
        if let Some(label) = &self.price_label {
            check_prices(workload, label)?;
        }
        Ok(Options {
            samples: self.samples,
            explained: u64::from(self.influence),
            price_label: self.price_label.clone(),
            ..Options::default()
        })
    }

    /// Returns a description of the workload.
    pub(crate) fn source(&self, paths: &[PathBuf], workload: &Workload, options: &Options) -> Source {
        let start = (workload.start > 0).then(|| Timestamp::from_nanosecond(i128::from(workload.start)).ok());
        let initial = workload.pods.iter().filter(|pod| pod.node.is_some()).count() as u64;
        Source {
            paths: display(paths),
            start: start.flatten().map(|start| start.to_string()),
            seconds: (workload.end - workload.start) as f64 / 1e9,
            nodes: workload.nodes() as u64,
            initial_pods: initial,
            arriving_pods: workload.pods.len() as u64 - initial,
            fingerprint: workload.fingerprint(options),
        }
    }
}

fn display(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// Returns an error if no node has the label, or if the value of a label is not a price. Warns of nodes without the
/// label.
fn check_prices(workload: &Workload, label: &str) -> Result<(), Failure> {
    let added_later = workload.events.iter().filter_map(|event| match &event.change {
        Change::Set(object) => Some(&**object),
        _ => None,
    });
    let (mut has_price, mut nodes_without_label) = (false, BTreeSet::new());
    for node in workload.objects.iter().chain(added_later).filter(|object| matches!(object, AnyObject::Node(_))) {
        let name = node.name();
        let Some(text) = node.metadata().labels.as_ref().and_then(|labels| labels.get(label)) else {
            nodes_without_label.insert(name);
            continue;
        };
        has_price = true;
        if let Err(error) = parse_price(text) {
            return Err(Failure::new(format_args!(
                "Node {name}: the label {label}: {error}; with --anonymise, recordings keep only prices that are whole numbers"
            )));
        }
    }
    if !has_price {
        return Err(Failure::new(format_args!("--price-label: no node has the label {label}")));
    }
    if let Some(first) = nodes_without_label.first() {
        let count = nodes_without_label.len();
        output::warning(format_args!("{count} nodes without the label {label} cost nothing, such as {first}"));
    }
    Ok(())
}
