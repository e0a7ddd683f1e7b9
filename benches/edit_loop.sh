#!/usr/bin/env bash
# What an edit costs: touches one file of each crate, and times `cargo build` of the program and the unit tests of that crate,
# built and run. Everything is built once before, which is not timed.
#
#     benches/edit_loop.sh [CRATE]...
#     benches/edit_loop.sh --check        builds nothing: the crates have packages and files, and the table is printed
#
# Prints seconds, and their medians in the last line: 14.7 s and 7.5 s on two cores of an EPYC with AVX2. With the
# whole library in one crate, `cargo build` took 30 s after an edit of any file, and the tests of one module 55 to 85 s (two cores of a
# Xeon, 2.8 GHz; median of three modules).
set -euo pipefail
cd "$(dirname "$0")/.."

package() { echo "shadewright-${1//_/-}"; }
edit() { touch "src/$1/lib.rs"; }
prepare() {
    cargo build --locked
    cargo test --locked --workspace --lib --no-run
}
build() { cargo build --locked; }
unit_tests() { cargo test --locked -p "$(package "$1")" --lib; }
if [ "${1:-}" = --check ]; then
    shift
    edit() { [ -f "src/$1/lib.rs" ] || { echo "edit_loop.sh: there is no src/$1/lib.rs" >&2; exit 1; }; }
    prepare() { :; }
    build() { :; }
    unit_tests() { cargo pkgid --locked "$(package "$1")"; }
fi

crates=("$@")
if [ ${#crates[@]} = 0 ]; then
    for manifest in src/*/Cargo.toml; do crates+=("$(basename "$(dirname "$manifest")")"); done
fi
# Seconds that a command takes; what it prints is kept for a failure.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
seconds() {
    local start; start=$(date +%s.%N)
    "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    awk -v from="$start" -v to="$(date +%s.%N)" 'BEGIN { printf "%.1f", to - from }'
}
median() { sort -n | awk '{ x[NR] = $1 } END { printf "%.1f", (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'; }

prepare
printf '%-14s %12s %12s\n' crate build test
builds=() tests=()
for crate in "${crates[@]}"; do
    edit "$crate"
    build=$(seconds build)
    # The crates below are as the build of all of them left them (src/test_features); only this one is tested.
    edit "$crate"
    test=$(seconds unit_tests "$crate")
    printf '%-14s %12s %12s\n' "$crate" "$build" "$test"
    builds+=("$build") tests+=("$test")
done
printf '%-14s %12s %12s\n' median "$(printf '%s\n' "${builds[@]}" | median)" "$(printf '%s\n' "${tests[@]}" | median)"
