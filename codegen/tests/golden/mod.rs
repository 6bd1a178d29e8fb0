//! What is generated, as text: whole files for the profiles that ship, pieces for the rest. `UPDATE_EXPECT=1` brings them
//! up to date.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod fragments;
mod shipped;
