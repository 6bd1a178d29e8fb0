//! Pages of reports: size, hostile names, and their behaviour in a browser.

mod browser;
mod sample;

use browser::Page;
use sample::{HOSTILE, sample};

/// Returns the data of a page.
fn data(html: &str) -> serde_json::Value {
    let (_, rest) = html.split_once(r#"<script type="application/json" id="data">"#).expect("the data");
    let (json, _) = rest.split_once("</script>").expect("the end of the data");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn a_report_of_5000_nodes_and_10000_pods_has_at_most_2_mb() {
    let html = sample(5000, 10_000).html().expect("a page");
    assert!(html.len() <= 2_000_000, "{} bytes", html.len());
}

#[test]
fn hostile_names_are_data() {
    let html = sample(10, 20).html().expect("a page");
    assert_eq!(html.matches("<script").count(), 3, "one for the data, one for the library, one for the page");
    assert!(!html.contains("<img"));
    let strings = data(&html)["strings"].to_string();
    assert!(HOSTILE.iter().all(|name| strings.contains(&serde_json::json!(name).to_string())), "{strings}");
}

#[test]
fn a_page_draws_all_views_without_errors() {
    let Some(page) = Page::of(&sample(5000, 10_000), "") else { return };
    page.assert_ready();
    for title in ["Pods over time", "Utilisation per node", "Reasons of pending pods", "Pods", "Nodes"] {
        assert!(page.text.contains(&format!(">{title}</h2>")), "no {title}");
    }
    assert!(page.text.contains("1–50 of 10,000"));
    assert!(page.text.contains(r#"<canvas"#));
}

#[test]
fn hostile_names_are_inert_in_a_browser() {
    let Some(page) = Page::of(&sample(10, 20), "") else { return };
    page.assert_ready();
    assert!(!page.text.contains("<img") && !page.text.contains("data-ran"), "{}", page.text);
    assert!(page.text.contains("&lt;img src=x onerror="));
}

#[test]
fn the_address_selects_pods() {
    let Some(page) = Page::of(&sample(50, 200), "#q=shop/web-17") else { return };
    page.assert_ready();
    assert!(page.text.contains("shop/web-17<") && page.text.contains("shop/web-170<"));
    assert!(!page.text.contains("shop/web-16<"));
    assert!(page.text.contains("1–11 of 11 (200 in all)"));
}

#[test]
fn a_single_pod_is_shown_with_its_scores() {
    let Some(page) = Page::of(&sample(50, 200), "#q=pod:%22shop/web-17%22") else { return };
    page.assert_ready();
    assert!(page.text.contains("best other node") && page.text.contains("Node\u{200b}Resources\u{200b}Fit"));
}

#[test]
fn a_search_for_a_node_finds_its_pods_and_the_node() {
    let Some(page) = Page::of(&sample(50, 200), "#q=node:%22node-00007%22") else { return };
    page.assert_ready();
    assert!(page.text.contains("1–4 of 4 (200 in all)"), "the pods of the node");
    assert!(page.text.contains("1–1 of 1 (50 in all)"), "the node");
}

#[test]
fn a_search_without_results_shows_a_message() {
    let Some(page) = Page::of(&sample(50, 200), "#q=absent") else { return };
    page.assert_ready();
    assert!(page.text.contains("No row matches “absent”.") && page.text.contains("nothing found"));
}

#[test]
fn an_empty_report_has_texts_for_missing_data() {
    let Some(page) = Page::of(&sample(0, 0), "") else { return };
    page.assert_ready();
    for text in ["There are no nodes.", "Nothing changes over time.", "No pods.", "No pod is pending."] {
        assert!(page.text.contains(text), "no `{text}`");
    }
}

#[test]
fn every_view_is_saved_as_csv() {
    let collect = r#"
        const saved = [];
        URL.createObjectURL = (blob) => { saved.push(blob); return "about:blank"; };
        HTMLAnchorElement.prototype.click = () => {};
        document.querySelectorAll("[data-csv]").forEach((button) => button.click());
        Promise.all(saved.map((blob) => blob.text())).then((texts) => {
            const result = document.createElement("pre");
            result.textContent = texts.join("\n====\n");
            document.body.append(result);
        });"#;
    let Some(page) = Page::with_script(&sample(10, 20), collect) else { return };
    page.assert_ready();
    let (_, files) = page.text.split_once("<pre>").expect("the files");
    let files: Vec<&str> = files.split("\n====\n").collect();
    assert_eq!(files.len(), 5, "{files:?}");
    assert!(files[0].contains("Time (seconds),pending,running"), "{}", files[0]);
    assert!(files[1].contains("Node,cpu at 0s (percent)"), "{}", files[1]);
    assert!(files[3].contains("Pod,Node,State") && files[3].lines().count() >= 21, "{}", files[3]);
    assert!(files[3].contains("'=HYPERLINK"), "a formula is text: {}", files[3]);
}
