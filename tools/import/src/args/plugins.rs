//! Rules of individual plugins: kube-scheduler's defaults for empty values (`SetDefaults_NAMEArgs` in
//! pkg/scheduler/apis/config/v1/defaults.go), and its validation beyond the shape of arguments
//! (`ValidateNAMEArgs` in pkg/scheduler/apis/config/validation).

use schedc_profile_rules::source::{Span, Spanned};
use schedc_profile_rules::tree::{RawField, RawNode, RawTable, RawValue};

use crate::messages;
use crate::report::Report;

/// Converts a plugin's arguments to those of a profile.
pub(super) fn convert_args(plugin: &str, args: &mut RawTable, at: Span, report: &mut Report) {
    match plugin {
        "DefaultPreemption" => default_preemption(args, report),
        "NodeAffinity" => node_affinity(args, report),
        "NodeResourcesBalancedAllocation" => simplify_resources(args, report),
        "NodeResourcesFit" => node_resources_fit(args, report),
        "PodTopologySpread" => pod_topology_spread(args, at, report),
        "VolumeBinding" => volume_binding(args, report),
        _ => {}
    }
}

fn default_preemption(args: &RawTable, report: &mut Report) {
    let zero = |key: &str| args.get(key).filter(|field| field.value.value == RawValue::Int(0));
    let percentage = zero("min-candidate-nodes-percentage");
    if let (Some(percentage), Some(absolute)) = (percentage, zero("min-candidate-nodes-absolute")) {
        report.error(messages::no_candidates(percentage.value.span, absolute.value.span));
    }
}

/// Converts `addedAffinity`, which has one level less in a profile. Preferences without effect are omitted.
fn node_affinity(args: &mut RawTable, report: &mut Report) {
    let Some(affinity) = table_mut(args, "added-affinity") else { return };
    for field in &mut affinity.fields {
        if field.key.value == "required-during-scheduling-ignored-during-execution" {
            "required".clone_into(&mut field.key.value);
            let terms = match &mut field.value.value {
                RawValue::Table(selector) => take(selector, "node-selector-terms"),
                _ => None,
            };
            let none = RawNode { span: field.value.span, value: RawValue::List(Vec::new()) };
            field.value = terms.map_or(none, |field| field.value);
            if let RawValue::List(terms) = &mut field.value.value {
                if terms.is_empty() {
                    report.error(messages::no_node_selector_terms(field.value.span));
                }
                terms.iter_mut().for_each(node_selector_term);
            }
        } else {
            "preferred".clone_into(&mut field.key.value);
            if let RawValue::List(terms) = &mut field.value.value {
                terms.retain_mut(|term| simplify_preference(term, report));
            }
        }
    }
    affinity.fields.retain(|field| field.key.value == "required" || !is_empty_list(&field.value));
    if affinity.fields.is_empty() {
        args.fields.clear();
    }
}

/// Simplifies a preference, and returns whether it has an effect.
fn simplify_preference(term: &mut RawNode, report: &mut Report) -> bool {
    let span = term.span;
    let RawValue::Table(table) = &mut term.value else { return false };
    let has_weight = table.get("weight").is_some_and(|field| field.value.value != RawValue::Int(0));
    let preference = table.fields.iter_mut().find(|field| field.key.value == "preference");
    let has_requirements = preference.is_some_and(|field| {
        node_selector_term(&mut field.value);
        !matches!(&field.value.value, RawValue::Table(term) if term.fields.is_empty())
    });
    if !has_weight || !has_requirements {
        report.warning(messages::empty_preference(span, has_weight));
    }
    has_weight && has_requirements
}

fn node_selector_term(term: &mut RawNode) {
    let RawValue::Table(term) = &mut term.value else { return };
    for requirements in &mut term.fields {
        let RawValue::List(requirements) = &mut requirements.value.value else { continue };
        for requirement in requirements {
            if let RawValue::Table(requirement) = &mut requirement.value {
                drop_empty_lists(requirement);
            }
        }
    }
    drop_empty_lists(term);
}

fn node_resources_fit(args: &mut RawTable, report: &mut Report) {
    drop_empty_lists(args);
    let Some(field) = args.fields.iter_mut().find(|field| field.key.value == "scoring-strategy") else { return };
    let RawValue::Table(strategy) = &mut field.value.value else { return };
    let kind = strategy.get("type").map(|field| &field.value);
    if kind.is_none_or(|kind| kind.value == RawValue::Str(String::new())) {
        report.error(messages::no_strategy_type(kind.map_or(field.key.span, |kind| kind.span)));
    }
    let uses_shape = kind.is_some_and(|kind| kind.value == RawValue::Str("RequestedToCapacityRatio".to_owned()));
    match strategy.get("requested-to-capacity-ratio") {
        None if uses_shape => report.error(messages::ratio_needs_shape(kind.map_or(field.key.span, |kind| kind.span))),
        Some(ratio) if !uses_shape => report.error(messages::shape_without_ratio(ratio.key.span)),
        _ => {}
    }
    simplify_resources(strategy, report);
    if let Some(ratio) = table_mut(strategy, "requested-to-capacity-ratio") {
        complete_shape(ratio);
    }
}

/// Removes weights of 0, which stand for the default weight, and empty lists, which stand for the default resources.
fn simplify_resources(table: &mut RawTable, report: &mut Report) {
    drop_empty_lists(table);
    for resource in tables_mut(table, "resources") {
        let name = resource.get("name").map(|name| name.value.value.clone());
        if let Some(weight) = resource.get("weight").filter(|weight| weight.value.value == RawValue::Int(0)) {
            let name = if let Some(RawValue::Str(name)) = name { name } else { String::new() };
            report.warning(messages::zero_resource_weight(weight.value.span, &name));
            take(resource, "weight");
        }
    }
}

/// Sets missing values of the points of a shape to 0.
fn complete_shape(table: &mut RawTable) {
    let RawValue::List(points) = (match table.fields.iter_mut().find(|field| field.key.value == "shape") {
        Some(field) => &mut field.value.value,
        None => return,
    }) else {
        return;
    };
    for point in points {
        let span = point.span;
        let RawValue::Table(point) = &mut point.value else { continue };
        for key in ["utilization", "score"] {
            if point.get(key).is_none() {
                let value = RawNode { span, value: RawValue::Int(0) };
                point.fields.push(RawField { key: Spanned { value: key.to_owned(), span }, value });
            }
        }
    }
}

fn pod_topology_spread(args: &mut RawTable, at: Span, report: &mut Report) {
    let is_list =
        args.get("defaulting-type").is_some_and(|field| field.value.value == RawValue::Str("List".to_owned()));
    drop_empty_lists(args);
    if let Some(constraints) = args.get("default-constraints")
        && !is_list
    {
        let system = args.get("defaulting-type").map_or(at, |field| field.value.span);
        report.error(messages::constraints_with_system_defaulting(constraints.key.span, system));
    }
    let mut seen: Vec<(RawValue, RawValue, Span)> = Vec::new();
    if let Some(RawField { value: RawNode { value: RawValue::List(constraints), .. }, .. }) =
        args.fields.iter_mut().find(|field| field.key.value == "default-constraints")
    {
        for node in constraints {
            let RawValue::Table(constraint) = &mut node.value else { continue };
            drop_empty_lists(constraint);
            if let Some(selector) = constraint.get("label-selector") {
                report.error(messages::constraint_with_selector(selector.key.span));
            }
            let part = |key: &str| constraint.get(key).map(|field| field.value.value.clone());
            if let (Some(key), Some(action)) = (part("topology-key"), part("when-unsatisfiable")) {
                match seen.iter().find(|(other_key, other_action, _)| *other_key == key && *other_action == action) {
                    Some((.., first)) => report.error(messages::constraint_twice(node.span, *first)),
                    None => seen.push((key, action, node.span)),
                }
            }
        }
    }
}

fn volume_binding(args: &mut RawTable, report: &mut Report) {
    if let Some(shape) = take(args, "shape") {
        report.error(messages::shape_without_gate(shape.key.span));
    }
}

fn table_mut<'t>(table: &'t mut RawTable, key: &str) -> Option<&'t mut RawTable> {
    match table.fields.iter_mut().find(|field| field.key.value == key)?.value.value {
        RawValue::Table(ref mut table) => Some(table),
        _ => None,
    }
}

fn tables_mut<'t>(table: &'t mut RawTable, key: &str) -> impl Iterator<Item = &'t mut RawTable> {
    let items: &mut [RawNode] = match table.fields.iter_mut().find(|field| field.key.value == key) {
        Some(RawField { value: RawNode { value: RawValue::List(items), .. }, .. }) => items,
        _ => &mut [],
    };
    items.iter_mut().filter_map(|node| match &mut node.value {
        RawValue::Table(table) => Some(table),
        _ => None,
    })
}

fn take(table: &mut RawTable, key: &str) -> Option<RawField> {
    let index = table.fields.iter().position(|field| field.key.value == key)?;
    Some(table.fields.remove(index))
}

fn drop_empty_lists(table: &mut RawTable) {
    table.fields.retain(|field| !is_empty_list(&field.value));
}

fn is_empty_list(node: &RawNode) -> bool {
    matches!(&node.value, RawValue::List(items) if items.is_empty())
}
