//! Configurations older than `v1`.

mod alpha;
mod beta;
mod policy;

use expect_test::Expect;

use super::shown;
use crate::{Import, Options, import_any};

/// Imports a configuration; `rest` follows `apiVersion` and `kind`.
fn imported(version: &str, rest: &str) -> Import {
    let head = format!("apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n");
    import_any("c.yaml", &format!("{head}{rest}"), &Options::default())
}

/// Compares the remarks and the profiles.
fn check(version: &str, rest: &str, expect: Expect) {
    expect.assert_eq(&shown(&imported(version, rest)));
}

/// Compares the plugins of some extension points.
fn check_points(version: &str, rest: &str, points: &[&str], expect: Expect) {
    expect.assert_eq(&points_of(&imported(version, rest), points));
}

/// Compares the errors, and all remarks except the one about the version.
fn check_report(version: &str, rest: &str, expect: Expect) {
    let import = imported(version, rest);
    let mut lines: Vec<String> = import.remarks.iter().map(|remark| remark.one_line(&import.files)).collect();
    lines.retain(|line| !line.contains("plugins, order and weights of its time"));
    lines.extend(import.profiles.err().map(|errors| errors.one_lines()).unwrap_or_default());
    expect.assert_eq(&lines.join("\n"));
}

/// Returns a line for each extension point, and the arguments.
fn points_of(import: &Import, points: &[&str]) -> String {
    let profile = match import.profile(None) {
        Ok((_, profile)) => profile,
        Err(errors) => return errors.to_string(),
    };
    let mut text = String::new();
    for (point, plugins) in profile.summary.points.iter().filter(|(point, _)| points.contains(point)) {
        let plugins = plugins.iter().map(|(name, weight)| match weight {
            Some(weight) => format!("{name}={weight}"),
            None => name.clone(),
        });
        text.push_str(&format!("{point}: {}\n", plugins.collect::<Vec<_>>().join(" ")));
    }
    for (plugin, args) in &profile.summary.args {
        text.push_str(&format!("{plugin}: {args}\n"));
    }
    text
}
