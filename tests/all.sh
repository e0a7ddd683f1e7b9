#!/usr/bin/env bash
# Passes every check and test of Shadewright on a fresh Debian or Ubuntu machine that has Rust, a C++ compiler and (as root or with sudo)
# apt-get. GPU code is tested on Mesa's software Vulkan driver, which this installs where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! ls /usr/share/vulkan/icd.d/*lvp* >/dev/null 2>&1; then
    if ! command -v apt-get >/dev/null; then
        echo "tests/all.sh: install Mesa's software Vulkan driver (lavapipe) first" >&2
        exit 1
    fi
    run=; [ "$(id -u)" = 0 ] || run=sudo
    $run apt-get update -q
    DEBIAN_FRONTEND=noninteractive $run apt-get install -qy --no-install-recommends libvulkan1 mesa-vulkan-drivers
fi

step() { printf '\n== %s\n' "$*"; "$@"; }
step cargo fmt --check
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
