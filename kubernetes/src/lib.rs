//! What a scheduler needs to know to take kube-scheduler's place at an API server.
//!
//! | module | idea |
//! |---|---|
//! | [`flags`] | kube-scheduler's command line: what is honoured, ignored or refused |

pub mod flags;
