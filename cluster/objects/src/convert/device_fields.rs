//! Conversion of fields that claims, classes, slices and allocations have in common.

use std::sync::Arc;

use k8s_openapi::api::resource::v1 as api;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    DeviceConfiguration, DeviceSelector, DeviceTaintEffect, DeviceToleration, DeviceTolerationOperator,
    OpaqueDeviceConfiguration, QualifiedName, RequestRef,
};

use super::amounts::{ResourceList, quantity};
use super::symbol;

pub(super) fn selectors(
    selectors: Option<&Vec<api::DeviceSelector>>,
    interner: &mut Interner,
) -> Box<[DeviceSelector]> {
    let selectors = selectors.into_iter().flatten();
    selectors.map(|it| DeviceSelector { cel: it.cel.as_ref().map(|cel| interner.intern(&cel.expression)) }).collect()
}

pub(super) fn tolerations(
    tolerations: Option<&Vec<api::DeviceToleration>>,
    interner: &mut Interner,
) -> Arc<[DeviceToleration]> {
    let toleration = |toleration: &api::DeviceToleration| DeviceToleration {
        key: symbol(toleration.key.as_ref(), interner),
        operator: match toleration.operator.as_deref().unwrap_or_default() {
            "" => DeviceTolerationOperator::Unset,
            "Equal" => DeviceTolerationOperator::Equal,
            "Exists" => DeviceTolerationOperator::Exists,
            other => DeviceTolerationOperator::Other(interner.intern(other)),
        },
        value: symbol(toleration.value.as_ref(), interner),
        effect: match toleration.effect.as_deref().unwrap_or_default() {
            "" => None,
            effect => Some(taint_effect(effect, interner)),
        },
        seconds: toleration.toleration_seconds,
    };
    tolerations.into_iter().flatten().map(toleration).collect()
}

pub(super) fn taint_effect(effect: &str, interner: &mut Interner) -> DeviceTaintEffect {
    match effect {
        "None" => DeviceTaintEffect::None,
        "NoSchedule" => DeviceTaintEffect::NoSchedule,
        "NoExecute" => DeviceTaintEffect::NoExecute,
        other => DeviceTaintEffect::Other(interner.intern(other)),
    }
}

pub(super) fn qualified_amounts<'a>(
    list: Option<&'a ResourceList>,
    interner: &'a mut Interner,
) -> impl Iterator<Item = (QualifiedName, schedc_core::quantity::Quantity)> + 'a {
    list.into_iter().flatten().map(|(name, text)| (QualifiedName::parse(name, interner), quantity(text)))
}

pub(super) fn request_refs<C: FromIterator<RequestRef>>(requests: Option<&Vec<String>>, interner: &mut Interner) -> C {
    requests.into_iter().flatten().map(|request| RequestRef::parse(request, interner)).collect()
}

pub(super) fn configuration(
    opaque: Option<&api::OpaqueDeviceConfiguration>,
    interner: &mut Interner,
) -> DeviceConfiguration {
    DeviceConfiguration {
        opaque: opaque.map(|opaque| OpaqueDeviceConfiguration {
            driver: interner.intern(&opaque.driver),
            parameters: opaque.parameters.0.to_string().into(),
        }),
    }
}

pub(super) fn symbols<C: FromIterator<Symbol>>(texts: Option<&Vec<String>>, interner: &mut Interner) -> C {
    texts.into_iter().flatten().map(|text| interner.intern(text)).collect()
}
