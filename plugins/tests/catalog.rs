//! The catalog's description of arguments is that of the Rust structs. `UPDATE_EXPECT=1` writes it.

use expect_test::expect_file;
use schedc_core::args::Schema;
use schedc_plugins::{
    DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs, NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs,
    PodTopologySpreadArgs,
