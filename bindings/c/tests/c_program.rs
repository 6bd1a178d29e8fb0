//! The program `conformance.c`, with the static and with the shared library.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use crate::corpora::{corpora, profiles};

/// System libraries of Rust's standard library. The linker of macOS adds them itself.
const SYSTEM_LIBRARIES: &[&str] = if cfg!(target_os = "linux") { &["-lpthread", "-ldl", "-lm"] } else { &[] };

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the folder of the libraries: cargo puts them next to the test programs.
pub(crate) fn libraries() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Compiles a C file. `None` without a C compiler.
fn program(name: &str, source: &Path, library: &[String]) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(name);
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(&compiler);
    command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-g", "-o"]).arg(&program).arg("-I");
    command.arg(package.join("include")).arg(source).args(library).args(SYSTEM_LIBRARIES);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            // The test passes even if this write fails.
            let _ = writeln!(
                io::stderr().lock(),
                "skipped {name}: the C compiler {} does not run: {error}; install one, or set CC",
                compiler.display()
            );
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn static_library() -> [String; 1] {
    [libraries().join("libschedc_c.a").display().to_string()]
}

fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance.c")
}

pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the code of a language in docs/libraries.md, and the output below it.
pub(crate) fn example(language: &str) -> (String, String) {
    let page = fs::read_to_string(root().join("docs/libraries.md")).unwrap();
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    let (code, rest) = rest.split_once("```").unwrap();
    let (_, rest) = rest.split_once("```text\n").unwrap();
    (code.to_owned(), rest.split_once("```").unwrap().0.to_owned())
}

#[test]
fn a_program_with_the_static_library_calls_every_function() {
    let Some(program) = program("conformance-static", &conformance(), &static_library()) else { return };
    assert_eq!(run(&mut Command::new(program)), "every function was called\n");
}

#[test]
fn a_program_with_the_shared_library_calls_every_function() {
    let folder = libraries().display().to_string();
    let library = [format!("-L{folder}"), "-lschedc_c".to_owned(), format!("-Wl,-rpath,{folder}")];
    let Some(program) = program("conformance-shared", &conformance(), &library) else { return };
    assert_eq!(run(&mut Command::new(program)), "every function was called\n");
}

#[test]
fn the_program_evaluates_scenarios_like_the_rust_interface() {
    let Some(program) = program("conformance-scenarios", &conformance(), &static_library()) else { return };
    let corpora = corpora();
    let found = run(Command::new(&program).arg("evaluate").arg(&corpora.scenarios).args(profiles()));
    assert!(
        found == fs::read_to_string(&corpora.expected).unwrap(),
        "the lines differ from {}",
        corpora.expected.display()
    );
}

#[test]
fn the_program_of_the_documentation_prints_what_it_shows() {
    let (code, output) = example("c");
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documentation.c");
    fs::write(&source, code).unwrap();
    let Some(program) = program("documentation", &source, &static_library()) else { return };
    assert_eq!(run(&mut Command::new(program)), output);
}

/// Returns the command that runs a program under Valgrind. Its exit code is 9 after a memory error. `None` without
/// Valgrind.
fn under_valgrind(program: &Path) -> Option<Command> {
    if let Err(error) = Command::new("valgrind").arg("--version").output() {
        // The test passes even if this write fails.
        let _ = writeln!(io::stderr().lock(), "skipped the search for memory errors: valgrind does not run: {error}");
        return None;
    }
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=9"]).arg(program);
    Some(command)
}

#[test]
fn calls_from_c_have_no_memory_errors() {
    if slow_tests::is_skipped("Valgrind is slow") {
        return;
    }
    let Some(program) = program("conformance-valgrind", &conformance(), &static_library()) else { return };
    let Some(mut valgrind) = under_valgrind(&program) else { return };
    assert_eq!(run(&mut valgrind), "every function was called\n");
}

#[test]
fn arbitrary_bytes_cause_no_memory_errors() {
    if slow_tests::is_skipped("Valgrind is slow") {
        return;
    }
    let Some(mut valgrind) = under_valgrind(&env::current_exe().unwrap()) else { return };
    let output = run(valgrind.arg("arbitrary_bytes_cause_errors_or_answers"));
    assert!(output.contains("1 passed"), "{output}");
}
