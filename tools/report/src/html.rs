//! The page: data, styles and scripts in one file.

/// The chart library, with its licence.
const LIBRARY: &str = concat!("/*\n", include_str!("page/uplot.LICENSE"), "\n*/\n", include_str!("page/uplot.min.js"));
const SCRIPT: &str = concat!(
    "(function () {\n\"use strict\";\n",
    include_str!("page/base.js"),
    include_str!("page/search.js"),
    include_str!("page/table.js"),
    include_str!("page/charts.js"),
    include_str!("page/heat_map.js"),
    include_str!("page/main.js"),
    "}());\n"
);
const STYLE: &str = concat!(include_str!("page/uplot.min.css"), "\n", include_str!("page/style.css"));

/// Hashes of [`LIBRARY`], [`SCRIPT`] and [`STYLE`] for the content security policy: base64 of SHA-256. After a
/// change of the files, the test of these constants prints the new hashes.
const LIBRARY_HASH: &str = "2stb3H8YuGER6WDECCPwDlJbyCs7JTwsS3pyqk76xWY=";
const SCRIPT_HASH: &str = "9Ts9Xefr8ioFjoKl7o+pNptqQ3FPmYnPxBtpk0UUZoA=";
const STYLE_HASH: &str = "15Kluqc5zB/7lPIrsHX0y1fehAvUP/uxe4nBE2vcgBc=";

/// Returns a page with this title and data.
pub(crate) fn page(title: &str, data: &str) -> String {
    let (title, data) = (text(title), script_data(data));
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{LIBRARY_HASH}' 'sha256-{SCRIPT_HASH}'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<noscript>This report draws its charts and tables with JavaScript, which this browser does not run. The report makes no connections.</noscript>
<script type="application/json" id="data">{data}</script>
<script>{LIBRARY}</script>
<script>{SCRIPT}</script>
</body>
</html>
"#
    )
}

/// Escapes a text for HTML.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Escapes JSON for a script element. These characters occur only in strings, where JSON allows the escapes.
fn script_data(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => escaped += &format!("\\u{:04x}", u32::from(character)),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use ring::digest::{SHA256, digest};

    use super::*;

    #[test]
    fn the_content_security_policy_has_the_hashes_of_the_scripts_and_styles() {
        let hash = |text: &str| STANDARD.encode(digest(&SHA256, text.as_bytes()));
        let hashes = [LIBRARY, SCRIPT, STYLE].map(hash);
        assert_eq!([LIBRARY_HASH, SCRIPT_HASH, STYLE_HASH], hashes.each_ref().map(String::as_str));
    }

    #[test]
    fn data_cannot_end_its_element() {
        let data = "</script><script>alert(1)</script><!-- & \u{2028}\u{2029}";
        let json = serde_json::to_string(data).expect("JSON");
        let escaped = script_data(&json);
        assert!(!escaped.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).expect("JSON"), data);
    }

    #[test]
    fn titles_are_text() {
        let page = page("<img src=x onerror=alert(1)>", "{}");
        assert!(page.contains("<title>&lt;img src=x onerror=alert(1)&gt;</title>"));
    }

    #[test]
    fn a_page_refers_to_no_other_file() {
        // The library is left out: its comment names its home page.
        let parts = [page("", "{}").replace(LIBRARY, ""), SCRIPT.to_owned(), STYLE.to_owned()];
        for part in parts {
            assert!(!part.contains("http://") && !part.contains("https://") && !part.contains("url("), "{part}");
            assert!(!part.contains("innerHTML") && !part.contains("eval("), "{part}");
        }
    }
}
