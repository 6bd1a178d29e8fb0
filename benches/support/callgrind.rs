//! A benchmark that runs itself under callgrind, which counts the same instructions every time.

use std::process::Command;

/// Environment variable of the counted program.
const VARIABLE: &str = "SCHEDC_COUNTED";

/// Returns whether this is the counted program.
pub(crate) fn is_counted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Returns whether callgrind is installed.
pub(crate) fn is_installed() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok()
}

/// One dump of callgrind.
pub(crate) struct Dump {
    /// Last part of the name of the function that triggered the dump, if one did.
    pub(crate) function: String,
    /// Instructions since the previous dump.
    pub(crate) instructions: u64,
    /// Executed functions, if names are not compressed. Inlined functions are not included.
    #[allow(dead_code, reason = "not every benchmark uses it")]
    pub(crate) ran: Vec<String>,
    /// The instructions of each executed function without those of called functions, if names and positions are not
    /// compressed. A function can occur more than once.
    #[allow(dead_code, reason = "not every benchmark uses it")]
    pub(crate) by_function: Vec<(String, u64)>,
}

/// Runs this program under callgrind, with options for callgrind and arguments for the program. Omits dumps without
/// instructions.
///
/// The environment variable `SCHEDC_KEEP_CALLGRIND` keeps callgrind's files in the temporary folder.
pub(crate) fn run(options: &[String], arguments: &[&str]) -> Result<Vec<Dump>, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let folder = std::env::temp_dir().join(format!("schedc-callgrind-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = folder.join("callgrind.out");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--combine-dumps=yes", "--dump-instr=no", "--dump-line=no"])
        .args(options)
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(arguments)
        .env(VARIABLE, "1")
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}"))?;
    let written = std::fs::read_to_string(&file);
    if std::env::var_os("SCHEDC_KEEP_CALLGRIND").is_none() {
        // A failure only leaves files in the temporary folder.
        let _ = std::fs::remove_dir_all(&folder);
    }
    if !output.status.success() {
        return Err(format!("valgrind failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(dumps(&written.map_err(|error| format!("{}: {error}", file.display()))?))
}

fn dumps(written: &str) -> Vec<Dump> {
    let mut dumps = Vec::new();
    let mut function = "";
    let mut ran = Vec::new();
    let mut by_function: Vec<(String, u64)> = Vec::new();
    let mut is_call = false;
    for line in written.lines() {
        if let Some(trigger) = line.strip_prefix("desc: Trigger: ") {
            function = trigger.rsplit("::").next().unwrap_or_default().trim_end_matches("()");
        } else if let Some(name) = line.strip_prefix("fn=") {
            ran.push(name.to_owned());
            by_function.push((name.to_owned(), 0));
        } else if line.starts_with("calls=") {
            // The next line has the instructions of the called function.
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let instructions = line.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
            if let Some((_, own)) = by_function.last_mut().filter(|_| !std::mem::take(&mut is_call)) {
                *own += instructions;
            }
        } else if let Some(total) = line.strip_prefix("totals: ") {
            let instructions = total.trim().parse().unwrap_or(0);
            let (ran, by_function) = (std::mem::take(&mut ran), std::mem::take(&mut by_function));
            dumps.push(Dump { function: function.into(), instructions, ran, by_function });
        }
    }
    dumps.retain(|dump| dump.instructions > 0);
    dumps
}
