//! What must hold of the code itself.

mod no_dyn;
