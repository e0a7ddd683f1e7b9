#!/usr/bin/env python3
"""Renders one scene by paths with Shadewright and with Mitsuba 3 alternately, and prints the ratio of their rates, and of their times to the same error.

    benches/peers/against_mitsuba.py [--scene cornell|showroom] [--sampler all] [--error 0.01] [--limit SECONDS] [--json FILE]
    benches/peers/against_mitsuba.py --check [--program FILE]      the smallest sizes: the measurement itself is tested

Needs `pip install mitsuba numpy` and the library of LLVM 19 (Debian: libllvm19). Both programs get the same scene: `cornell` is what
`mitsuba.cornell_box()` gives, written as RIB for us; `showroom` is written for both by showroom.py. Paths have 8 segments at most,
pixels a box filter.

Rates are million samples a second of wall time on all cores. Mitsuba's is that of its `llvm_ad_rgb` variant on a loaded scene; ours is
that of the whole process, with reading, compiling and writing. What Mitsuba's compiler takes is printed by itself and is in no time: an
image for which it has compiled is rendered again, or, where it took less than 2 % of a longer one, its time is taken off. Beside wall
time stands processor time, of all threads together, which other programs on the machine disturb less.

Samplers of Mitsuba's round the number of samples up; times and rates are those of the rounded number. Of the samplers that --sampler
names (all of them unless given), each ratio takes the one that is best for Mitsuba, in this run: the rate is against the sampler with
the most samples a second, whatever they are worth, and the time to an error against the sampler that needs the least time. We take
--pattern sobol wherever the number of samples is a power of two.

The error of an image is the root mean square of its differences from a reference, as a share of the reference's mean. The reference is
the mean of images of Mitsuba's with 1024 samples and different seeds. Their differences give its own error: images are added until that is
a third of --error, and its square is taken off the squares of all measured errors.
The time to an error is that of as many samples as it takes: samples are doubled until the error is below, and the last step is
interpolated on the logarithms. Where the next image would take longer than --limit, the samples are predicted instead, by a line through
the logarithms of the last measurements, and the result is marked as predicted.
"""

import argparse
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import typing

import numpy as np
import showroom
from showroom import numbers

os.environ.setdefault("DRJIT_LIBLLVM_PATH", "libLLVM.so.19.1")
import drjit  # noqa: E402 (the variable must be set first)
import mitsuba as mi  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SEGMENTS = showroom.SEGMENTS
SAMPLERS = ("independent", "stratified", "multijitter", "orthogonal", "ldsampler")
# Samples of an image that Mitsuba renders at once: more take too much memory.
WAVEFRONT = 1 << 24
# What --check measures: all stages, in seconds. Its images have a mean error of 1 % or less, so mean colors agree to CHECK_DIFFERENCE
# unless the programs render different things.
CHECK = {"size": 32, "spp": 64, "turns": 1, "error": 0.2, "error_size": 16, "reference": 8192, "sampler": [("multijitter",)]}
CHECK_DIFFERENCE = 0.05
# Samples a pixel of each image of the reference, and its sampler.
PART, PART_SAMPLER = 1024, "multijitter"

RECTANGLE = [[(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]]
CUBE = [
    [(-1, -1, -1), (-1, 1, -1), (1, 1, -1), (1, -1, -1)],
    [(-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)],
    [(-1, -1, -1), (1, -1, -1), (1, -1, 1), (-1, -1, 1)],
    [(-1, 1, -1), (-1, 1, 1), (1, 1, 1), (1, 1, -1)],
    [(-1, -1, -1), (-1, -1, 1), (-1, 1, 1), (-1, 1, -1)],
    [(1, -1, -1), (1, 1, -1), (1, 1, 1), (1, -1, 1)],
]


class Cornell:
    """Mitsuba's Cornell box."""

    def __init__(self, folder):
        self.scene = mi.cornell_box()
        (folder / "lamp.rtsl").write_text(showroom.LAMP)

    def load(self, size, sampler):
        sensor = self.scene["sensor"]
        film = {**sensor["film"], "width": size, "height": size, "rfilter": {"type": "box"}}
        integrator = {"type": "path", "max_depth": SEGMENTS}
        return mi.load_dict({**self.scene, "sensor": {**sensor, "film": film, "sampler": {"type": sampler}}, "integrator": integrator})

    def rib(self, size):
        """The box in RIB. Its camera looks along -z from z = 3.9; RenderMan's looks along +z."""
        sensor = self.scene["sensor"]
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
        for shape in self.scene.values():
            if not isinstance(shape, dict) or shape.get("type") not in ("rectangle", "cube"):
                continue
            matrix = np.array(shape["to_world"].matrix, dtype=float)
            reflectance = self.scene[shape["bsdf"]["id"]]["reflectance"]["value"]
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


class Showroom:
    """The scene of showroom.py."""

    def __init__(self, folder):
        self.folder = folder
        showroom.write(folder)

    def load(self, size, sampler):
        return mi.load_file(str(self.folder / "showroom.xml"), size=size, sampler=sampler)

    def rib(self, size):
        return showroom.rib(size)


SCENES = {"cornell": Cornell, "showroom": Showroom}


class Image(typing.NamedTuple):
    pixels: np.ndarray
    # Wall time, and the processor time of all threads, without Mitsuba's compiler.
    seconds: float
    processor: float
    # Samples a pixel, as rendered.
    samples: int

    def count(self):
        """Million samples."""
        return self.pixels.shape[0] * self.pixels.shape[1] * self.samples / 1e6


def processor_time(who):
    """Seconds of this process, or of those that it has waited for."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


class Ours:
    """Shadewright, a process for each image."""

    name = "Shadewright"

    def __init__(self, options, folder, scene):
        self.options, self.folder, self.scene = options, folder, scene

    @staticmethod
    def rounded(_size, samples):
        """All numbers of samples are rendered."""
        return samples

    def render(self, size, samples, seed):
        path, image = self.folder / f"ours{size}.rib", self.folder / "ours.exr"
        path.write_text(self.scene.rib(size))
        command = [self.options.program, path, "--render", image, "--spp", samples, "--seed", seed]
        command += ["--backend", self.options.backend, "-I", ROOT / "assets/rtsl"]
        command += ["--engine", self.options.engine] if self.options.engine else []
        command += ["--pattern", "sobol"] if samples & (samples - 1) == 0 else []
        start, before = time.perf_counter(), processor_time(resource.RUSAGE_CHILDREN)
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seconds, processor = time.perf_counter() - start, processor_time(resource.RUSAGE_CHILDREN) - before
        if done.returncode != 0:
            sys.exit(f"against_mitsuba.py: this failed: {' '.join(map(str, command))}\n{done.stdout}")
        # An image of paths has layers beside its color, such as the variance; the unnamed layer is the color.
        color = next(layer for name, layer in mi.Bitmap(str(image)).split() if name == "<root>")
        pixels = np.array(color.convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float32))
        return Image(pixels, seconds, processor, samples)


class Mitsubas:
    """Mitsuba with one of its samplers, in this process."""

    def __init__(self, scene, sampler):
        self.scene, self.name, self.loaded = scene, sampler, {}
        # Seconds of its compiler, by the number of samples.
        self.compiling = {}

    def rounded(self, size, samples):
        """The number of samples that is rendered instead."""
        if size not in self.loaded:
            self.loaded[size] = self.scene.load(size, self.name)
        sampler = self.loaded[size].sensors()[0].sampler()
        sampler.set_sample_count(samples)
        return sampler.sample_count()

    def render(self, size, samples, seed):
        samples = self.rounded(size, samples)
        most = max(WAVEFRONT // size**2, 1)
        at_once = max(part for part in range(1, min(samples, most) + 1) if samples % part == 0)
        integrator = mi.load_dict({"type": "path", "max_depth": SEGMENTS, "samples_per_pass": at_once})
        while True:
            drjit.kernel_history_clear()
            start, before = time.perf_counter(), processor_time(resource.RUSAGE_SELF)
            pixels = np.array(mi.render(self.loaded[size], spp=samples, seed=seed, integrator=integrator))
            seconds, processor = time.perf_counter() - start, processor_time(resource.RUSAGE_SELF) - before
            compiling = sum(kernel["backend_time"] for kernel in drjit.kernel_history() if not kernel.get("cache_hit", 1)) / 1e3
            self.compiling[samples] = max(compiling, self.compiling.get(samples, 0.0))
            if compiling <= 0.02 * seconds:
                return Image(pixels[:, :, :3], seconds - compiling, processor - compiling, samples)


class Reference:
    """The mean of images of Mitsuba's, and its own error."""

    def __init__(self, scene, size, wanted, most, file):
        program = Mitsubas(scene, PART_SAMPLER)
        parts = list(np.load(file)) if file and file.exists() else []
        while len(parts) < 4 or (self.error_of_mean(parts) > wanted and len(parts) * PART < most):
            parts.append(program.render(size, PART, 100 + len(parts)).pixels)
            if file:
                np.save(file, parts)
        self.pixels, self.own = np.mean(parts, axis=0), self.error_of_mean(parts)
        self.samples = len(parts) * PART

    @staticmethod
    def error_of_mean(parts):
        return float(np.sqrt(np.mean(np.var(parts, axis=0, ddof=1)) / len(parts)) / np.mean(parts))

    def error(self, image):
        """The error of an image, without the reference's own."""
        measured = np.mean((image.pixels - self.pixels) ** 2) / np.mean(self.pixels) ** 2
        return math.sqrt(max(float(measured) - self.own**2, 0.0))


class Reached(typing.NamedTuple):
    """What an error takes."""

    name: str
    samples: float
    seconds: float
    processor: float
    is_predicted: bool
    # Samples, wall and processor seconds, and error of each image.
    steps: list

    def __str__(self):
        if not self.is_predicted:
            return f"{self.name}: {self.seconds:.2f} s, {self.processor:.2f} s of processors, {self.samples:.0f} samples a pixel"
        samples, seconds, _, error = self.steps[-1]
        return (
            f"{self.name}: PREDICTED {self.seconds:.0f} s, {self.processor:.0f} s of processors, {self.samples:.0f} samples a pixel"
            f" (measured: {error:.2%} after {seconds:.1f} s, {samples} samples)"
        )


def predicted(steps, wanted):
    """Samples, wall and processor seconds to an error, by a line through the logarithms of the last four steps."""
    last = steps[-4:]
    # That of random samples.
    slope = -0.5
    if len(last) > 1:
        slope = np.polyfit([math.log(step[0]) for step in last], [math.log(step[-1]) for step in last], 1)[0]
    # Few measurements are noisy; no sampler is better than -3/4 at edges.
    factor = (wanted / last[-1][-1]) ** (1 / min(max(slope, -0.75), -0.25))
    return [factor * x for x in last[-1][:-1]]


def time_to(program, reference, size, wanted, limit):
    steps, samples = [], 16
    while True:
        image = program.render(size, samples, 1)
        error = reference.error(image)
        steps.append((image.samples, image.seconds, image.processor, error))
        if error <= wanted:
            break
        samples = program.rounded(size, 2 * image.samples)
        if image.seconds * samples / image.samples > limit:
            return Reached(program.name, *predicted(steps, wanted), True, steps)
    needed = steps[-1][:-1]
    if len(steps) > 1:
        before = steps[-2]
        share = math.log(before[-1] / wanted) / math.log(before[-1] / max(error, 1e-9))
        needed = [math.exp(math.log(a) * (1 - share) + math.log(b) * share) for a, b in zip(before, needed)]
    return Reached(program.name, *needed, False, steps)


def compare_rates(options, ours, theirs):
    """Renders with each program alternately."""
    rates = {program.name: [] for program in (ours, *theirs)}
    processor_rates = {program.name: [] for program in (ours, *theirs)}
    means = {program.name: [] for program in (ours, *theirs)}
    for turn in range(options.turns):
        for program in (ours, *theirs):
            image = program.render(options.size, options.spp, turn)
            rates[program.name].append(image.count() / image.seconds)
            processor_rates[program.name].append(image.count() / image.processor)
            means[program.name].append(image.pixels.mean((0, 1)).tolist())
        print(f"turn {turn + 1}: " + ", ".join(f"{name} {values[-1]:.2f}" for name, values in rates.items()) + " million samples/s", flush=True)
    for program in theirs:
        seconds = "; ".join(f"{samples} samples {seconds:.2f} s" for samples, seconds in program.compiling.items() if seconds > 0)
        print(f"Mitsuba's compiler, {program.name}: {seconds or 'from its cache'} (not in the rates)")
    fastest = max(theirs, key=lambda program: statistics.median(rates[program.name])).name
    mine, other = (np.mean(means[name], axis=0) for name in (ours.name, fastest))
    differences = (mine / other - 1).tolist()
    print(f"mean colors {mine.round(4)} and {other.round(4)}: {' '.join(f'{x:+.2%}' for x in differences)}")
    ratio, processor_ratio = (statistics.median(a / b for a, b in zip(of[ours.name], of[fastest])) for of in (rates, processor_rates))
    print(f"rate: {ratio:.2f} of Mitsuba's with {fastest}, its fastest sampler; by processor time {processor_ratio:.2f} (medians of {options.turns} turns)")
    return {
        "rates": rates,
        "processor_rates": processor_rates,
        "means": means,
        "differences": differences,
        "fastest": fastest,
        "ratio": ratio,
        "processor_ratio": processor_ratio,
    }


def compare_errors(options, ours, theirs, scene, folder):
    """Measures the time of each program to an error."""
    file = folder / f"reference-{options.scene}-{options.error_size}.npy" if options.folder else None
    reference = Reference(scene, options.error_size, options.error / 3, options.reference, file)
    print(f"reference: {reference.samples} samples a pixel, its own error is {reference.own:.2%}", flush=True)
    if reference.own > options.error / 2:
        sys.exit(f"against_mitsuba.py: that is too much to measure an error of {options.error:.2%}: raise --reference above {options.reference}")
    print(f"time to an error of {options.error:.2%} at {options.error_size}×{options.error_size}:", flush=True)
    reached = []
    for program in (ours, *theirs):
        reached.append(time_to(program, reference, options.error_size, options.error, options.limit))
        print(f"  {reached[-1]}", flush=True)
    best = min(reached[1:], key=lambda one: one.seconds)
    ratio = reached[0].seconds / best.seconds
    mark = " (PREDICTED)" if reached[0].is_predicted or best.is_predicted else ""
    print(f"time to it: {ratio:.2f} of Mitsuba's with {best.name}, its best sampler; by processor time {reached[0].processor / best.processor:.2f}{mark}")
    print(f"samples to it: {reached[0].samples / best.samples:.2f} of Mitsuba's{mark}")
    return {
        "reference": {"samples": reference.samples, "error": reference.own},
        "reached": [one._asdict() for one in reached],
        "best": best.name,
        "time_ratio": ratio,
        "is_predicted": bool(mark),
    }


def samplers(text):
    names = SAMPLERS if text == "all" else tuple(text.split(","))
    for name in names:
        if name not in SAMPLERS:
            raise argparse.ArgumentTypeError(f"no sampler {name!r}: {', '.join(SAMPLERS)}, all")
    return names


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene", choices=SCENES, default="cornell", help="the scene (cornell)")
    parser.add_argument(
        "--sampler", type=samplers, action="append", metavar="NAME", help=f"{', '.join(SAMPLERS)}, or a list with commas; may be repeated (all)"
    )
    parser.add_argument("--turns", type=int, default=3, help="turns of the programs for rates (3); 0 leaves them out")
    parser.add_argument("--size", type=int, default=512, help="pixels a side for rates (512)")
    parser.add_argument("--spp", type=int, default=64, help="samples a pixel for rates (64)")
    parser.add_argument("--backend", default="rpu", help="our back end (rpu)")
    parser.add_argument("--engine", help="our back end's engine, passed on where it is given")
    parser.add_argument("--error", type=float, default=0.01, help="the error to reach, as a share of the mean (0.01); 0 leaves it out")
    parser.add_argument("--error-size", type=int, default=128, help="pixels a side for that (128)")
    parser.add_argument("--limit", type=float, default=120, help="the longest that an image for that may take, in seconds (120)")
    parser.add_argument("--reference", type=int, default=131072, help="the most samples a pixel of the reference (131072)")
    parser.add_argument("--folder", type=pathlib.Path, help="keep scenes and references here, and find references again (a temporary folder)")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/shadewright")
    parser.add_argument("--json", type=pathlib.Path, help="write every number to this file")
    parser.add_argument("--check", action="store_true", help="measure the smallest sizes, and fail where the mean colors differ")
    options = parser.parse_args()
    if options.check:
        vars(options).update(CHECK)
    options.sampler = dict.fromkeys(name for names in options.sampler or [SAMPLERS] for name in names)
    if not options.program.exists():
        sys.exit(f"against_mitsuba.py: {options.program} is not there (cargo build --release)")
    options.program = options.program.resolve()
    return options


def main():
    options = parsed()
    mi.set_variant("llvm_ad_rgb")
    # Rounded numbers of samples are warnings.
    mi.set_log_level(mi.LogLevel.Error)
    drjit.set_flag(drjit.JitFlag.KernelHistory, True)
    result = {"scene": options.scene, "mitsuba": mi.__version__}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        scene = SCENES[options.scene](folder)
        ours, theirs = Ours(options, folder, scene), [Mitsubas(scene, name) for name in options.sampler]
        if options.turns > 0:
            result |= compare_rates(options, ours, theirs)
            largest = max(abs(difference) for difference in result["differences"])
            if options.check and largest > CHECK_DIFFERENCE:
                sys.exit(f"against_mitsuba.py: mean colors differ by {largest:.1%}")
        if options.error > 0:
            result |= compare_errors(options, ours, theirs, scene, folder)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
