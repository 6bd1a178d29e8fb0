//! Checks that no list contains a plugin twice. (kube-scheduler once loaded a plugin twice, and scores reached 300.)

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Context, key};
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::source::{Span, Spanned};

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (point, set) in cx.raw.sets() {
        let set_key = key(point);
        repeated(set.enabled.iter().map(|plugin| &plugin.name), |name, first| {
            diagnostics.push(messages::enabled_twice(name, first, set_key));
        });
        repeated(&set.disabled, |name, first| diagnostics.push(messages::disabled_twice(name, first, set_key)));
    }
}

fn repeated<'n>(names: impl IntoIterator<Item = &'n Spanned<String>>, mut report: impl FnMut(&Spanned<String>, Span)) {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for name in names {
        match seen.entry(&name.value) {
            Entry::Occupied(first) => report(name, *first.get()),
            Entry::Vacant(new) => drop(new.insert(name.span)),
        }
    }
}
