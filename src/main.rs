//! The `shadewright` command.

fn main() -> std::process::ExitCode {
    shadewright::cli::main()
}
