//! The C library with a compiled profile that has a plugin of another crate: all functions of `schedc.h`, and one more,
//! `schedc_cluster *maintenance_cluster(void)`.

use std::ptr;

use schedc_api::Cluster;
pub use schedc_c::*;

/// Creates an empty cluster with the profile. Returns null if its plugins cannot start.
#[allow(unsafe_code, reason = "C calls the function by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn maintenance_cluster() -> *mut ClusterHandle {
    let cluster = Cluster::compiled::<out_of_tree::scheduler::maintenance::Pipeline>();
    cluster.map_or(ptr::null_mut(), |cluster| ClusterHandle::from(cluster).into_raw())
}
