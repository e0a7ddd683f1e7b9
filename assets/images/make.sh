#!/usr/bin/env bash
# Makes the images of README.md and docs/ again, each with the command given here.
#
#     assets/images/make.sh                    all of them
#     assets/images/make.sh giant cost         those whose names are given
#     SHADEWRIGHT=FILE assets/images/make.sh   with this binary instead of a release build of the checkout
#
# The screenshots and contact sheets need what tests/all.sh installs: an X server without a screen and a GPU or Mesa's software driver.
set -euo pipefail
cd "$(dirname "$0")/../.."

program=${SHADEWRIGHT:-target/release/shadewright}
wanted=("$@")
if [ -z "${SHADEWRIGHT:-}" ]; then
    cargo build --release --locked
fi

# make NAME COMMAND…: runs the command if the image is wanted.
make() {
    local name=$1
    shift
    if [ ${#wanted[@]} -gt 0 ]; then
        local w
        for w in "${wanted[@]}"; do
            [ "$w" != "$name" ] || break
        done
        [ "$w" = "$name" ] || return 0
    fi
    echo "== $name: $*"
    "$@"
}

out=assets/images
make giant "$program" assets/first/giant.rib --render $out/giant.png --backend rpu
make showcase "$program" --render $out/showcase.png --backend rpu
make instances "$program" assets/scenes/instances.rib --render $out/instances.png --backend rpu --size 512x384 --spp 16
make cornell "$program" assets/rtsl/cornell.rib --render $out/cornell.png --backend rpu --spp 256
make mandelbrot "$program" assets/pfman/mandelbrot.rib --render $out/mandelbrot.png --backend rpu --size 640x320
make languages "$program" assets/pfman/languages.rib --render $out/languages.png --backend rpu --size 480x270 --spp 16
make cost "$program" simulate --size 320x240 --spp 1 --heatmap $out/cost.png
make lines "$program" assets/scenes/showcase.rib -I assets/shaders --render $out/lines.svg --model hidden-line --size 640x480
make sum-layout "$program" silicon assets/silicon/sum.si --emit svg -o $out/sum-layout.svg
make windows cargo bench --bench viewer -- screenshots --folder "$PWD/$out"
make gallery env SHADEWRIGHT_BLESS=1 cargo test --release --test golden gallery:: sheet
