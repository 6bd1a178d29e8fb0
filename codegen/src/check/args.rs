//! Arguments: only for enabled plugins. The rules for their values are in `schedc-profile-rules`.

use schedc_profile_rules::check_args;

use super::{Context, plugin_names};
use crate::catalog::PluginEntry;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::parse::RawArgs;
use crate::schema::{ArgsSchema, FieldSchema, Schema};
use crate::source::Spanned;
use crate::suggest::closest;

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for args in &cx.raw.args {
        let name = args.plugin.value.as_str();
        if !plugin_names::check_name(cx, &args.plugin, None, false, diagnostics) {
            if let Some(entry) = suggested_plugin(cx, args) {
                let plugin = Spanned { value: entry.name.clone(), span: args.plugin.span };
                diagnostics.extend(check_args(&entry.args, &RawArgs { plugin, value: args.value.clone() }));
            }
            continue;
        }
        let Some((_, plugin)) = cx.plan.find(name) else {
            if cx
                .catalogs
                .plugin(name)
                .is_some_and(|entry| !entry.points.iter().any(|point| cx.has_earlier_error(*point)))
            {
                diagnostics.push(messages::args_of_disabled_plugin(&args.plugin));
            }
            continue;
        };
        diagnostics.extend(check_args(&plugin.entry.args, args));
    }
    check_absent(cx, diagnostics);
}

/// Reports each plugin that has required arguments, but no `[args]` table in the profile. Plugins that only the default
/// list enables have no required arguments.
fn check_absent(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for plugin in &cx.plan.plugins {
        let (None, Some(at), ArgsSchema::Known(Schema::Table { fields })) =
            (&plugin.args, plugin.named_at, &plugin.entry.args)
        else {
            continue;
        };
        let required: Vec<&FieldSchema> = fields.iter().filter(|field| field.required).collect();
        let name = &plugin.entry.name;
        let is_meant = |args: &RawArgs| {
            args.plugin.value == *name || suggested_plugin(cx, args).is_some_and(|entry| entry.name == *name)
        };
        if !required.is_empty() && !cx.raw.args.iter().any(is_meant) {
            diagnostics.push(messages::missing_arguments(at, name, &required));
        }
    }
}

/// Returns the plugin that a misspelt name probably means, unless the profile also has arguments under the correct name.
fn suggested_plugin<'c>(cx: &Context<'c>, args: &RawArgs) -> Option<&'c PluginEntry> {
    let name = closest(&args.plugin.value, cx.fitting(None)).filter(|_| cx.catalogs_complete)?;
    let has_others = cx.raw.args.iter().any(|other| other.plugin.value == name);
    cx.catalogs.plugin(name).map(AsRef::as_ref).filter(|_| !has_others)
}
