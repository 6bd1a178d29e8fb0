//! Limits on untrusted input, and suggestions for misspelt names in it.
//!
//! | module | content |
//! |---|---|
//! | [`files`] | files that flags, kubeconfigs and profiles name, read up to a size |
//! | [`text`] | names and values of users, shortened in messages |
//! | [`price`] | prices of nodes |
//! | [`suggest`] | the known name that is closest to a misspelt one |

pub mod files;
pub mod price;
pub mod suggest;
pub mod text;
