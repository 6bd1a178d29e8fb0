//! Tests of arguments. `tests/cycle` has tests with devices.

use super::*;
use crate::testing::args;

#[test]
fn timeouts_are_durations() {
    let check = |profile: &str, expected: Result<(), &str>| {
        let answer = args::<DynamicResourcesArgs>(profile).map(|_| ());
        assert_eq!(answer, expected.map_err(str::to_owned), "{profile}");
    };
    check("", Ok(()));
    check("filter-timeout = '0s'\nbinding-timeout = '1s'", Ok(()));
    check("binding-timeout = '1m0.5s'", Ok(()));
    check("binding-timeout = '999ms'", Err("p.toml:1:1: `binding-timeout` must be at least 1 second"));
    check(
        "filter-timeout = '-1s'",
        Err("p.toml:1:18: `filter-timeout` is \"-1s\", but must be a duration, like `10s`, `1m30s` or `500ms`"),
    );
}
