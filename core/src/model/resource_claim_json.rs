//! Allocations and requests as JSON, for writes to an API server.

use serde_json::{Map, Value, json};
use smallvec::SmallVec;

use super::{
    AllocationMode, AllocationNodes, AllocationResult, CapacityRequirements, ConfigurationSource, ConstrainedAttribute,
    ConsumerReference, DeviceAllocationConfiguration, DeviceConfiguration, DeviceNodeRequirement, DeviceNodeSelector,
    DeviceRequestAllocationResult, DeviceSelector, DeviceTaintEffect, DeviceToleration, DeviceTolerationOperator,
    ExactDeviceRequest, QualifiedName, RequestRef, RequestedDevices, ResourceClaimSpec,
};
use crate::model::intern::{Resolve, Symbol};
use crate::model::quantity::Quantity;

impl AllocationResult {
    /// Returns `status.allocation`.
    pub fn to_json(&self, texts: &impl Resolve) -> Value {
        let mut devices = Map::new();
        set_list(&mut devices, "results", self.results.iter().map(|item| result(item, texts)));
        set_list(&mut devices, "config", self.config.iter().map(|item| allocated_configuration(item, texts)));
        let mut allocation = Map::from_iter([("devices".to_owned(), devices.into())]);
        if let Some(nodes) = &self.nodes {
            allocation.insert("nodeSelector".to_owned(), nodes.to_json(texts));
        }
        if let Some(timestamp) = self.timestamp {
            allocation.insert("allocationTimestamp".to_owned(), rfc3339(timestamp).into());
        }
        allocation.into()
    }

    /// Returns the symbols whose texts [`AllocationResult::to_json`] reads. A symbol may occur several times. After a
    /// type gets a new field, this function does not compile until the field is listed here.
    pub fn symbols(&self) -> SmallVec<[Symbol; 8]> {
        let AllocationResult { results, config, nodes, timestamp: _ } = self;
        let mut symbols = SmallVec::new();
        let of_reference = |RequestRef { request, alternative }: &RequestRef| [Some(*request), *alternative];
        let of_name = |QualifiedName { domain, name }: &QualifiedName| [*domain, Some(*name)];
        for result in results {
            let DeviceRequestAllocationResult {
                request,
                driver,
                pool,
                device,
                admin_access: _,
                tolerations,
                binding_conditions,
                binding_failure_conditions,
                share_id: _,
                consumed_capacity,
            } = result;
            symbols.extend(of_reference(request).into_iter().flatten());
            symbols.extend([*driver, *pool, *device]);
            for DeviceToleration { key, operator, value, effect, seconds: _ } in &**tolerations {
                symbols.extend([*key, *value]);
                if let DeviceTolerationOperator::Other(operator) = operator {
                    symbols.push(*operator);
                }
                if let Some(DeviceTaintEffect::Other(effect)) = effect {
                    symbols.push(*effect);
                }
            }
            symbols.extend(binding_conditions.iter().chain(&**binding_failure_conditions).copied());
            symbols.extend(consumed_capacity.iter().flat_map(|(name, _)| of_name(name)).flatten());
        }
        for DeviceAllocationConfiguration { source, requests, configuration } in &**config {
            let DeviceConfiguration { opaque } = configuration;
            if let ConfigurationSource::Other(source) = source {
                symbols.push(*source);
            }
            symbols.extend(requests.iter().flat_map(of_reference).flatten());
            symbols.extend(opaque.as_ref().map(|opaque| opaque.driver));
        }
        match nodes {
            None => {}
            Some(AllocationNodes::Node(name)) => symbols.push(*name),
            Some(AllocationNodes::Selector(selector)) => {
                let terms = selector.terms.iter();
                for requirement in terms.flat_map(|term| term.match_expressions.iter().chain(&term.match_fields)) {
                    let DeviceNodeRequirement { key, operator, values } = requirement;
                    symbols.extend([*key, *operator]);
                    symbols.extend_from_slice(values);
                }
            }
        }
        symbols
    }
}

impl AllocationNodes {
    /// Returns `nodeSelector`.
    pub fn to_json(&self, texts: &impl Resolve) -> Value {
        match self {
            AllocationNodes::Node(name) => {
                let field = json!({"key": "metadata.name", "operator": "In", "values": [texts.resolve(*name)]});
                json!({"nodeSelectorTerms": [{"matchFields": [field]}]})
            }
            AllocationNodes::Selector(selector) => selector.to_json(texts),
        }
    }
}

impl DeviceNodeSelector {
    /// Returns `nodeSelector`.
    pub fn to_json(&self, texts: &impl Resolve) -> Value {
        let requirement = |requirement: &DeviceNodeRequirement| {
            let mut fields = Map::new();
            set(&mut fields, "key", requirement.key, texts);
            set(&mut fields, "operator", requirement.operator, texts);
            set_list(&mut fields, "values", strings(&requirement.values, texts));
            Value::from(fields)
        };
        let terms = self.terms.iter().map(|term| {
            let mut fields = Map::new();
            set_list(&mut fields, "matchExpressions", term.match_expressions.iter().map(requirement));
            set_list(&mut fields, "matchFields", term.match_fields.iter().map(requirement));
            Value::from(fields)
        });
        json!({"nodeSelectorTerms": terms.collect::<Vec<_>>()})
    }
}

impl ConsumerReference {
    /// Returns an entry of `status.reservedFor`.
    pub fn to_json(&self, texts: &impl Resolve) -> Value {
        let mut fields = Map::new();
        if self.api_group != Symbol::EMPTY {
            set(&mut fields, "apiGroup", self.api_group, texts);
        }
        set(&mut fields, "resource", self.resource, texts);
        fields.insert("name".to_owned(), (*self.name).into());
        fields.insert("uid".to_owned(), (*self.uid.0).into());
        fields.into()
    }
}

impl ResourceClaimSpec {
    /// Returns `spec`.
    pub fn to_json(&self, texts: &impl Resolve) -> Value {
        let requests = self.requests.iter().map(|request| {
            let mut fields = Map::new();
            set(&mut fields, "name", request.name, texts);
            match &request.devices {
                RequestedDevices::Exactly(devices) => {
                    fields.insert("exactly".to_owned(), exact_request(devices, texts).into());
                }
                RequestedDevices::FirstAvailable(alternatives) => {
                    let alternatives = alternatives.iter().map(|alternative| {
                        let mut fields = exact_request(&alternative.devices, texts);
                        set(&mut fields, "name", alternative.name, texts);
                        fields.into()
                    });
                    set_list(&mut fields, "firstAvailable", alternatives);
                }
                RequestedDevices::Unknown => {}
            }
            Value::from(fields)
        });
        let constraints = self.constraints.iter().map(|constraint| {
            let mut fields = Map::new();
            set_list(&mut fields, "requests", references(&constraint.requests, texts));
            let attribute = match constraint.attribute {
                ConstrainedAttribute::Match(name) => Some(("matchAttribute", name)),
                ConstrainedAttribute::Distinct(name) => Some(("distinctAttribute", name)),
                ConstrainedAttribute::Unknown => None,
            };
            let attribute = attribute.map(|(kind, name)| (kind.to_owned(), name.display(texts).to_string().into()));
            fields.extend(attribute);
            Value::from(fields)
        });
        let config = self.config.iter().map(|config| {
            let mut fields = configuration(&config.configuration, texts);
            set_list(&mut fields, "requests", references(&config.requests, texts));
            Value::from(fields)
        });
        let mut devices = Map::new();
        set_list(&mut devices, "requests", requests);
        set_list(&mut devices, "constraints", constraints);
        set_list(&mut devices, "config", config);
        json!({"devices": devices})
    }
}

fn exact_request(request: &ExactDeviceRequest, texts: &impl Resolve) -> Map<String, Value> {
    let mut fields = Map::new();
    set(&mut fields, "deviceClassName", request.class, texts);
    set_list(&mut fields, "selectors", request.selectors.iter().map(|item| selector(*item, texts)));
    let mode = match request.mode {
        AllocationMode::ExactCount => "ExactCount",
        AllocationMode::All => "All",
        AllocationMode::Other(mode) => texts.resolve(mode),
    };
    if !mode.is_empty() {
        fields.insert("allocationMode".to_owned(), mode.into());
    }
    if request.count != 0 {
        fields.insert("count".to_owned(), request.count.into());
    }
    fields.extend(request.admin_access.map(|access| ("adminAccess".to_owned(), access.into())));
    set_list(&mut fields, "tolerations", request.tolerations.iter().map(|item| toleration(item, texts)));
    if let Some(CapacityRequirements { requests }) = &request.capacity {
        fields.insert("capacity".to_owned(), json!({"requests": amounts(requests, texts)}));
    }
    fields
}

fn selector(selector: DeviceSelector, texts: &impl Resolve) -> Value {
    match selector.cel {
        Some(expression) => json!({"cel": {"expression": texts.resolve(expression)}}),
        None => json!({}),
    }
}

fn result(result: &DeviceRequestAllocationResult, texts: &impl Resolve) -> Value {
    let mut fields = Map::new();
    fields.insert("request".to_owned(), result.request.display(texts).to_string().into());
    for (name, value) in [("driver", result.driver), ("pool", result.pool), ("device", result.device)] {
        set(&mut fields, name, value, texts);
    }
    fields.extend(result.admin_access.map(|access| ("adminAccess".to_owned(), access.into())));
    set_list(&mut fields, "tolerations", result.tolerations.iter().map(|item| toleration(item, texts)));
    set_list(&mut fields, "bindingConditions", strings(&result.binding_conditions, texts));
    set_list(&mut fields, "bindingFailureConditions", strings(&result.binding_failure_conditions, texts));
    fields.extend(result.share_id.as_ref().map(|id| ("shareID".to_owned(), (**id).into())));
    if !result.consumed_capacity.is_empty() {
        fields.insert("consumedCapacity".to_owned(), amounts(&result.consumed_capacity, texts));
    }
    fields.into()
}

fn allocated_configuration(config: &DeviceAllocationConfiguration, texts: &impl Resolve) -> Value {
    let mut fields = configuration(&config.configuration, texts);
    let source = match config.source {
        ConfigurationSource::Class => "FromClass",
        ConfigurationSource::Claim => "FromClaim",
        ConfigurationSource::Other(source) => texts.resolve(source),
    };
    fields.insert("source".to_owned(), source.into());
    set_list(&mut fields, "requests", references(&config.requests, texts));
    fields.into()
}

fn configuration(configuration: &DeviceConfiguration, texts: &impl Resolve) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(opaque) = &configuration.opaque {
        // Parsing does not fail: the text was JSON when the object was read.
        let parameters: Value = serde_json::from_str(&opaque.parameters).unwrap_or_default();
        fields.insert("opaque".to_owned(), json!({"driver": texts.resolve(opaque.driver), "parameters": parameters}));
    }
    fields
}

fn toleration(toleration: &DeviceToleration, texts: &impl Resolve) -> Value {
    let operator = match toleration.operator {
        DeviceTolerationOperator::Unset => "",
        DeviceTolerationOperator::Equal => "Equal",
        DeviceTolerationOperator::Exists => "Exists",
        DeviceTolerationOperator::Other(operator) => texts.resolve(operator),
    };
    let effect = match toleration.effect {
        None => "",
        Some(DeviceTaintEffect::None) => "None",
        Some(DeviceTaintEffect::NoSchedule) => "NoSchedule",
        Some(DeviceTaintEffect::NoExecute) => "NoExecute",
        Some(DeviceTaintEffect::Other(effect)) => texts.resolve(effect),
    };
    let fields = [
        ("key", texts.resolve(toleration.key)),
        ("operator", operator),
        ("value", texts.resolve(toleration.value)),
        ("effect", effect),
    ];
    let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
    let mut fields: Map<_, _> = fields.map(|(name, value)| (name.to_owned(), value.into())).collect();
    fields.extend(toleration.seconds.map(|seconds| ("tolerationSeconds".to_owned(), seconds.into())));
    fields.into()
}

/// Returns the text of an amount. A multiple of 1024 gets a binary suffix, because drivers usually report capacities
/// with one.
fn text(amount: Quantity) -> String {
    let Some(mut mantissa) = amount.as_i64().filter(|&units| units != 0 && units % 1024 == 0) else {
        return amount.to_string();
    };
    let mut suffixes = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].into_iter();
    let mut suffix = "";
    while mantissa % 1024 == 0
        && let Some(next) = suffixes.next()
    {
        (mantissa, suffix) = (mantissa / 1024, next);
    }
    format!("{mantissa}{suffix}")
}

fn amounts(amounts: &[(QualifiedName, Quantity)], texts: &impl Resolve) -> Value {
    let amount =
        |(name, amount): &(QualifiedName, Quantity)| (name.display(texts).to_string(), Value::from(text(*amount)));
    Value::Object(amounts.iter().map(amount).collect())
}

fn references(references: &[RequestRef], texts: &impl Resolve) -> impl Iterator<Item = Value> {
    references.iter().map(|reference| reference.display(texts).to_string().into())
}

fn strings(symbols: &[Symbol], texts: &impl Resolve) -> impl Iterator<Item = Value> {
    symbols.iter().map(|symbol| texts.resolve(*symbol).into())
}

fn set(fields: &mut Map<String, Value>, name: &str, value: Symbol, texts: &impl Resolve) {
    fields.insert(name.to_owned(), texts.resolve(value).into());
}

/// Sets a list; an empty one is left out.
fn set_list(fields: &mut Map<String, Value>, name: &str, values: impl Iterator<Item = Value>) {
    let values: Vec<_> = values.collect();
    if !values.is_empty() {
        fields.insert(name.to_owned(), values.into());
    }
}

/// Formats a time in nanoseconds since 1970 as API servers do, in whole seconds.
fn rfc3339(nanoseconds: i64) -> String {
    const DAY: i64 = 24 * 60 * 60;
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    let (days, of_day) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Days since 0000-03-01, so that the leap day is the last one of a year; 400 years have 146,097 days.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn times_are_whole_seconds() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(seconds * 1_000_000_000), text);
        }
        assert_eq!(rfc3339(1_999_999_999), "1970-01-01T00:00:01Z");
    }
}
