#!/usr/bin/env bash
# Passes every check and test of Shadewright on a fresh Debian or Ubuntu machine that has Rust, a C++ compiler and (as root or with sudo)
# apt-get. GPU code is tested on Mesa's software Vulkan driver, the window on an X server without a screen; this installs both where they
# are missing.
set -euo pipefail
cd "$(dirname "$0")/.."

# Packages, and for each the sign that it is installed: a program, a library, or Mesa's driver.
has_library() { ldconfig -p | grep -qF "$1 "; }
missing=()
ls /usr/share/vulkan/icd.d/*lvp* >/dev/null 2>&1 || missing+=(libvulkan1 mesa-vulkan-drivers)
command -v Xvfb >/dev/null || missing+=(xvfb)
command -v python3 >/dev/null || missing+=(python3)
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium)
command -v iverilog >/dev/null || missing+=(iverilog)
command -v yosys >/dev/null || missing+=(yosys)
# Render farms: a Slurm of one node, and Python for the command line of Open Job Description.
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
[ -x /usr/sbin/slurmctld ] || missing+=(slurmctld)
[ -x /usr/sbin/slurmd ] || missing+=(slurmd)
[ -x /usr/sbin/munged ] || missing+=(munge)
command -v sbatch >/dev/null || missing+=(slurm-client)
# The comparison with Mitsuba: its compiler.
has_library libLLVM.so.19.1 || missing+=(libllvm19)
has_library libX11.so.6 || missing+=(libx11-6)
has_library libX11-xcb.so.1 || missing+=(libx11-xcb1)
has_library libXcursor.so.1 || missing+=(libxcursor1)
has_library libXi.so.6 || missing+=(libxi6)
has_library libxkbcommon.so.0 || missing+=(libxkbcommon0)
has_library libxkbcommon-x11.so.0 || missing+=(libxkbcommon-x11-0)
if [ ${#missing[@]} -gt 0 ]; then
    if ! command -v apt-get >/dev/null; then
        echo "tests/all.sh: install these first, as your system calls them: ${missing[*]}" >&2
        exit 1
    fi
    run=; [ "$(id -u)" = 0 ] || run=sudo
    $run apt-get update -q
    DEBIAN_FRONTEND=noninteractive $run apt-get install -qy --no-install-recommends "${missing[@]}"
fi

# python_packages NAME PACKAGE==VERSION...: prints the folder of programs of a Python environment that has these packages.
python_packages() {
    local folder; folder=$(realpath -m "${CARGO_TARGET_DIR:-target}/$1"); shift
    [ -x "$folder/bin/python3" ] || python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
    echo "$folder/bin"
}
# Open Job Description's own command line, and Mitsuba, of the versions that the tests were written with.
if [ -z "${SHADEWRIGHT_OPENJD:-}" ]; then
    openjd=$(python_packages openjd openjd-cli==0.8.0)
    export SHADEWRIGHT_OPENJD=$openjd/openjd
fi
mitsuba=$(python_packages mitsuba mitsuba==3.9.0 numpy)

# Each file of tests is a program that links all of Shadewright: with line tables and incremental compilation the build takes 18 GB
# of disk, without them 2.5 GB. Messages of panics name their line either way.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0

step() { printf '\n== %s\n' "$*"; "$@"; }
step cargo fmt --check
step tests/words.sh
step cargo clippy --all-targets --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" step cargo doc --no-deps --locked

# Some tests need the Stanford bunny, which is not part of the repository.
meshes=${SHADEWRIGHT_MESHES:-../shared/meshes}
skip=()
if [ ! -f "$meshes/bunny.ply" ]; then
    echo "tests/all.sh: $meshes/bunny.ply is not there: tests with \"stanford_bunny\" in their name are LEFT OUT;" \
        "set SHADEWRIGHT_MESHES to the folder that holds it" >&2
    skip=(--skip stanford_bunny)
fi
step cargo test --locked -- "${skip[@]}"

# Every measurement at its smallest size. The benchmarks also read the commands of pages and comments that run them.
benchmarks=()
for folder in benches/*/main.rs; do benchmarks+=(--bench "$(basename "$(dirname "$folder")")"); done
step cargo test --locked "${benchmarks[@]}" -- --check
program=${CARGO_TARGET_DIR:-target}/debug/shadewright
step python3 benches/cubes.py --check
step python3 benches/startup.py "$program" --check
step python3 benches/generating_renderers.py --check --program "$program"
step python3 benches/against_embree.py --check --program "$program"
step benches/edit_loop.sh --check
# The scene of the comparison with Mitsuba: both its files agree, and ours is accepted.
step python3 benches/peers/showroom.py --check --program "$program"
# The comparison itself: it reads our images, and both programs render the same.
step "$mitsuba/python3" benches/peers/against_mitsuba.py --check --program "$program"
