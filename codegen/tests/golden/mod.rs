//! Generated code as text: whole files for the shipped profiles, fragments for other features.
//! `UPDATE_EXPECT=1` updates them.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod fragments;
mod shipped;
