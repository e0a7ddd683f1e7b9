#!/usr/bin/env bash
# Looks for what tests/all.sh, whose seeds are fixed, cannot find: random seeds, more random programs, another Vulkan
# driver, and five minutes of fuzzing a target, with a limit on memory.
#
#   tests/nightly.sh            a random seed, which is printed first
#   tests/nightly.sh SEED       the same run again
#
# Each step prints the command that repeats it alone. Steps go on after one has failed; the exit status is 1 then.
set -uo pipefail
cd "$(dirname "$0")/.."

seed=${1:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
# Random programs a test of tests/lang/agreement/mod.rs, rounds of the property tests, seconds of random input to the window and
# to each fuzz target.
programs=${SHADEWRIGHT_NIGHTLY_PROGRAMS:-500}
# Random programs of the RPU.
rpu_programs=${SHADEWRIGHT_NIGHTLY_RPU_PROGRAMS:-10000}
rounds=${SHADEWRIGHT_NIGHTLY_ROUNDS:-10}
seconds=${SHADEWRIGHT_NIGHTLY_SECONDS:-60}
fuzzing=${SHADEWRIGHT_NIGHTLY_FUZZING:-300}
# Most MiB that a fuzz target may take, as docs/security.md promises.
memory=2048
echo "seed $seed: to repeat this run, tests/nightly.sh $seed"

# The drivers: Mesa's lavapipe, and SwiftShader, which Debian ships inside its package of Chromium.
install() {
    local run=; [ "$(id -u)" = 0 ] || run=sudo
    $run apt-get update -q && DEBIAN_FRONTEND=noninteractive $run apt-get install -qy --no-install-recommends "$@"
}
lavapipe() { ls /usr/share/vulkan/icd.d/lvp_icd*.json 2>/dev/null | head -1; }
swiftshader() { dpkg -L chromium chromium-common 2>/dev/null | grep -m 1 vk_swiftshader_icd.json; }
# driver NAME PACKAGE...: installs packages where the driver is missing.
driver() {
    local name=$1; shift
    [ -n "$("$name")" ] || install "$@" || exit 1
    [ -n "$("$name")" ] || { echo "tests/nightly.sh: $* have no driver $name" >&2; exit 1; }
}
driver lavapipe libvulkan1 mesa-vulkan-drivers
driver swiftshader chromium
command -v Xvfb >/dev/null || install xvfb libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon0 libxkbcommon-x11-0 || exit 1

failed=()
# step NAME=VALUE... COMMAND...: runs the command with these variables.
step() {
    printf '\n== %s\n' "$*"
    env "$@" || failed+=("$*")
}

for driver in "llvmpipe $(lavapipe)" "SwiftShader $(swiftshader)"; do
    # The tests fail where the first adapter is another one.
    on=("SHADEWRIGHT_TEST_ADAPTER=${driver%% *}" "VK_DRIVER_FILES=${driver#* }")
    step "${on[@]}" cargo test --locked --test render images::
    step "${on[@]}" cargo test --locked --test lang -- snippets:: rtsl::
    step "${on[@]}" "SHADEWRIGHT_SEED=$seed..$((seed + programs))" cargo test --locked --test lang agreement::
    # Path-traced images with other random numbers on each back end have the same means. Of a thousand comparisons one
    # fails by chance: compare again with other seeds.
    for scene in rtsl/cornell.rib rtsl/lamps.rib rtsl/figure-masonry.rib scenes/still.gltf; do
        step "${on[@]}" cargo run --quiet --locked -- compare "assets/$scene" --integrator path --between rpu,gpu \
            --seeds "$seed,$((seed ^ 1))" --spp 64 --size 96x72 --metric z --threshold 0.001
    done
done

# The most memory that files of 10 MB take, by reader and by stage: the table of docs/security.md.
step SHADEWRIGHT_MEMORY=whole cargo test --locked --release --test cli memory:: -- --nocapture --test-threads 1

# The images of the documentation, whole, with the program of that test; tests/render/images.rs renders a window of each.
step "SHADEWRIGHT=${CARGO_TARGET_DIR:-target}/release/shadewright" \
    assets/images/make.sh giant showcase instances cornell cost lines sum-layout
step git diff --exit-code --stat -- assets/images

# Every float of the domains of the standard library's transcendental functions.
step SHADEWRIGHT_MATH_EVERY=1 cargo test --locked --release --test lang math::

# The modules with property tests. Each round draws other cases.
modules=$(grep -rl 'proptest!' src --include='*.rs' | sed 's#^src/[^/]*/##; s#/mod\.rs$##; s#\.rs$##; s#/#::#g')
for round in $(seq 0 $((rounds - 1))); do
    # shellcheck disable=SC2086
    step "PROPTEST_RNG_SEED=$((seed + round))" cargo test --locked --lib -- $modules
done

# Programs of the RPU on every engine, with every instruction set of this CPU.
step "SHADEWRIGHT_SEED=$seed..$((seed + rpu_programs))" cargo test --locked --lib -- \
    dense_random_programs_leave_the_same_bits_on_every_engine_with_every_instruction_set

# The library and the program without the back end for GPUs, and without the window.
step cargo check --locked --no-default-features
step cargo check --locked --no-default-features --features gpu

# Random input to the window.
step cargo test --locked --test monkey -- --seed "$seed" --seconds "$seconds"

if cargo +nightly fuzz --version >/dev/null 2>&1; then
    # One codegen unit, the default, compiles the library on one core of all.
    units="--codegen-units=16"
    step cargo +nightly fuzz build "$units"
    for target in fuzz/fuzz_targets/*.rs; do
        target=$(basename "$target" .rs)
        # A C++ library of an image metric has two tables where the sanitizer wants one.
        step ASAN_OPTIONS=detect_odr_violation=0 cargo +nightly fuzz run "$units" "$target" -- \
            -seed=$((seed % 2147483647 + 1)) -max_total_time="$fuzzing" -rss_limit_mb="$memory"
    done
else
    echo "tests/nightly.sh: there is no cargo-fuzz for the nightly compiler: fuzzing is LEFT OUT" >&2
fi

if [ ${#failed[@]} -gt 0 ]; then
    printf '\nseed %s, failed:\n' "$seed"
    printf '  %s\n' "${failed[@]}"
    exit 1
fi
printf '\nseed %s: all passed\n' "$seed"
