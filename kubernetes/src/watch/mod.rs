//! How the objects of a kind are followed.
//!
//! | module | idea |
//! |---|---|
//! | [`machine`] | what to ask an API server next, and what its answers mean |
//! | [`query`] | how that is asked |
//! | [`pages`] | a list that arrives |
//! | [`pieces`] | where one change ends in what arrives on a watch |
//! | [`frames`] | a change |
//! | [`follow`](mod@follow) | asks, reads, tells |
//! | [`reach`] | whether the API server answers, as all followers observe it together |
//! | [`whole`] | objects as they were written, where extenders are sent them |
//! | [`followed`] | what is there, and what the scheduler is told |

pub mod follow;
pub mod followed;
pub mod frames;
pub mod machine;
pub mod pages;
pub mod pieces;
pub mod query;
pub mod reach;
pub mod whole;
