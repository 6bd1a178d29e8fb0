//! Limits on untrusted input.
//!
//! | module | content |
//! |---|---|
//! | [`files`] | files that flags, kubeconfigs and profiles name, read up to a size |
//! | [`text`] | names and values of users, shortened in messages |

pub mod files;
pub mod text;
