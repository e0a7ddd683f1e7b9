#!/usr/bin/env bash
# What an edit costs: touches one file of each crate, and times `cargo build` of the program and the unit tests of that crate,
# built and run. Everything is built once before, which is not timed. Usage: benches/edit_loop.sh [CRATE]...
#
# Prints seconds, and their medians in the last line. With the whole library in one crate, `cargo build` took 30 s after an edit of any
# file (two cores of a Xeon, 2.8 GHz; median of three modules).
set -euo pipefail
cd "$(dirname "$0")/.."

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

cargo build --locked
cargo test --locked --workspace --lib --no-run
printf '%-14s %12s %12s\n' crate build test
builds=() tests=()
for crate in "${crates[@]}"; do
    touch "src/$crate/lib.rs"
    build=$(seconds cargo build --locked)
    # The crates below are as the build of all of them left them; only this one is tested.
    touch "src/$crate/lib.rs"
    test=$(seconds cargo test --locked -p "shadewright-${crate//_/-}" --lib)
    printf '%-14s %12s %12s\n' "$crate" "$build" "$test"
    builds+=("$build") tests+=("$test")
done
printf '%-14s %12s %12s\n' median "$(printf '%s\n' "${builds[@]}" | median)" "$(printf '%s\n' "${tests[@]}" | median)"
