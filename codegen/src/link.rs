//! Options of the linker for programs that `schedc build` makes.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// rustc's option for programs that do not unwind. rustc requires that they abort after a panic.
const WITHOUT_UNWINDING: &str = "-Cforce-unwind-tables=no";
/// Platform on which rustc's own linker, lld, is the default.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// File in `OUT_DIR`.
const SCRIPT: &str = "small.ld";
/// Linker script that discards unwinding tables. It extends the linker's own script. It is necessary because the option
/// [`WITHOUT_UNWINDING`] leaves the tables of the standard library's generic functions in the program.
const SCRIPT_TEXT: &str = "\
    SECTIONS { /DISCARD/ : { *(.eh_frame) *(.eh_frame_hdr) *(.gcc_except_table .gcc_except_table.*) } }\n\
    INSERT AFTER .text;\n";

/// Makes cargo link a program without unwinding tables, and with only one copy of equal functions and of equal
/// constants. The conditions are that rustc's options exclude unwinding, and that rustc's own linker is used. If they
/// are not met, or after an error, the function does nothing, and the program is larger.
pub(crate) fn make_small(out_dir: &Path) {
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let target = env::var("TARGET").unwrap_or_default();
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let has_linker = env::var_os("RUSTC_LINKER").is_some();
    if !is_applicable(&target, &flags, has_linker) || !has_lld() {
        return;
    }
    let script = out_dir.join(SCRIPT);
    if fs::write(&script, SCRIPT_TEXT).is_ok() {
        // Code that compares addresses of immutable statics, such as `Bytes::truncate`, compares tables of functions.
        // Tables are merged only if their functions are equal.
        println!("cargo::rustc-link-arg=-Wl,--icf=all,--ignore-data-address-equality");
        println!("cargo::rustc-link-arg=-Wl,-T,{}", script.display());
    }
}

/// Returns whether target, options and linker meet the conditions of [`make_small`]. `flags` are rustc's options,
/// separated as in `CARGO_ENCODED_RUSTFLAGS`. `has_linker`: another linker is configured.
fn is_applicable(target: &str, flags: &str, has_linker: bool) -> bool {
    let flags: Vec<&str> = flags.split('\x1f').collect();
    let sets_linker = flags.iter().any(|flag| flag.contains("linker") || flag.contains("fuse-ld"));
    target == PLATFORM && flags.contains(&WITHOUT_UNWINDING) && !has_linker && !sets_linker
}

/// Returns whether rustc comes with lld, which some distributions leave out.
fn has_lld() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Ok(output) = Command::new(rustc).args(["--print", "sysroot"]).output() else { return false };
    let Ok(sysroot) = String::from_utf8(output.stdout) else { return false };
    let host = env::var_os("HOST").unwrap_or_default();
    is_in(Path::new(sysroot.trim_end()), &host)
}

fn is_in(sysroot: &Path, host: &OsStr) -> bool {
    sysroot.join("lib/rustlib").join(host).join("bin/gcc-ld/ld.lld").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_default_linker_of_programs_without_unwinding_has_options() {
        let build = "-Cforce-unwind-tables=no\x1f-Crelocation-model=static";
        assert!(is_applicable(PLATFORM, build, false));
        assert!(!is_applicable(PLATFORM, "", false));
        assert!(!is_applicable(PLATFORM, build, true));
        assert!(!is_applicable(PLATFORM, &format!("{build}\x1f-Clink-arg=-fuse-ld=bfd"), false));
        assert!(!is_applicable(PLATFORM, &format!("{build}\x1f-Clinker=gcc"), false));
        assert!(!is_applicable("aarch64-unknown-linux-gnu", build, false));
    }
}
