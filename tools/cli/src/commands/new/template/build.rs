fn main() {
    schedc_codegen::build("profiles");
}
