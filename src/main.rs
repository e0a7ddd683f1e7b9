//! The `shadewright` command.

mod cli;

use mimalloc::MiMalloc;

// glibc's allocator keeps what the window's many threads have freed: after 400 s of random input
// (`cargo test --release --test monkey`) the window took 500 MiB with it and 320 with this one.
// Linking the built-in scene and drawing 64 × 48 pixels of it takes 0.16 s of processor time
// instead of 0.20.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> std::process::ExitCode {
    #[cfg(unix)]
    ignore_file_size_signal();
    #[cfg(all(unix, not(target_os = "macos")))]
    let _folder = runtime_folder();
    cli::main()
}

/// Lets a write beyond the limit on file sizes (`ulimit -f`) fail, in place of ending the process:
/// then the error is reported, and the temporary file is removed.
#[cfg(unix)]
fn ignore_file_size_signal() {
    // SAFETY: the process has a single thread so far, and ignoring a signal runs no code in it. The
    // standard library has no call for it; a handler by a crate costs 20 dependencies' lines more.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Points `XDG_RUNTIME_DIR` to a private folder where it is not set, as in containers: GPU drivers
/// print an error without it. The folder exists until the value is dropped.
#[cfg(all(unix, not(target_os = "macos")))]
fn runtime_folder() -> Option<tempfile::TempDir> {
    use std::os::unix::fs::PermissionsExt;
    const NAME: &str = "XDG_RUNTIME_DIR";
    if std::env::var_os(NAME).is_some_and(|folder| std::path::Path::new(&folder).is_absolute()) {
        return None;
    }
    let for_its_owner = std::fs::Permissions::from_mode(0o700);
    // Without it drivers print their message, and rendering works.
    let folder = tempfile::Builder::new().prefix("shadewright-").permissions(for_its_owner).tempdir().ok()?;
    // SAFETY: the process has a single thread so far, so nothing reads the environment at the same
    // time.
    unsafe { std::env::set_var(NAME, folder.path()) };
    Some(folder)
}
