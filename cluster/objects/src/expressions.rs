//! Validation of the CEL expressions of device classes, resource claims and their templates.
//!
//! API servers reject wrong expressions when an object is created. Without this validation, an expression would be
//! reported only if a pod needs it.

use std::collections::HashMap;

use k8s_openapi::api::resource::v1::{DeviceSelector, ResourceClaimSpec};
use schedc_cel::{MAX_COST, MAX_LENGTH, Selector};
use schedc_kinds::AnyObject;

/// Errors of the expressions that were compiled so far; `None` for a valid one. Many claims have the same expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expressions(HashMap<String, Option<String>>);

impl Expressions {
    /// Returns the path and the error of each wrong expression.
    pub(crate) fn errors(&mut self, object: &AnyObject) -> Vec<(String, String)> {
        let mut errors = Vec::new();
        match object {
            AnyObject::DeviceClass(class) => self.selectors("spec", class.spec.selectors.as_ref(), &mut errors),
            AnyObject::ResourceClaim(claim) => self.claim("spec", &claim.spec, &mut errors),
            AnyObject::ResourceClaimTemplate(template) => self.claim("spec.spec", &template.spec.spec, &mut errors),
            _ => {}
        }
        errors
    }

    fn claim(&mut self, path: &str, spec: &ResourceClaimSpec, errors: &mut Vec<(String, String)>) {
        let requests = spec.devices.iter().flat_map(|devices| devices.requests.iter().flatten());
        for (i, request) in requests.enumerate() {
            let path = format!("{path}.devices.requests[{i}]");
            if let Some(exactly) = &request.exactly {
                self.selectors(&format!("{path}.exactly"), exactly.selectors.as_ref(), errors);
            }
            for (j, alternative) in request.first_available.iter().flatten().enumerate() {
                self.selectors(&format!("{path}.firstAvailable[{j}]"), alternative.selectors.as_ref(), errors);
            }
        }
    }

    fn selectors(&mut self, path: &str, selectors: Option<&Vec<DeviceSelector>>, errors: &mut Vec<(String, String)>) {
        for (i, selector) in selectors.into_iter().flatten().enumerate() {
            let Some(cel) = &selector.cel else { continue };
            if let Some(error) = self.error(&cel.expression) {
                errors.push((format!("{path}.selectors[{i}].cel.expression"), error));
            }
        }
    }

    fn error(&mut self, expression: &str) -> Option<String> {
        // The validation of created objects reports missing and too long expressions.
        if expression.is_empty() || expression.len() > MAX_LENGTH {
            return None;
        }
        if let Some(known) = self.0.get(expression) {
            return known.clone();
        }
        let error = error(expression);
        self.0.insert(expression.to_owned(), error.clone());
        error
    }
}

fn error(expression: &str) -> Option<String> {
    match Selector::compile(expression) {
        Ok(selector) if selector.exceeds_estimated_cost() => Some(format!(
            "is too complex: its estimated cost is {}, and the limit of an API server is {MAX_COST}",
            selector.estimated_cost()
        )),
        Ok(_) => None,
        Err(error) => {
            let message = error.message();
            Some(match error.line_and_column() {
                Some((line, column)) => format!("is no selector: line {line}, column {column}: {message}"),
                None => format!("is no selector: {message}"),
            })
        }
    }
}
