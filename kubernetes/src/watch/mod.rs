//! How the objects of a kind are followed.
//!
//! | module | idea |
//! |---|---|
//! | [`machine`] | what to ask an API server next, and what its answers mean |
//! | [`query`] | how that is asked |
//! | [`lines`] | where one change ends in what arrives |

pub mod lines;
pub mod machine;
pub mod query;
