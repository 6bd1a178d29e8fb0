//! A page in headless Chromium.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use schedc_report::Report;

/// A page after its scripts have run.
pub(crate) struct Page {
    /// The document as HTML.
    pub(crate) text: String,
    /// Messages of the browser's console.
    console: Vec<String>,
}

impl Page {
    /// Opens a report at an anchor. Returns `None` without Chromium.
    pub(crate) fn of(report: &Report, anchor: &str) -> Option<Self> {
        Page::open(&report.html().expect("a page"), anchor)
    }

    /// Opens a report without its content security policy, and runs a script afterwards. Returns `None` without
    /// Chromium.
    pub(crate) fn with_script(report: &Report, script: &str) -> Option<Self> {
        let html = report.html().expect("a page");
        let (start, rest) = html.split_once("<meta http-equiv=").expect("the policy");
        let (_, rest) = rest.split_once('\n').expect("more lines");
        let html = format!("{start}{rest}").replace("</body>", &format!("<script>{script}</script></body>"));
        Page::open(&html, "")
    }

    fn open(html: &str, anchor: &str) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let program = chromium()?;
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let name = format!("report-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let (file, profile) = (folder.join(format!("{name}.html")), folder.join(name));
        std::fs::write(&file, html).expect("a file for the page");
        let run = Command::new(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--no-first-run"])
            .args(["--enable-logging=stderr", "--window-size=1440,1000", "--virtual-time-budget=10000", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("file://{}{anchor}", file.display()))
            .output()
            .expect("Chromium runs");
        let console = String::from_utf8_lossy(&run.stderr);
        let console = console.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        // The text keeps only drawn elements, without the data and the scripts.
        let (head, body) = text.split_once("</head>").expect("a page");
        let body = body.split("<script").map(|part| part.split_once("</script>").map_or(part, |(_, rest)| rest));
        let _ = (std::fs::remove_file(&file), std::fs::remove_dir_all(&profile));
        Some(Page { text: format!("{head}{}", body.collect::<String>()), console })
    }

    /// Checks that the page is drawn, and that the console has no message.
    #[track_caller]
    pub(crate) fn assert_ready(&self) {
        assert_eq!(self.console, Vec::<String>::new());
        assert!(self.text.contains(r#"data-state="ready""#), "{}", self.text);
    }
}

/// Returns the path of Chromium: `$CHROMIUM`, or a program with one of the usual names in `$PATH`.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = || std::env::split_paths(&path).collect::<Vec<_>>().into_iter();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = named.or_else(|| {
        names.iter().find_map(|name| folders().map(|folder| folder.join(name)).find(|program| program.is_file()))
    });
    if found.is_none() {
        eprintln!(
            "skipped: there is no Chromium; install it (`apt-get install chromium`), or set CHROMIUM to its path"
        );
    }
    found
}
