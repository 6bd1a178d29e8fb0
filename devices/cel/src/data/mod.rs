//! Data types of Kubernetes' CEL libraries, without the functions that expressions call.

pub(crate) mod format;
pub(crate) mod network;
pub(crate) mod time;
pub(crate) mod url;
