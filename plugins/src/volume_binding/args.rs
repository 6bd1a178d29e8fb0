//! Arguments.

use schedc_core::args::{Args, Errors, Node, Part, Seq};

use crate::node_resources_fit::UtilizationShapePoint;

/// Arguments of VolumeBinding.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
#[args(check = check_shape)]
pub struct VolumeBindingArgs {
    /// timeout of PreBind for volumes to be bound, in seconds; default 600
    #[args(default = 600, range = 0..)]
    pub bind_timeout_seconds: i64,
    /// for scoring by storage capacity, which needs kube-scheduler's feature gate StorageCapacityScoring; must be
    /// omitted
    pub shape: Option<Seq<UtilizationShapePoint>>,
}

const fn check_shape(args: &VolumeBindingArgs, node: &Node, errors: &mut Errors) {
    const FIELD: &str = "shape";
    if args.shape.is_some() {
        let location = match node.get(FIELD) {
            Some(given) => given,
            None => node,
        };
        let parts = [Part::Name(FIELD), Part::Text(" needs the feature gate StorageCapacityScoring, which is off")];
        errors.report(location, &parts);
    }
}
