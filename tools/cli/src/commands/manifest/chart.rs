//! The objects as a Helm chart.

use super::objects::Deployed;
use super::template::{Parameters, TemplateForm, Value};
use super::tree::Tree;

/// Version of charts, and default tag of images.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the files of the chart.
pub(super) fn chart(deployed: &Deployed<'_>) -> Tree {
    let parameters = parameters(deployed);
    let file = |text: &str| parameters.render(text, TemplateForm::File);
    let mut notes = file(include_str!("chart/NOTES.txt"));
    if deployed.lease.is_some() {
        notes += include_str!("chart/NOTES-replaces.txt");
    }
    let files = [
        ("values.yaml", file(include_str!("chart/values.yaml"))),
        ("values.schema.json", include_str!("chart/values.schema.json").to_owned()),
        ("templates/_helpers.tpl", file(include_str!("chart/_helpers.tpl"))),
        ("templates/NOTES.txt", notes),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text)).into_iter();
    let templates = deployed.chart_files().into_iter().map(|file| (format!("templates/{}", file.name), file.chart()));
    Tree::new("Chart.yaml", file(include_str!("chart/Chart.yaml")), files.chain(templates))
}

/// Returns the parameters of the objects and of the other files.
fn parameters(deployed: &Deployed<'_>) -> Parameters {
    let mut parameters = deployed.parameters();
    let mut text = |name, text: &str| parameters.constant(name, Value::Text(text.to_owned()));
    let (repository, tag, digest) = parts(deployed.image);
    let (election_namespace, election_name) = deployed.lease.unwrap_or_default();
    text("chart", deployed.name);
    text("version", VERSION);
    text("scheduler_names", &deployed.scheduler_name_list());
    text("image_repository", repository);
    text("image_tag", if tag == VERSION { "" } else { tag });
    text("image_digest", digest);
    text("election_namespace", election_namespace);
    text("election_name", election_name);
    text("service_monitor", if deployed.has_service_monitor { "true" } else { "false" });
    parameters.constant("extra_pod_labels", Value::Mapping(String::new()));
    parameters
}

/// Splits an image into repository, tag and digest. Without tag and digest, the tag is `latest`.
fn parts(image: &str) -> (&str, &str, &str) {
    let (name, digest) = image.split_once('@').unwrap_or((image, ""));
    let path = name.rfind('/').map_or(0, |slash| slash + 1);
    match name[path..].find(':') {
        Some(colon) => (&name[..path + colon], &name[path + colon + 1..], digest),
        None if digest.is_empty() => (name, "latest", digest),
        None => (name, "", digest),
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn an_image_is_split_into_repository_tag_and_digest() {
        assert_eq!(parts("schedc:0.1.0"), ("schedc", "0.1.0", ""));
        assert_eq!(parts("host:5000/schedc"), ("host:5000/schedc", "latest", ""));
        assert_eq!(parts("host:5000/schedc:1"), ("host:5000/schedc", "1", ""));
        assert_eq!(parts("host/schedc@sha256:0a"), ("host/schedc", "", "sha256:0a"));
        assert_eq!(parts("schedc:1@sha256:0a"), ("schedc", "1", "sha256:0a"));
    }
}
