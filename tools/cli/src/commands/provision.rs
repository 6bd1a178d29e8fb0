//! `schedc provision`

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, value_parser};
use k8s_openapi::api::core::v1::Node;
use schedc_bounds::price::{self, InvalidPrice};
use schedc_bounds::text::shortened;
use schedc_core::erased::AnyBundle;
use schedc_objects::{Objects, Options};

use super::exit_code::exit_code;
use super::failure::Failure;
use super::new_pods::{self, NewPods};
use super::objects::TrialArgs;
use super::output;
use super::tables::provision::table;
use super::validate;
use crate::cluster;
use crate::provision::{Question, Shape, UNIT, provision};

/// Annotation with the price of a shape.
const PRICE_ANNOTATION: &str = "schedc/price";
/// Annotation with the maximum number of nodes of a shape.
const MAX_ANNOTATION: &str = "schedc/max";

/// Find the cheapest nodes to add for the pods of a manifest
///
/// The shapes of nodes are Node manifests with a price. Sets of new nodes are tried in a cluster in memory. The
/// profile places the pods there, on new nodes or in free capacity of existing nodes. The first set is a greedy
/// choice; branch and bound then finds the cheapest one, or a lower bound of its price if there are too many sets.
/// Nothing is created. The exit code is 0 if all pods run, 1 if some wait, and 2 after an error, such as wrong input.
#[derive(Args)]
pub(crate) struct Provision {
    /// Manifest of pods and workloads, or `-` for standard input; may be given several times
    #[arg(short = 'f', long = "filename", value_name = "MANIFEST", required = true)]
    manifests: Vec<PathBuf>,

    /// Shapes: Nodes with the annotation schedc/price and, optionally, schedc/max (maximum number of these nodes)
    #[arg(long, value_name = "FILE|FOLDER", required = true)]
    shapes: Vec<PathBuf>,

    /// Price of a shape, instead of its annotation, such as large=0.42; may be given several times
    #[arg(long = "price", value_name = "SHAPE=PRICE", value_parser = parse_price)]
    prices: Vec<(String, u64)>,

    /// Maximum number of sets of nodes that are tried
    #[arg(long, value_name = "NUMBER", default_value_t = 500, value_parser = value_parser!(u32).range(1..))]
    max_trials: u32,

    #[command(flatten)]
    trials: TrialArgs,
}

impl Provision {
    pub(crate) fn run(self, bundle: &AnyBundle) -> ExitCode {
        exit_code(self.print(bundle))
    }

    /// Prints the nodes, and returns whether all pods run with them.
    fn print(&self, bundle: &AnyBundle) -> Result<bool, Failure> {
        let TrialArgs { output, input, .. } = &self.trials;
        let setup = input.setup(bundle)?;
        let mut shapes = self.read_shapes(bundle)?;
        let objects = input.load(bundle)?;
        validate::warn(&objects.ignored);
        let nodes: Vec<Node> = shapes.iter().map(|shape| shape.node.clone()).collect();
        let NewPods { others, pods, daemons } = new_pods::read(&self.manifests, &objects, &setup, &nodes)?;
        shapes.iter_mut().zip(daemons).for_each(|(shape, daemons)| shape.daemons = daemons);
        let mut all = cluster::objects(objects);
        all.extend(others);
        let options = self.trials.options(&setup);
        let question = Question::new(&setup.bundle, &options, &all, pods, shapes.clone());
        let provisioning = provision(&question, self.max_trials as usize)?;
        output::print(*output, &provisioning, |provisioning| table(provisioning, &shapes))?;
        Ok(provisioning.sufficient)
    }

    fn read_shapes(&self, bundle: &AnyBundle) -> Result<Vec<Shape>, Failure> {
        let options = Options { kinds: schedc_objects::Kinds::declared(bundle.kinds), ..Options::default() };
        let objects = Objects::load(&self.shapes, options)?;
        let mut prices: HashMap<&str, u64> = self.prices.iter().map(|(name, price)| (name.as_str(), *price)).collect();
        let mut shapes = Vec::new();
        for node in objects.nodes {
            let (place, node) = (node.place, node.object);
            let name = node.metadata.name.clone().unwrap_or_default();
            let failure = |message: String| Failure::new(format_args!("{place}: Node {name}: {message}"));
            let annotation = |key: &str| node.metadata.annotations.as_ref().and_then(|all| all.get(key));
            let price = match (prices.remove(name.as_str()), annotation(PRICE_ANNOTATION)) {
                (Some(price), _) => price,
                (None, Some(text)) => {
                    millionths(text).map_err(|error| failure(format!("annotation {PRICE_ANNOTATION}: {error}")))?
                }
                (None, None) => {
                    return Err(failure(format!(
                        "has no price; add the annotation {PRICE_ANNOTATION}, or pass --price {name}=PRICE"
                    )));
                }
            };
            let max = match annotation(MAX_ANNOTATION) {
                Some(text) => text.parse().map_err(|_| {
                    failure(format!("annotation {MAX_ANNOTATION}: `{}` is not a whole number", shortened(text, 100)))
                })?,
                None => usize::MAX,
            };
            shapes.push(Shape { node, price, max, daemons: Vec::new() });
        }
        if let Some(name) = prices.into_keys().min() {
            return Err(Failure::new(format_args!("--price names `{name}`, which is no shape")));
        }
        if shapes.is_empty() {
            return Err(Failure::new("the shapes have no Node"));
        }
        Ok(shapes)
    }
}

/// Parses a price. Returns it in millionths.
fn millionths(text: &str) -> Result<u64, InvalidPrice> {
    // Prices are far below the range of `u64`: only digits below a millionth are lost.
    price::parse_price(text).map(|price| (price * UNIT as f64).round() as u64)
}

fn parse_price(text: &str) -> Result<(String, u64), String> {
    let (name, price) = text.split_once('=').ok_or("a shape and its price are necessary, such as large=0.42")?;
    Ok((name.to_owned(), millionths(price).map_err(|error| error.to_string())?))
}
