//! Catalogs: finding and reading them.

use std::path::Path;

use super::{alternatives, did_you_mean, quoted};
use crate::catalog::{CustomKind, PluginEntry};
use crate::diagnostic::Diagnostic;
use crate::point::Point;
use crate::source::{Span, Spanned};

pub(crate) fn not_a_crate_name(name: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(name.span, format!("`{}` is not the Rust name of a crate", name.value), "not an identifier").suggest(
        "Rust paths name crates with underscores",
        name.span,
        format!("\"{}\"", name.value.replace('-', "_")),
    )
}

pub(crate) fn not_a_plugin_name(name: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(name.span, format!("`{}` cannot be the name of a plugin", name.value), "not an identifier")
        .note("generated code has a field of this name")
}

pub(crate) fn not_a_rust_path(path: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(
        path.span,
        format!("`{}` is not a Rust path", path.value),
        "expected a path such as `my_crate::Type`",
    )
}

pub(crate) fn plugin_declared_twice(name: &str, second: Span, first: Span) -> Diagnostic {
    Diagnostic::at(second, format!("plugin `{name}` is in this catalog twice"), "second")
        .secondary(first, "first")
        .help("give one of them another name, or remove it")
}

pub(crate) fn point_declared_twice(point: &Spanned<String>, first: Span) -> Diagnostic {
    Diagnostic::at(point.span, format!("extension point `{}` is listed twice", point.value), "second")
        .secondary(first, "first")
}

pub(crate) fn reserved_state(key: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(key.span, format!("`{}` cannot be declared", key.value), "schedc has this column already")
        .help("choose another name")
}

pub(crate) fn only_for_score(key: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(key.span, format!("`{}` is only for plugins of `score`", key.value), "no effect")
        .note("`points` does not list `score`")
}

pub(crate) fn default_weight_out_of_range(weight: &Spanned<i128>) -> Diagnostic {
    Diagnostic::at(weight.span, "a default weight must be at least 1 and fit 64 bits", "out of range")
}

pub(crate) fn unknown_state(name: &Spanned<String>, subject: &str, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::at(name.span, format!("unknown {subject} `{}`", name.value), "not declared")
        .note(format!("this catalog can name {}", quoted(known.iter().copied())));
    did_you_mean(diagnostic, &name.value, known.iter().copied(), name.span, true)
}

pub(crate) fn unknown_kind(kind: &Spanned<String>, known: &[&str]) -> Diagnostic {
    let diagnostic =
        Diagnostic::at(kind.span, format!("unknown kind `{}`", kind.value), "not a kind that plugins can watch")
            .note(format!("plugins can watch {}", quoted(known.iter().copied())));
    let with_suggestion = did_you_mean(diagnostic, &kind.value, known.iter().copied(), kind.span, true);
    if with_suggestion.help.is_some() {
        return with_suggestion;
    }
    with_suggestion.help("other kinds, such as custom resources, are declared under `[kinds]`")
}

pub(crate) fn known_kind(name: &Spanned<String>) -> Diagnostic {
    let kind = &name.value;
    Diagnostic::at(name.span, format!("`{kind}` cannot be declared"), "schedc has this kind already").help(format!(
        "list it in `watches`; for a kind of this name in another API group, declare another name, with \
         `kind = \"{kind}\"`"
    ))
}

pub(crate) fn kind_declared_twice(kind: &CustomKind, first: &CustomKind) -> Diagnostic {
    Diagnostic::at(kind.declared_at, format!("{} is declared twice", kind.full_name()), "second")
        .secondary(first.declared_at, "first")
}

pub(crate) fn kinds_disagree(kind: &CustomKind, first: &CustomKind) -> Diagnostic {
    let declaration = |kind: &CustomKind| {
        let scope = if kind.namespaced { "with namespaces" } else { "without namespaces" };
        format!("kind `{}`, {scope}", kind.kind)
    };
    Diagnostic::at(kind.declared_at, format!("two crates declare {} differently", kind.full_name()), declaration(kind))
        .secondary(first.declared_at, declaration(first))
}

pub(crate) fn not_an_api_version(api_version: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(
        api_version.span,
        format!("`{}` is not the version of an API", api_version.value),
        "expected a group and a version such as `scheduling.x-k8s.io/v1alpha1`",
    )
    .note("use the `apiVersion` of the resource's manifests")
}

pub(crate) fn not_a_kind(kind: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(kind.span, format!("`{}` is not the name of a kind", kind.value), "not a kind")
        .help("use the `kind` of its manifests, such as `PodGroup`")
}

pub(crate) fn unknown_verb(verb: &Spanned<String>, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::at(verb.span, format!("unknown verb `{}`", verb.value), "not a verb of resources")
        .note(format!("verbs are {}", quoted(known.iter().copied())));
    let usual = match verb.value.as_str() {
        "PUT" => "update",
        "POST" => "create",
        other => other,
    };
    did_you_mean(diagnostic, usual, known.iter().copied(), verb.span, true)
}

pub(crate) fn no_verbs(at: Span) -> Diagnostic {
    Diagnostic::at(at, "an element of `writes` needs at least one verb", "no verb")
        .help("remove the element, or name its verbs")
}

/// Reports an invalid group. The help has an edit for a group that is written with a version, and for `core` and `v1`:
/// the name of the core group is empty.
pub(crate) fn not_a_group(group: &Spanned<String>) -> Diagnostic {
    let diagnostic = Diagnostic::at(group.span, format!("`{}` is not an API group", group.value), "not a group");
    let (name, reason) = match group.value.split_once('/') {
        Some((name, _)) => (name, "groups are named without a version"),
        None if ["core", "v1"].contains(&group.value.as_str()) => ("", "the group of pods and nodes has no name"),
        None => return diagnostic.help("a group is a domain in lower case, such as `storage.k8s.io`"),
    };
    diagnostic.suggest(reason, group.span, format!("\"{name}\""))
}

pub(crate) fn not_a_resource(resource: &Spanned<String>) -> Diagnostic {
    let diagnostic =
        Diagnostic::at(resource.span, format!("`{}` is not the name of a resource", resource.value), "not a resource");
    let kind = resource.value.as_str();
    if !kind.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return diagnostic.help("resources are named as in roles, such as `pods` or `pods/status`");
    }
    let lower = kind.to_lowercase();
    let plural = match lower.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if lower.ends_with("ss") => lower + "es",
        None if lower.ends_with('s') => lower,
        None => lower + "s",
    };
    diagnostic.suggest("resources are named in the plural and in lower case", resource.span, format!("\"{plural}\""))
}

pub(crate) fn not_a_namespace(namespace: &Spanned<String>) -> Diagnostic {
    Diagnostic::at(namespace.span, format!("`{}` cannot be the name of a namespace", namespace.value), "not a name")
        .help("leave it out for all namespaces")
}

pub(crate) fn only_for_writing_points(key: &Spanned<String>, points: impl Iterator<Item = Point>) -> Diagnostic {
    let points = alternatives(points.map(Point::name));
    Diagnostic::at(key.span, format!("`{}` is only for plugins of {points}", key.value), "no effect")
        .note("`points` lists none of them")
}

pub(crate) fn schema_is_no_table(at: Span) -> Diagnostic {
    Diagnostic::at(at, "the arguments of a plugin are a table", "expected `type = \"table\"`")
}

pub(crate) fn unreadable_schema(at: Span, error: &str) -> Diagnostic {
    Diagnostic::at(at, "this argument schema cannot be read", error)
}

pub(crate) fn plugin_name_clash(second: &PluginEntry, first: &PluginEntry) -> Diagnostic {
    Diagnostic::at(
        second.declared_at,
        format!("two crates have a plugin `{}`: {} and {}", second.name, first.crate_name, second.crate_name),
        format!("in {}", second.crate_name),
    )
    .secondary(first.declared_at, format!("in {}", first.crate_name))
    .note("a profile names plugins without their crate")
    .help("give one of them another name")
}

pub(crate) fn not_a_dependency(name: &Spanned<String>, package: &str, dependencies: &[String]) -> Diagnostic {
    let known = dependencies.iter().map(String::as_str);
    let diagnostic = Diagnostic::at(
        name.span,
        format!("`{}` is not a dependency of {package}", name.value),
        format!("expected a package under `[dependencies]` in the Cargo.toml of {package}"),
    );
    let with_suggestion = did_you_mean(diagnostic, &name.value, known, name.span, true);
    if with_suggestion.help.is_some() {
        return with_suggestion;
    }
    with_suggestion.help(format!("run `cargo add {}`, or name its folder: `{{ path = \"..\" }}`", name.value))
}

pub(crate) fn no_catalog(name: &Spanned<String>, expected_path: &Path) -> Diagnostic {
    Diagnostic::at(name.span, format!("crate `{}` has no schedc.toml", name.value), "no catalog of plugins")
        .note(format!("looked for {}", expected_path.display()))
}

pub(crate) fn not_on_this_platform(name: &Spanned<String>, package: &str) -> Diagnostic {
    let title = format!("`{}` is a dependency of {package} on other platforms only", name.value);
    Diagnostic::at(name.span, title, "not part of this build")
        .help(format!("move it to `[dependencies]` in the Cargo.toml of {package}"))
}

pub(crate) fn no_manifest(name: &Spanned<String>, error: &str) -> Diagnostic {
    let title = format!("cannot look up crate `{}` in a Cargo.toml", name.value);
    Diagnostic::at(name.span, title, "expected a dependency of the package that compiles this profile")
        .note(error)
        .help("run this in a package, or name the folder of the crate: `{ path = \"..\" }`")
}

pub(crate) fn no_cargo_metadata(name: &Spanned<String>, offline: &str, online: &str) -> Diagnostic {
    let title = format!("cannot find the folder of crate `{}`", name.value);
    let diagnostic = Diagnostic::at(name.span, title, "`cargo metadata` failed");
    let diagnostic = if offline == online {
        diagnostic.note(online)
    } else {
        diagnostic.note(format!("without the network: {offline}")).note(format!("with the network: {online}"))
    };
    diagnostic.help("run `cargo fetch` in the folder of the package; builds need no network then")
}

pub(crate) fn same_crate_twice(name: &Spanned<String>, first: Span) -> Diagnostic {
    Diagnostic::at(name.span, format!("crate `{}` is named twice", name.value), "second").secondary(first, "first")
}

pub(crate) fn unreadable_file(path: &Path, error: &str) -> Diagnostic {
    Diagnostic::new(format!("cannot read {}: {error}", path.display()))
}

/// Reports an element of `SCHEDC_PROFILES` that is neither a profile of the folder nor a file.
pub(crate) fn unknown_profile(name: &str, folder: &Path, known: &[String]) -> Diagnostic {
    let title = format!("no profile is called `{name}`");
    let names = known.iter().map(String::as_str);
    let diagnostic = if known.is_empty() {
        Diagnostic::new(title).note(format!("there is no profile in folder {}", folder.display()))
    } else {
        Diagnostic::new(title).note(format!("folder {} has {}", folder.display(), quoted(names.clone())))
    };
    match crate::suggest::closest(name, names) {
        Some(suggestion) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        None => diagnostic
            .help("name a profile, or the path of a TOML file; SCHEDC_PROFILES takes several, separated by commas"),
    }
}

/// Reports an unknown profile of a command. Unlike [`unknown_profile`], commands also accept compiled-in profiles.
pub(crate) fn unknown_name(name: &str, folder: &Path, known: &[String], compiled_in: &[&str]) -> Diagnostic {
    let names = || known.iter().map(String::as_str);
    let mut diagnostic = Diagnostic::new(format!("no profile is called `{name}`"));
    diagnostic = match known {
        [] => diagnostic.note(format!("there is no profile in folder {}", folder.display())),
        _ => diagnostic.note(format!("folder {} has {}", folder.display(), quoted(names()))),
    };
    if !compiled_in.is_empty() {
        diagnostic = diagnostic.note(format!("compiled in: {}", quoted(compiled_in.iter().copied())));
    }
    match crate::suggest::closest(name, names().chain(compiled_in.iter().copied())) {
        Some(suggestion) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        None => diagnostic.help("name one of these profiles, or the path of a TOML file"),
    }
}

pub(crate) fn no_profiles(folder: &Path) -> Diagnostic {
    Diagnostic::new(format!("there is no profile in folder {}", folder.display()))
        .help("put one there, for example `default.toml`; an empty file is kube-scheduler's default")
}

pub(crate) fn empty_selection(known: &[String]) -> Diagnostic {
    Diagnostic::new("SCHEDC_PROFILES names no profile")
        .help(format!("unset it to build all profiles, or name {}", alternatives(known.iter().map(String::as_str))))
}
