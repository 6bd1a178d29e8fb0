//! Wrong CEL expressions in classes, claims and templates.

use expect_test::expect;

use super::check;
use crate::validation::{ObjectReader, Validation};
use crate::{Kinds, Manifests, manifests};

const CLASS: &str = "apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors:
  - cel:
      expression: device.driver == \"gpu.example.com\"
  - cel:
      expression: |-
        device.attributes[\"gpu.example.com\"].model == \"A100\" &&
        devic.driver == \"gpu.example.com\"
";

#[test]
fn wrong_expressions_of_classes_are_errors() {
    check(
        CLASS,
        expect![
            "a.yaml:9: DeviceClass gpu: spec.selectors[1].cel.expression: is no selector: line 2, column 1: undeclared reference to 'devic' (in container '')"
        ],
    );
    check(
        "apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors:
  - cel: {expression: device.driver}
  - cel: {expression: 'device.driver =='}
  - cel: {expression: 'device.drivers == \"a\"'}",
        expect![[r#"
            a.yaml:6: DeviceClass gpu: spec.selectors[0].cel.expression: is no selector: must evaluate to bool or the unknown type, not string
            a.yaml:7: DeviceClass gpu: spec.selectors[1].cel.expression: is no selector: line 1, column 17: Syntax error: mismatched input '<EOF>' expecting an expression
            a.yaml:8: DeviceClass gpu: spec.selectors[2].cel.expression: is no selector: line 1, column 7: undefined field 'drivers'"#]],
    );
}

#[test]
fn wrong_expressions_of_claims_and_templates_are_errors() {
    check(
        "apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: a}
spec:
  devices:
    requests:
    - name: one
      exactly: {deviceClassName: gpu, selectors: [{cel: {expression: '1'}}]}
    - name: other
      firstAvailable:
      - {name: big, deviceClassName: gpu, selectors: [{cel: {expression: 'true'}}, {cel: {expression: size > 5}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: a}
spec:
  spec:
    devices:
      requests:
      - name: one
        exactly:
          deviceClassName: gpu
          selectors:
          - cel:
              expression: device.capacity[\"gpu.example.com\"].memory > 5",
        expect![[r#"
            a.yaml:8: ResourceClaim default/a: spec.devices.requests[0].exactly.selectors[0].cel.expression: is no selector: must evaluate to bool or the unknown type, not int
            a.yaml:11: ResourceClaim default/a: spec.devices.requests[1].firstAvailable[0].selectors[1].cel.expression: is no selector: line 1, column 1: undeclared reference to 'size' (in container '')
            a.yaml:25: ResourceClaimTemplate default/a: spec.spec.devices.requests[0].exactly.selectors[0].cel.expression: is no selector: line 1, column 43: found no matching overload for '_>_' applied to '(kubernetes.Quantity, int)'"#]],
    );
}

fn warnings(text: &str, validation: Validation) -> String {
    let reader = ObjectReader::new(Kinds::default(), validation);
    let mut reading = manifests::Reading { objects: reader, ..manifests::Reading::default() };
    manifests::document::read("a.yaml", text, &mut reading);
    let found: Manifests = reading.finish().unwrap_or_else(|error| panic!("{error}"));
    found.ignored.warnings().join("\n")
}

#[test]
fn wrong_expressions_in_objects_of_a_cluster_are_warnings() {
    expect!["a.yaml:9: DeviceClass gpu: spec.selectors[1].cel.expression: is no selector: line 2, column 1: undeclared reference to 'devic' (in container '')"].assert_eq(&warnings(CLASS, Validation::Warn));
    let stored = CLASS.replace("{name: gpu}", "{name: gpu, uid: '1'}");
    expect!["a.yaml:9: DeviceClass gpu: spec.selectors[1].cel.expression: is no selector: line 2, column 1: undeclared reference to 'devic' (in container '')"].assert_eq(&warnings(&stored, Validation::Auto));
    assert_eq!(warnings(CLASS, Validation::Ignore), "");
}

#[test]
fn only_the_first_expressions_are_warnings() {
    let many: String =
        (0..7).map(|i| format!("---\n{}", CLASS.replace("name: gpu", &format!("name: gpu-{i}")))).collect();
    expect![[r#"
        a.yaml:10: DeviceClass gpu-0: spec.selectors[1].cel.expression: is no selector: line 2, column 1: undeclared reference to 'devic' (in container '')
        a.yaml:22: DeviceClass gpu-1: spec.selectors[1].cel.expression: is no selector: line 2, column 1: undeclared reference to 'devic' (in container '')
        a.yaml:34: DeviceClass gpu-2: spec.selectors[1].cel.expression: is no selector: line 2, column 1: undeclared reference to 'devic' (in container '')
        a.yaml:46: DeviceClass gpu-3: spec.selectors[1].cel.expression: is no selector: line 2, column 1: undeclared reference to 'devic' (in container '')
        a.yaml:58: DeviceClass gpu-4: spec.selectors[1].cel.expression: is no selector: line 2, column 1: undeclared reference to 'devic' (in container '')
        2 more CEL expressions are wrong"#]].assert_eq(&warnings(&many, Validation::Warn));
}
