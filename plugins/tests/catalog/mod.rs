//! The catalog describes the arguments as the Rust structs declare them. `UPDATE_EXPECT=1` updates the description.

use expect_test::expect_file;
use schedc_core::args::Schema;
use schedc_plugins::{
    DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs, NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs, PodTopologySpreadArgs, VolumeBindingArgs,
};

#[test]
fn schemas_are_those_of_the_structs() {
    let schemas = Schema::map_to_json(&[
        ("DynamicResources", DynamicResourcesArgs::SCHEMA),
        ("DefaultPreemption", DefaultPreemptionArgs::SCHEMA),
        ("InterPodAffinity", InterPodAffinityArgs::SCHEMA),
        ("NodeAffinity", NodeAffinityArgs::SCHEMA),
        ("NodeResourcesFit", NodeResourcesFitArgs::SCHEMA),
        ("PodTopologySpread", PodTopologySpreadArgs::SCHEMA),
        ("NodeResourcesBalancedAllocation", NodeResourcesBalancedAllocationArgs::SCHEMA),
        ("VolumeBinding", VolumeBindingArgs::SCHEMA),
    ]);
    expect_file!["../../../codegen/rules/catalog/in-tree-args.json"].assert_eq(&schemas);
}
