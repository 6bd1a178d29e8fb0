use expect_test::{Expect, expect};
use schedc_objects::AnyObject;

use super::*;

fn check(text: &str, context: TemplateContext, expected: Expect) {
    let text = match Template::parse("t.yaml", text) {
        Ok(template) => template.text(context),
        Err(error) => Err(error),
    };
    expected.assert_eq(&text.unwrap_or_else(|error| error.to_string()));
}

#[test]
fn expressions_are_evaluated_or_refused() {
    let context = TemplateContext { index: 7, count: 30 };
    check("a-{{.Index}} of {{ .Count }}", context, expect!["a-7 of 30"]);
    check("{{ DivideInt .Index 2 }} {{DivideFloat .Index 2}} {{Mod .Index 4}}", context, expect!["3 3.5 3"]);
    check("{{ .Index | Mod 20 }} {{ AddInt 1 2 (MultiplyInt .Index 2) }}", context, expect!["6 17"]);
    check("{{ SubtractInt .Count 1 }} {{ SubtractFloat .5 1 }} {{ AddFloat 1 2 }}", context, expect!["29 -0.5 3"]);
    check("a  {{- /* b */ -}}  c", context, expect!["ac"]);
    check(
        "a:\n{{ if .Index }}",
        context,
        expect![
            "t.yaml:2: `{{ if .Index }}`: `if` is unknown; use .Index, .Count, numbers and AddFloat, AddInt, DivideFloat, DivideInt, Mod, MultiplyFloat, MultiplyInt, SubtractFloat, SubtractInt"
        ],
    );
    check(
        "{{ .Name }}",
        context,
        expect![
            "t.yaml:1: `{{ .Name }}`: `.Name` is unknown; use .Index, .Count, numbers and AddFloat, AddInt, DivideFloat, DivideInt, Mod, MultiplyFloat, MultiplyInt, SubtractFloat, SubtractInt"
        ],
    );
    check("{{ (.Index }}", context, expect!["t.yaml:1: `{{ (.Index }}`: `(` without `)`"]);
    check("{{ Mod .Index 0 }}", context, expect!["t.yaml: division by zero in a template"]);
    check("{{ .Index", context, expect!["t.yaml:1: `{{` without `}}`"]);
}

/// Each object equals the result of parsing its text, regardless of the form of the factory.
#[test]
fn objects_equal_their_rendered_templates() {
    let rows = [
        ("{kind: Pod, metadata: {generateName: a-}}", "Same"),
        ("{kind: Pod, metadata: {name: 'a-{{.Index}}', labels: {n: '{{.Count}}'}}}", "Metadata"),
        ("{kind: Pod, metadata: {name: a, labels: {n: 'l{{.Index}}'}}}", "Shape"),
        (
            "kind: Node\nmetadata: {name: node}\nstatus: {capacity: {cpu: {{.Index}}, 'example.com/r-{{ Mod .Index 3 }}': 1}}",
            "Shape",
        ),
        ("kind: Pod\nmetadata: {name: a}\nspec: {priority: 8{{ Mod .Index 12 }}, containers: []}", "Shape"),
        ("kind: Node\nmetadata: {name: node}\nstatus: {capacity: {cpu: {{.Index}}m}}", "Shape"),
        // The text for the first index is `00`, which is no number in JSON. Therefore, the text of every object is
        // parsed.
        ("kind: Pod\nmetadata: {name: a}\nspec: {priority: {{ .Index }}{{ .Index }}, containers: []}", "Text"),
    ];
    for (text, form) in rows {
        let template = Template::parse("t.yaml", text).unwrap();
        let factory = ObjectFactory::new(&template, 20, None).unwrap().unwrap();
        let debug = format!("{:?}", factory.form);
        assert!(debug.starts_with(form), "{text}: {debug}");
        for index in 0..20 {
            let mut value = template.document(TemplateContext { index, count: 20 }).unwrap();
            value["apiVersion"] = "v1".into();
            let expected = AnyObject::from_json("v1", factory.kind(), value).unwrap().unwrap();
            assert_eq!(factory.make(index).unwrap(), expected, "{text} at {index}");
        }
    }
}
