//! Messages about configurations older than `v1`.

use schedc_profile_rules::Diagnostic;
use schedc_profile_rules::point::Point;
use schedc_profile_rules::source::{Span, Spanned};
use schedc_profile_rules::suggest::closest;

use super::version::Version;
use crate::kube_scheduler;

// Kinds of files.

pub(super) fn which_entry(at: Span, keys: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::at(
        at,
        "it is unclear which entry of this ConfigMap is the configuration",
        "none called `policy.cfg`",
    );
    match keys {
        [] => diagnostic.note("its `data` has no text"),
        keys => diagnostic
            .note(format!("its `data` has {}", keys.join(", ")))
            .help("import the right one alone: kubectl get -o jsonpath prints it"),
    }
}

pub(super) fn not_a_policy(at: Span) -> Diagnostic {
    Diagnostic::at(at, "the file of --policy is not a Policy", "expected `kind: Policy`")
}

pub(super) fn policy_without_use(at: Span) -> Diagnostic {
    Diagnostic::at(at, "the configuration names no policy: --policy has no effect", "not named")
        .note("only `algorithmSource.policy` of v1alpha1 names one")
}

pub(super) fn policy_location_unsupported(at: Span, origin: &str) -> Diagnostic {
    Diagnostic::at(at, format!("the plugins are those of a policy, which is in {origin}"), "elsewhere")
        .help("give that file, or the ConfigMap as kubectl prints it, with --policy")
}

pub(super) fn unknown_provider(name: &Spanned<String>) -> Diagnostic {
    let known = ["DefaultProvider", "ClusterAutoscalerProvider"];
    let title = format!("no algorithm provider is called `{}`", name.value);
    let diagnostic = Diagnostic::at(name.span, title, "unknown").note(format!("there were {}", known.join(" and ")));
    match closest(&name.value, known) {
        Some(meant) => diagnostic.suggest(format!("did you mean `{meant}`?"), name.span, meant),
        None => diagnostic,
    }
}

pub(super) fn historic_version(at: Span, version: Version) -> Diagnostic {
    let version = version.api_version().rsplit('/').next().unwrap_or_default();
    historic(at, &format!("a configuration of {version}"))
}

pub(super) fn historic_policy(at: Span) -> Diagnostic {
    historic(at, "a Policy")
}

fn historic(at: Span, subject: &str) -> Diagnostic {
    let title = format!(
        "{subject} has the plugins, order and weights of its time; SchedulingGates is added; DynamicResources and \
         NodeDeclaredFeatures, which came later, are not in the profile"
    );
    Diagnostic::at(at, title, "").help("`schedc diff` with kube-scheduler shows what is different today")
}

pub(super) fn address(key: &Spanned<&'static str>) -> Diagnostic {
    let title = format!("`{}` is not part of a profile: it configures an address without TLS", key.value);
    Diagnostic::at(key.span, title, "")
}

pub(super) fn plugins_with_policy(at: Span) -> Diagnostic {
    let title = "plugins and their arguments have no effect if a policy is named, as in kube-scheduler";
    Diagnostic::at(at, title, "no effect")
}

// Plugins.

pub(super) fn enabled_by_default(name: &Spanned<String>, point: Point, version: Version) -> Diagnostic {
    let version = version.api_version().rsplit('/').next().unwrap_or_default();
    let title = format!("`{}` is already enabled at `{}` by default", name.value, kube_scheduler::key(point));
    Diagnostic::at(name.span, title, "enabled again")
        .note(format!("kube-scheduler refuses that in {version}"))
        .help("disable it there, too, to give it another position or weight")
}

pub(super) fn plugin_not_at_point(name: &Spanned<String>, point: Point) -> Diagnostic {
    Diagnostic::at(
        name.span,
        format!("`{}` no longer runs at `{}`", name.value, kube_scheduler::key(point)),
        "left out",
    )
}

pub(super) fn renamed(name: &Spanned<String>, successor: &str) -> Diagnostic {
    Diagnostic::at(name.span, format!("`{}` is part of `{successor}` today, which runs in its place", name.value), "")
}

pub(super) fn strategy(name: &Spanned<String>, strategy: &str) -> Diagnostic {
    let title = format!("`{}` is the scoring strategy {strategy} of `NodeResourcesFit` today", name.value);
    Diagnostic::at(name.span, title, "")
}

pub(super) fn two_strategies(chosen: &Spanned<String>, other: &str) -> Diagnostic {
    let title = format!(
        "`{}` and `{other}` both score, but `NodeResourcesFit` has one strategy: that of `{}`, so decisions will differ",
        chosen.value, chosen.value
    );
    Diagnostic::at(chosen.span, title, "").help(format!("disable `{other}` if it was not meant to score"))
}

pub(super) fn added_affinity(name: &Spanned<String>) -> Diagnostic {
    let title = format!("`{}` is `addedAffinity` of `NodeAffinity` today, which runs in its place", name.value);
    Diagnostic::at(name.span, title, "")
}

pub(super) fn preference_shares_weight(at: Span) -> Diagnostic {
    let title = "labels are preferred by `NodeAffinity` now, with its weight and together with the pods' preferences, so \
                 scores may differ";
    Diagnostic::at(at, title, "")
}

pub(super) fn no_replacement(name: &Spanned<String>, instead: &str) -> Diagnostic {
    let title = format!("`{}` is left out: kube-scheduler 1.36 has no equivalent", name.value);
    Diagnostic::at(name.span, title, "left out").help(instead)
}

pub(super) fn limit_disabled(name: &Spanned<String>, successor: &str) -> Diagnostic {
    let Spanned { value, span } = name;
    let title = format!("`{value}` is part of `{successor}` today; disabling `{value}` does not disable `{successor}`");
    Diagnostic::at(*span, title, "")
}

// Policies.

pub(super) fn unknown_function(kind: &str, name: &Spanned<String>, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::at(name.span, format!("no {kind} is called `{}`", name.value), "unknown");
    match closest(&name.value, known.iter().copied()) {
        Some(meant) => diagnostic.suggest(format!("did you mean `{meant}`?"), name.span, meant),
        None => diagnostic.help(format!("a {kind} of another name needs an `argument` that defines it")),
    }
}

pub(super) fn condition_is_a_taint(name: &Spanned<String>) -> Diagnostic {
    let title =
        format!("`{}` is left out: a node in that condition has a taint, which TaintToleration checks", name.value);
    Diagnostic::at(name.span, title, "left out")
}

pub(super) fn one_argument(at: Span, known: &[&str]) -> Diagnostic {
    Diagnostic::at(at, "an `argument` has exactly one key", "not one").note(format!("one of {}", known.join(", ")))
}

pub(super) fn weight_not_positive(weight: Span, name: &str) -> Diagnostic {
    Diagnostic::at(weight, format!("priority `{name}` needs a weight of at least 1"), "not positive")
}

pub(super) fn all_predicates(at: Span) -> Diagnostic {
    let title = "`alwaysCheckAllPredicates` is ignored: it changes the reasons for a node, not the decision";
    Diagnostic::at(at, title, "")
}

pub(super) fn hard_weight_out_of_range(weight: &Spanned<i64>) -> Diagnostic {
    let title = format!("`hardPodAffinitySymmetricWeight` must be 1 to 100, not {}", weight.value);
    Diagnostic::at(weight.span, title, "out of range")
}
