//! A benchmark that runs itself under callgrind, which counts the same instructions every time.

use std::process::Command;

/// Set for the program that is counted.
const VARIABLE: &str = "SCHEDC_COUNTED";

/// Whether this is that program.
pub(crate) fn is_counted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Whether there is a callgrind on this machine.
pub(crate) fn is_installed() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok()
}

/// What callgrind wrote down at one time.
pub(crate) struct Dump {
    /// The last part of the name of the function at which it did, if it was at one.
    pub(crate) function: String,
    /// Instructions since the dump before.
    pub(crate) instructions: u64,
    /// The functions that they were of, if names are not compressed. What is inlined is none.
    #[allow(dead_code, reason = "not every benchmark asks")]
    pub(crate) ran: Vec<String>,
}

/// Runs this program under callgrind. The options say what is counted and when that is written down, and arguments are
/// those of the program. Dumps without instructions are left out.
///
/// `SCHEDC_KEEP_CALLGRIND` in the environment leaves callgrind's files in the temporary folder.
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
        // What is left behind is in the temporary folder.
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
    for line in written.lines() {
        if let Some(trigger) = line.strip_prefix("desc: Trigger: ") {
            function = trigger.rsplit("::").next().unwrap_or_default().trim_end_matches("()");
        } else if let Some(name) = line.strip_prefix("fn=") {
            ran.push(name.to_owned());
        } else if let Some(total) = line.strip_prefix("totals: ") {
            let instructions = total.trim().parse().unwrap_or(0);
            dumps.push(Dump { function: function.into(), instructions, ran: std::mem::take(&mut ran) });
        }
    }
    dumps.retain(|dump| dump.instructions > 0);
    dumps
}
