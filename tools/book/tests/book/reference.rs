//! Tests that the reference pages are current. `UPDATE_EXPECT=1` writes them.

use expect_test::expect_file;
use schedc_book::reference;

use crate::root;

#[test]
fn the_page_about_profiles_is_current() {
    expect_file!["../../../../docs/reference/profiles.md"].assert_eq(&reference::profiles().unwrap());
}

#[test]
fn the_page_about_plugins_is_current() {
    expect_file!["../../../../docs/reference/plugins.md"].assert_eq(&reference::plugins(&root()).unwrap());
}

#[test]
fn the_page_about_columns_and_indexes_is_current() {
    expect_file!["../../../../docs/reference/state.md"].assert_eq(&reference::state().unwrap());
}
