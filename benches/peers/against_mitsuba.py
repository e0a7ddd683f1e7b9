#!/usr/bin/env python3
"""Renders Mitsuba 3's Cornell box by paths with Shadewright and with Mitsuba alternately, and prints the ratio of their rates, and of their times to the same error.

    benches/peers/against_mitsuba.py [--turns N] [--size N] [--spp N] [--backend rpu|gpu] [--error 0.01] [--json FILE]

Needs `pip install mitsuba numpy` and the library of LLVM 19 (Debian: libllvm19). Both programs get the same box: the scene is what
`mitsuba.cornell_box()` gives, written as RIB for us. Paths have 8 segments at most, pixels a box filter.

Rates are million samples a second of wall time on all cores. Mitsuba's is that of its `llvm_ad_rgb` variant once its kernels are
compiled and the scene is loaded; ours is that of the whole process, with reading, compiling and writing. The time to an error is that of as many
samples as an image needs for a root mean square error of that share of its mean, against an image of Mitsuba's with many samples:
the samples are doubled until the error is below, and the last step is interpolated on the logarithms.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

os.environ.setdefault("DRJIT_LIBLLVM_PATH", "libLLVM.so.19.1")
import mitsuba as mi  # noqa: E402 (the variable must be set first)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SEGMENTS = 8

# Mitsuba's light reflects as well.
MATERIAL = """#include "pbr.rtsl"

class Lamp : Lambert;
public color radiance;

void emission() {
    rt_EmissionColor = dot(rt_RayDirection, rt_GeometricNormal) < 0. ? radiance : color(0.);
}
"""

RECTANGLE = [[(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]]
CUBE = [
    [(-1, -1, -1), (-1, 1, -1), (1, 1, -1), (1, -1, -1)],
    [(-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)],
    [(-1, -1, -1), (1, -1, -1), (1, -1, 1), (-1, -1, 1)],
    [(-1, 1, -1), (-1, 1, 1), (1, 1, 1), (1, 1, -1)],
    [(-1, -1, -1), (-1, -1, 1), (-1, 1, 1), (-1, 1, -1)],
    [(1, -1, -1), (1, 1, -1), (1, 1, 1), (1, -1, 1)],
]


def numbers(values):
    return " ".join(f"{float(value):.9g}" for value in values)


def as_rib(scene, size):
    """The box in RIB. Its camera looks along -z from z = 3.9; RenderMan's looks along +z."""
    sensor = scene["sensor"]
    camera = np.array(sensor["to_world"].matrix, dtype=float)
    lines = [
        f"Format {size} {size} 1",
        'PixelFilter "box" 1 1',
        f'Projection "perspective" "fov" [{sensor["fov"]}]',
        f'Integrator "path" "paths" "int maxPathLength" [{SEGMENTS - 1}]',
        f"Translate {numbers([-camera[0, 3], -camera[1, 3], camera[2, 3]])}",
        "Scale 1 1 -1",
        "WorldBegin",
    ]
    for shape in scene.values():
        if not isinstance(shape, dict) or shape.get("type") not in ("rectangle", "cube"):
            continue
        matrix = np.array(shape["to_world"].matrix, dtype=float)
        reflectance = scene[shape["bsdf"]["id"]]["reflectance"]["value"]
        surface = f'"pbr.rtsl:Lambert" "color diffuse" [{numbers(reflectance)}]'
        if "emitter" in shape:
            radiance = shape["emitter"]["radiance"]["value"]
            surface = f'"lamp.rtsl:Lamp" "color diffuse" [{numbers(reflectance)}] "color radiance" [{numbers(radiance)}]'
        lines += ["AttributeBegin", f"Surface {surface}"]
        for face in RECTANGLE if shape["type"] == "rectangle" else CUBE:
            corners = [(matrix @ [*corner, 1.0])[:3] for corner in face]
            lines.append(f'Polygon "P" [{numbers(np.concatenate(corners))}]')
        lines.append("AttributeEnd")
    return "\n".join(lines + ["WorldEnd"]) + "\n"


class Ours:
    """Shadewright, a process for each image."""

    def __init__(self, options, folder, scene):
        self.options, self.folder, self.scene = options, folder, scene
        (folder / "lamp.rtsl").write_text(MATERIAL)

    def render(self, size, samples, seed):
        path, image = self.folder / f"box{size}.rib", self.folder / "ours.exr"
        path.write_text(as_rib(self.scene, size))
        command = [self.options.program, path, "--render", image, "--spp", samples, "--seed", seed]
        command += ["--backend", self.options.backend, "-I", ROOT / "assets/rtsl"]
        command += ["--pattern", "sobol"] if samples & (samples - 1) == 0 else []
        start = time.perf_counter()
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seconds = time.perf_counter() - start
        if done.returncode != 0:
            sys.exit(f"against_mitsuba.py: this failed: {' '.join(map(str, command))}\n{done.stdout}")
        return np.array(mi.Bitmap(str(image)).convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float32)), seconds


class Mitsubas:
    """Mitsuba, in this process."""

    def __init__(self, scene):
        self.scene, self.loaded = scene, {}

    def render(self, size, samples, seed):
        if size not in self.loaded:
            scene = dict(self.scene)
            film = {**scene["sensor"]["film"], "width": size, "height": size, "rfilter": {"type": "box"}}
            scene["sensor"] = {**scene["sensor"], "film": film}
            scene["integrator"] = {"type": "path", "max_depth": SEGMENTS}
            self.loaded[size] = mi.load_dict(scene)
            np.array(mi.render(self.loaded[size], spp=samples, seed=seed))
        start = time.perf_counter()
        image = np.array(mi.render(self.loaded[size], spp=samples, seed=seed))
        return image, time.perf_counter() - start


def error_of(image, reference):
    """Root mean square of the differences over the mean of the reference."""
    return float(np.sqrt(np.mean((image - reference) ** 2)) / np.mean(reference))


def time_to(program, reference, size, wanted):
    """Seconds and samples to an error."""
    before, samples = None, 16
    while True:
        image, seconds = program.render(size, samples, 1)
        error = error_of(image, reference)
        if error <= wanted:
            break
        before, samples = (error, seconds, samples), 2 * samples
    if before is None:
        return seconds, samples
    share = math.log(before[0] / wanted) / math.log(before[0] / error)
    return tuple(math.exp(math.log(a) * (1 - share) + math.log(b) * share) for a, b in zip(before[1:], (seconds, samples)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3, help="turns of the two programs (3)")
    parser.add_argument("--size", type=int, default=512, help="pixels a side for rates (512)")
    parser.add_argument("--spp", type=int, default=64, help="samples a pixel for rates (64)")
    parser.add_argument("--backend", default="rpu", help="our machine (rpu)")
    parser.add_argument("--error", type=float, default=0.01, help="the error to reach, as a share of the mean (0.01); 0 leaves it out")
    parser.add_argument("--error-size", type=int, default=128, help="pixels a side for that (128)")
    parser.add_argument("--reference", type=int, default=16384, help="samples a pixel of the reference (16384)")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/shadewright")
    parser.add_argument("--json", type=pathlib.Path, help="write every number to this file")
    options = parser.parse_args()
    if not options.program.exists():
        sys.exit(f"against_mitsuba.py: {options.program} is not there (cargo build --release)")
    mi.set_variant("llvm_ad_rgb")
    scene = mi.cornell_box()
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Ours(options, pathlib.Path(folder), scene), Mitsubas(scene)
        count = options.size**2 * options.spp / 1e6
        rates, means = [], []
        for turn in range(options.turns):
            (mine, my_time), (other, other_time) = (p.render(options.size, options.spp, turn) for p in (ours, theirs))
            rates.append((count / my_time, count / other_time))
            means.append((mine.mean((0, 1)).tolist(), other.mean((0, 1)).tolist()))
            print(f"turn {turn + 1}: {rates[-1][0]:.2f} and {rates[-1][1]:.2f} million samples/s, ratio {rates[-1][0] / rates[-1][1]:.2f}", flush=True)
        mean_of = lambda i: np.mean([pair[i] for pair in means], axis=0)  # noqa: E731
        print(f"mean colours {mean_of(0).round(4)} and {mean_of(1).round(4)}")
        ratio = statistics.median(a / b for a, b in rates)
        print(f"rate: {ratio:.2f} of Mitsuba's (median of {options.turns} turns)")
        result = {"rates": rates, "means": means, "ratio": ratio}
        if options.error > 0:
            parts = max(options.reference // 1024, 1)
            reference = np.mean([theirs.render(options.error_size, 1024, 100 + part)[0] for part in range(parts)], axis=0)
            times = [time_to(p, reference, options.error_size, options.error) for p in (ours, theirs)]
            result["time_to_error"] = times
            for name, (seconds, samples) in zip(("Shadewright", "Mitsuba"), times):
                print(f"{name}: an error of {options.error:.1%} in {seconds:.2f} s, {samples:.0f} samples a pixel")
            print(f"time to it: {times[0][0] / times[1][0]:.2f} of Mitsuba's")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
