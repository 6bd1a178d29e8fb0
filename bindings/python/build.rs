//! Lets `cargo build --workspace` link the module on macOS, where only the interpreter has the functions of Python.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
