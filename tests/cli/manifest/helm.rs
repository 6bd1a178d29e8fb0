//! Renders charts like Helm, as far as the charts of `schedc manifest` need it: the actions `define`, `if`, `else if`,
//! `else`, `with` and `end`, and the functions in [`call`]. Tests therefore do not need Helm; `.ci/check-deploy` runs
//! it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

/// Renders the templates of a chart, by file name.
pub(crate) fn render(chart: &Path, release: &str, namespace: &str, overrides: &Value) -> BTreeMap<String, String> {
    let mut values = yaml(&chart.join("values.yaml"));
    merge(&mut values, overrides);
    let about = yaml(&chart.join("Chart.yaml"));
    let data = json!({
        "Values": values,
        "Chart": {"Name": about["name"], "AppVersion": about["appVersion"]},
        "Release": {"Name": release, "Namespace": namespace},
    });
    let mut helpers = BTreeMap::new();
    let mut templates = BTreeMap::new();
    for entry in fs::read_dir(chart.join("templates")).expect("templates") {
        let entry = entry.expect("a template");
        let text = fs::read_to_string(entry.path()).expect("a template");
        let nodes = parse(&mut tokens(&text).into_iter().peekable(), &mut helpers);
        templates.insert(entry.file_name().to_string_lossy().into_owned(), nodes);
    }
    templates.retain(|name, _| !name.starts_with('_'));
    templates.into_iter().map(|(name, nodes)| (name, text(&nodes, &data, &helpers))).collect()
}

pub(crate) fn yaml(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Overrides values. Mappings are merged.
fn merge(values: &mut Value, overrides: &Value) {
    match (values, overrides) {
        (Value::Object(values), Value::Object(overrides)) => {
            for (key, value) in overrides {
                merge(values.entry(key).or_insert(Value::Null), value);
            }
        }
        (value, given) => *value = given.clone(),
    }
}

type Helpers = BTreeMap<String, Vec<Node>>;

enum Token {
    Text(String),
    Action(Vec<String>),
}

enum Node {
    Text(String),
    Print(Vec<String>),
    /// Branches with their conditions. The condition of `else` is empty.
    If(Vec<(Vec<String>, Vec<Node>)>),
    With(Vec<String>, Vec<Node>),
}

/// Splits a template at `{{` and `}}`. A dash removes the white space on its side.
fn tokens(template: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once("{{") {
        let (action, after) = after.split_once("}}").expect("the end of an action");
        let text = if action.starts_with('-') { text.trim_end() } else { text };
        tokens.push(Token::Text(text.to_owned()));
        rest = if action.ends_with('-') { after.trim_start() } else { after };
        let action = action.trim_matches('-').trim();
        if !action.starts_with("/*") {
            tokens.push(Token::Action(words(action)));
        }
    }
    tokens.push(Token::Text(rest.to_owned()));
    tokens
}

/// Splits an action into names, numbers, quoted texts, and signs.
fn words(action: &str) -> Vec<String> {
    let spaced = action.replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// Parses nodes up to `end` or `else`, and collects helpers.
fn parse(tokens: &mut std::iter::Peekable<std::vec::IntoIter<Token>>, helpers: &mut Helpers) -> Vec<Node> {
    let mut nodes = Vec::new();
    loop {
        let ends = |token: &Token| matches!(token, Token::Action(words) if words[0] == "end" || words[0] == "else");
        match tokens.next_if(|token| !ends(token)) {
            None => return nodes,
            Some(Token::Text(text)) => nodes.push(Node::Text(text)),
            Some(Token::Action(words)) => match words[0].as_str() {
                "define" => {
                    let body = parse(tokens, helpers);
                    tokens.next();
                    helpers.insert(literal(&words[1]).to_owned(), body);
                }
                "with" => {
                    let body = parse(tokens, helpers);
                    tokens.next();
                    nodes.push(Node::With(words[1..].to_vec(), body));
                }
                "if" => {
                    let mut branches = vec![(words[1..].to_vec(), parse(tokens, helpers))];
                    while let Some(Token::Action(words)) = tokens.next().filter(|token| !is_end(token)) {
                        let condition = words.get(2..).unwrap_or_default().to_vec();
                        branches.push((condition, parse(tokens, helpers)));
                    }
                    nodes.push(Node::If(branches));
                }
                _ => nodes.push(Node::Print(words)),
            },
        }
    }
}

fn is_end(token: &Token) -> bool {
    matches!(token, Token::Action(words) if words[0] == "end")
}

fn literal(word: &str) -> &str {
    word.trim_matches('"')
}

fn text(nodes: &[Node], data: &Value, helpers: &Helpers) -> String {
    let evaluate = |words: &[String]| pipeline(&mut words.iter().map(String::as_str).peekable(), data, helpers);
    nodes
        .iter()
        .map(|node| match node {
            Node::Text(text) => text.clone(),
            Node::Print(words) => print(&evaluate(words)),
            Node::With(words, body) => match evaluate(words) {
                value if is_true(&value) => text(body, &value, helpers),
                _ => String::new(),
            },
            Node::If(branches) => {
                let branch = branches.iter().find(|(words, _)| words.is_empty() || is_true(&evaluate(words)));
                branch.map_or_else(String::new, |(_, body)| text(body, data, helpers))
            }
        })
        .collect()
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(bool) => *bool,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

fn print(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

type Words<'w> = std::iter::Peekable<std::vec::IntoIter<&'w str>>;

/// Evaluates commands separated by `|`, up to the end or a closing parenthesis.
fn pipeline<'w>(words: &mut impl Iterator<Item = &'w str>, data: &Value, helpers: &Helpers) -> Value {
    let mut words: Words<'w> = inner(words).into_iter().peekable();
    let mut piped = None;
    while words.peek().is_some() {
        let mut function = None;
        let mut arguments = Vec::new();
        while let Some(word) = words.next_if(|&word| word != "|") {
            match word {
                "(" => arguments.push(pipeline(&mut words, data, helpers)),
                _ if word.starts_with('"') => arguments.push(json!(literal(word))),
                _ if word.starts_with('.') => arguments.push(field(word, data)),
                _ if word.parse::<i64>().is_ok() => arguments.push(json!(word.parse::<i64>().ok())),
                _ => function = Some(word),
            }
        }
        words.next();
        arguments.extend(piped.take());
        piped = match function {
            Some(function) => Some(call(function, &arguments, helpers)),
            None => arguments.pop(),
        };
    }
    piped.unwrap_or_default()
}

/// Returns the words up to the closing parenthesis, or all words if there is none.
fn inner<'w>(words: &mut impl Iterator<Item = &'w str>) -> Vec<&'w str> {
    let mut depth = 0;
    let mut inner = Vec::new();
    for word in words {
        match word {
            ")" if depth == 0 => break,
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        inner.push(word);
    }
    inner
}

fn field(path: &str, data: &Value) -> Value {
    let fields = path.split('.').filter(|field| !field.is_empty());
    fields.fold(data.clone(), |value, field| value[field].clone())
}

fn call(function: &str, arguments: &[Value], helpers: &Helpers) -> Value {
    let word = |at: usize| arguments[at].as_str().unwrap_or_else(|| panic!("{function} {arguments:?}"));
    let number = |at: usize| usize::try_from(arguments[at].as_u64().expect("a number")).expect("a small number");
    match function {
        "include" => json!(text(&helpers[word(0)], &arguments[1], helpers)),
        "default" => arguments[usize::from(is_true(&arguments[1]))].clone(),
        "contains" => json!(word(1).contains(word(0))),
        "trunc" => json!(word(1).chars().take(number(0)).collect::<String>()),
        "trimSuffix" => json!(word(1).strip_suffix(word(0)).unwrap_or(word(1))),
        "printf" => {
            json!(arguments[1..].iter().fold(word(0).to_owned(), |text, to| text.replacen("%s", &print(to), 1)))
        }
        "nindent" => {
            let indent = " ".repeat(number(0));
            json!(word(1).lines().map(|line| format!("\n{indent}{line}")).collect::<String>())
        }
        "toYaml" => json!(match &arguments[0] {
            Value::Object(fields) => lines(fields),
            Value::Array(items) => items.iter().map(|item| format!("- {item}\n")).collect(),
            other => other.to_string(),
        }),
        _ => panic!("the function {function} is not known here"),
    }
}

/// Writes fields as JSON, which is valid YAML.
fn lines(fields: &Map<String, Value>) -> String {
    let line = |(key, value): (&String, &Value)| format!("{}: {value}\n", json!(key));
    fields.iter().map(line).collect()
}
