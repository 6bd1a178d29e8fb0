//! Integration tests of the in-tree plugins, as one program: its dependencies are linked once.

mod catalog;
mod cycle;
mod hints;
mod incremental;
mod long_life;
mod steady_churn;
mod subsets;
