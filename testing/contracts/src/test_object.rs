//! Objects of histories.

use std::fmt;

use schedc_objects::{AnyObject, Kinds, Manifests};

/// An object with its variants.
pub(crate) struct TestObject {
    pub(crate) variants: Vec<AnyObject>,
}

impl TestObject {
    pub(crate) fn kind(&self) -> &'static str {
        self.variants[0].kind()
    }
    /// Returns a variant in YAML, without the uid that [`complete`] adds.
    pub(crate) fn manifest(&self, variant: usize) -> String {
        let mut object = self.variants[variant].clone();
        let added = uid(&object);
        let metadata = object.metadata_mut();
        metadata.uid = metadata.uid.take().filter(|uid| *uid != added);
        let yaml = object.to_json().ok().and_then(|json| serde_saphyr::to_string(&json).ok());
        yaml.unwrap_or_default()
    }
    /// Returns `namespace/name` for namespaced objects, else the name.
    pub(crate) fn name(&self) -> String {
        name(&self.variants[0])
    }
}

impl fmt::Display for TestObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.name())
    }
}

fn name(object: &AnyObject) -> String {
    match object.namespace() {
        "" => object.name().to_owned(),
        namespace => format!("{namespace}/{}", object.name()),
    }
}

/// Reads the objects of manifests, and groups those with the same kind and name.
pub(crate) fn read(manifests: &str, kinds: Kinds) -> Result<Vec<TestObject>, String> {
    let mut objects: Vec<TestObject> = Vec::new();
    for (at, document) in documents(manifests).into_iter().enumerate() {
        let read = Manifests::parse_with(&format!("manifest {}", at + 1), &document, kinds);
        let Manifests { nodes, pods, others, skipped, .. } = read.map_err(|error| error.to_string())?;
        if let Some(kind) = skipped.keys().next() {
            return Err(format!("manifest {}: scheduling ignores objects of kind {kind}", at + 1));
        }
        let nodes = nodes.into_iter().map(|node| node.object.into());
        let pods = pods.into_iter().map(|pod| pod.object.into());
        for mut object in nodes.chain(pods).chain(others.into_iter().map(|other| other.object)) {
            complete(&mut object);
            let is_same = |known: &&mut TestObject| known.kind() == object.kind() && known.name() == name(&object);
            match objects.iter_mut().find(is_same) {
                Some(known) => known.variants.push(object),
                None => objects.push(TestObject { variants: vec![object] }),
            }
        }
    }
    if objects.is_empty() { Err("the manifests contain no objects".to_owned()) } else { Ok(objects) }
}

fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.lines() {
        match (line.trim_end(), documents.last_mut()) {
            ("---", _) => documents.push(String::new()),
            (_, Some(document)) => document.extend([line, "\n"]),
            (_, None) => {}
        }
    }
    let has_content = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    documents.retain(|document| document.lines().any(has_content));
    documents
}

/// Adds the namespace and the uid if they are missing.
fn complete(object: &mut AnyObject) {
    if object.has_namespace() && object.namespace().is_empty() {
        object.metadata_mut().namespace = Some("default".to_owned());
    }
    let uid = uid(object);
    object.metadata_mut().uid.get_or_insert(uid);
}

fn uid(object: &AnyObject) -> String {
    format!("{}-{}", object.kind(), name(object))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn misspelt_fields_are_errors() {
        let manifests = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeSelecter: {pool: gpu}}\n";
        let error = read(manifests, Kinds::default()).err().unwrap_or_default();
        expect!["manifest 2:4: Pod default/a: spec.nodeSelecter: unknown field; did you mean `nodeSelector`?"]
            .assert_eq(&error);
    }
}
