//! `schedc completions`

use schedc_kubernetes::flags::{FLAGS, Section};

use crate::cli::harness::schedc;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

#[test]
fn every_shell_completes_every_subcommand() {
    let help = schedc(&["--help"]).ok();
    let subcommands: Vec<&str> = crate::cli::man::subcommands(&help);
    assert!(subcommands.contains(&"simulate") && subcommands.contains(&"completions"), "{subcommands:?}");
    for shell in SHELLS {
        let script = schedc(&["completions", shell]).ok();
        let missing: Vec<_> = subcommands.iter().filter(|name| !script.contains(**name)).collect();
        assert!(missing.is_empty(), "{shell}: {missing:?}");
    }
}

#[test]
fn the_flags_of_kube_scheduler_are_completed() {
    let script = schedc(&["completions", "bash"]).ok();
    let flags = FLAGS.iter().filter(|flag| flag.section != Section::Global).map(|flag| format!("--{}", flag.name));
    let missing: Vec<_> = flags.filter(|flag| !script.contains(flag)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn compiled_profiles_are_values() {
    let script = schedc(&["completions", "fish"]).ok();
    let values =
        |flag: &str| -> Vec<&str> { script.lines().filter(|line| line.contains(&format!("-l {flag} "))).collect() };
    let profile = values("profile");
    assert!(!profile.is_empty());
    assert!(profile.iter().all(|line| line.contains("binpack")), "{profile:?}");
    assert!(values("shadow").iter().all(|line| line.contains("binpack")));
}
