//! The effect of extenders on plugins.

use crate::plan::{Field, Node, PlanExtender, PlanPlugin, Value};
use crate::source::Spanned;

/// The plugin that filters by resources.
const FIT: &str = "NodeResourcesFit";
/// The argument of [`FIT`] with the resources that it ignores.
const IGNORED: &str = "ignored-resources";

/// Adds the managed resources of extenders that have `ignored-by-scheduler` to the resources that NodeResourcesFit
/// ignores. (kube-scheduler replaces the plugin's list.)
pub(super) fn ignore_resources(extenders: &[PlanExtender], plugins: &mut [PlanPlugin]) {
    let mut ignored = extenders
        .iter()
        .flat_map(|extender| &extender.managed_resources)
        .filter(|resource| resource.ignored_by_scheduler)
        .peekable();
    let (Some(first), Some(fit)) = (ignored.peek(), plugins.iter_mut().find(|plugin| plugin.entry.name == FIT)) else {
        return;
    };
    let new_node = |value| Node { span: first.at, value };
    let args = fit.args.get_or_insert_with(|| new_node(Value::Table(Vec::new())));
    let Value::Table(fields) = &mut args.value else { return };
    if fields.iter().all(|field| field.key.value != IGNORED) {
        let key = Spanned { value: IGNORED.to_owned(), span: first.at };
        fields.push(Field { key, value: new_node(Value::List(Vec::new())) });
    }
    let field = fields.iter_mut().find(|field| field.key.value == IGNORED);
    let Some(Value::List(names)) = field.map(|field| &mut field.value.value) else { return };
    for resource in ignored {
        let name = Value::Str(resource.name.clone());
        if names.iter().all(|other| other.value != name) {
            names.push(Node { span: resource.at, value: name });
        }
    }
}
