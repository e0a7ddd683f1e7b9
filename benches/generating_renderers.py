#!/usr/bin/env python3
"""Prints the ratios of Pérard-Gayot, "Generating Renderers" (2020), beside those of this program on this machine.

    benches/generating_renderers.py [--program FILE] [--mesh FILE] [--view inside] [--folder DIR] [--quick]
    benches/generating_renderers.py --check [--program FILE]      the smallest sizes: the measurement itself is tested

Runs `shadewright bench rays` and `cargo bench --bench specialize`, and prints the table of docs/generating-renderers.md.
`--folder` keeps the JSON of both, and takes it from there where it is already; `--quick` measures two interiors in small frames.
A row without a value has no measurement here. The build of the program is the caller's: `cargo build --release`.
`--check` measures one interior on the interpreter, with a benchmark that is built as tests are, and takes from generating_renderers.recorded.json what a GPU and long
measurements printed once; it fails where a row has no value.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

NONE = "–"

# What --check measures: rays, and the interior.
CHECK_RAYS = ["--only", "scalar,single4,single8,packet8,hybrid8,generated-while-while-binary-native"]
CHECK_SCENE = ["--scene", "bedroom", "--size", "8x6", "--spp", 1, "--runs", 1, "--backend", "interpreter", "--only", "scenes,compile"]
CHECK_SCENE += ["--specialize", "types", "--specialize", "all"]
# The rows that have a value whatever the processor is.
CHECKED = ("R3", "R4", "R5", "R6", "R7", "R8", "R10")
RECORDED = pathlib.Path(__file__).with_suffix(".recorded.json")


def rays_of(options, name, arguments):
    """The JSON of `shadewright bench rays`."""
    return measured(options, name, [options.program, "bench", "rays", *arguments, "--json"])


def specialized(options, arguments):
    """The JSON of `cargo bench --bench specialize`."""
    run = ["cargo", "test" if options.check else "bench", "--locked", "--manifest-path", ROOT / "Cargo.toml"]
    return measured(options, "specialize", [*run, "--bench", "specialize", "--", *arguments, "--json"])


def measured(options, name, command):
    """The JSON that a command prints: from the folder, or by running it."""
    kept = options.folder and options.folder / f"{name}.json"
    if kept and kept.exists():
        return json.loads(kept.read_text())
    command = [str(part) for part in command]
    print(" ".join(command), file=sys.stderr)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"generating_renderers.py: this failed: {' '.join(command)}")
    if kept:
        options.folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(done.stdout)
    return json.loads(done.stdout)


def mean(values):
    """The geometric mean; None without values."""
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def number(value, digits=2):
    return NONE if value is None else f"{value:.{digits}f}"


def spread(values):
    """The mean, and from the least to the most."""
    values = [value for value in values if value]
    return f"{number(mean(values))} ({number(min(values))} to {number(max(values))})" if values else NONE


def rates(part):
    """Million rays a second, by set and kernel."""
    return {s["set"]: {k: v["mrays_per_s"] for k, v in s["kernels"].items()} for s in part["sets"]} if part else {}


def best(kernels, method):
    """The fastest kernel of a method and width, whatever its instruction set."""
    return max((rate for name, rate in kernels.items() if name.split("-")[0] == method), default=None)


def over(a, b):
    return a / b if a and b else None


def by_set(sets, ratio):
    parts = [f"{name} {number(ratio(kernels))}" for name, kernels in sets.items()]
    return ", ".join(parts) or NONE


def traversal_rows(cpu, gpu):
    """R1."""
    native = [over(kernels.get("generated-while-while-binary-native"), kernels.get("scalar")) for kernels in cpu.values()]
    walks = [over(kernels.get("generated-while-while"), kernels.get("while-while")) for kernels in gpu.values()]
    name = "generated/hand-written traversal"
    return [
        ("R1", f"{name}, GPU, while-while", "0.98 (0.90 to 1.14)", spread(walks)),
        ("R1", f"{name}, CPU, native engine over the scalar kernel", "0.83 to 0.94, over Embree", spread(native)),
    ]


def ray_rows(options, cpu, gpu):
    """R6, R7 and R10."""
    packet = by_set(cpu, lambda k: over(best(k, "packet8"), best(k, "single8")))
    hybrid = by_set(cpu, lambda k: over(best(k, "hybrid8"), best(k, "packet8")))
    width = by_set(cpu, lambda k: over(best(k, "single8"), best(k, "single4")))
    rate = {name: max(kernels.values()) for name, kernels in gpu.items() if kernels}
    kinds = [f"{a}/{b} {number(over(rate.get(a), rate.get(b)))}" for a, b in [("primary", "diffuse"), ("ao", "diffuse")]]
    scalar = by_set(cpu, lambda k: over(best(k, "packet8"), k.get("scalar")))
    return [
        ("R6", "packet/single, BVH8", "primary 1.77, ao 1.35, diffuse 0.72", packet),
        ("R6", "hybrid/packet, BVH8", "primary 0.88, diffuse 1.31", hybrid),
        ("R6", "BVH8/BVH4, single rays", "1.29 (1.21 to 1.40)", width),
        ("R7", "kinds of rays on the GPU", "primary/diffuse 2.6 to 5.0, ao/diffuse 2.2 to 8.3", ", ".join(kinds) if rate else NONE),
        ("R10", "scalar to packet, CPU", "primary 2.3, ao 1.8, diffuse 1.05 (ARM, 4 lanes)", scalar),
    ]


def scene_rows(report):
    """R2 and R3."""
    rows = []
    modes = report["modes"]
    scenes = report["scenes"]
    for mode in (modes[0], modes[-1]):
        ratios = [row["wavefront"].get(mode) for row in scenes if row["device"] == "gpu"]
        rows.append(("R2", f"wavefront/megakernel, `{mode}`", "1.31 (1.13 to 1.41), 1.66 (1.38 to 1.85)", spread(ratios)))
        ratios = [row["sorted"].get(mode) for row in scenes if row["device"] == "gpu"]
        rows.append(("R2", f"sorted/unsorted, `{mode}`", NONE, spread(ratios)))
    for device in [device["name"] for device in report["devices"]]:
        own = [row for row in scenes if row["device"] == device]
        for order in sorted({order for row in own for order in row["specialized"]}):
            value = {"gpu": "1.50 wavefront, 1.15 megakernel"}.get(device, "1.10")
            ratios = [row["specialized"].get(order) for row in own]
            name = f"`{modes[-1]}`/`{modes[0]}`, {device}" + (f", {order}" if device == "gpu" else "")
            rows.append(("R3", name, f"{value}, against other renderers", spread(ratios)))
    return rows


def shading_rows(report):
    """R4 and R5."""
    rows = []
    for batch in report["shading"]:
        cases = {case["case"]: case["specialized"] for case in batch["cases"]}
        ours = ", ".join(f"{name} {number(ratio)}" for name, ratio in cases.items())
        rows.append(("R4", f"shading of {batch['rays']} rays, {batch['device']}", "about 1.25", ours))
    for row in report["interfaces"]:
        ours = ", ".join(f"{fact['facts']} {number(fact['specialized'])}" for fact in row["facts"])
        rows.append(("R5", f"interfaces, {row['device']}", "in a figure only", ours or NONE))
    return rows


def compile_rows(report):
    """R8."""
    rows = []
    for mode in report["modes"]:
        own = [row for row in report["compile"] if row["mode"] == mode]
        times = [row["total_ms"] / 1e3 for row in own]
        ours = f"{number(min(times))} s to {number(max(times))} s on one thread" if times else NONE
        sizes = [row["rpu_instructions"] for row in own]
        rows.append(("R8", f"compile time of a scene, `{mode}`", "tens of seconds to 2 min", f"{ours}, {sum(sizes)} RPU instructions in all"))
    return rows


def all_measured(options):
    """Rays on the CPU and on the GPU, and the report on interiors."""
    rays = ["--mesh", options.mesh, "--view", options.view, "--size", 256 if options.quick else 1024, "--threads", 1]
    cpu = rays_of(options, "rays-cpu", [*rays, "--backend", "cpu"])
    devices = ["--scene", "staircase,bathroom", "--size", "64x48", "--spp", 1, "--runs", 3] if options.quick else []
    report = specialized(options, devices)
    has_gpu = any(device["name"] == "gpu" for device in report["devices"])
    gpu = rays_of(options, "rays-gpu", [*rays, "--backend", "gpu", "--only", "while-while"])["gpu"] if has_gpu else None
    return cpu, gpu, report


def checked(options):
    """The same at the smallest size, with recorded answers for what takes long or needs a GPU."""
    rays = ["--mesh", "clutter:100", "--size", 8, "--threads", 1, "--backend", "cpu"]
    cpu = rays_of(options, "rays-cpu", [*rays, *CHECK_RAYS])
    report = specialized(options, CHECK_SCENE)
    recorded = json.loads(RECORDED.read_text())
    for part, rows in recorded["specialize"].items():
        report[part] += rows
    return cpu, recorded["rays"]["gpu"], report


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/shadewright")
    parser.add_argument("--mesh", default="clutter:100000", help="of the rays, as `shadewright bench rays --mesh`")
    parser.add_argument("--view", default="outside", choices=["outside", "inside"])
    parser.add_argument("--folder", type=pathlib.Path, help="keeps the results, and finds them again")
    parser.add_argument("--quick", action="store_true", help="two interiors, small frames, small sets of rays")
    parser.add_argument("--check", action="store_true", help="measure the smallest sizes, and fail where a row has no value")
    options = parser.parse_args()
    cpu, gpu, report = checked(options) if options.check else all_measured(options)
    rows = traversal_rows(rates(cpu["cpu"]), rates(gpu))
    rows += scene_rows(report) + shading_rows(report)
    rows += ray_rows(options, rates(cpu["cpu"]), rates(gpu))
    rows += compile_rows(report)
    rows.append(("R9", "Halstead effort, shared core over separate renderers", "0.80", "not claimed"))
    rows.sort(key=lambda row: int(row[0][1:]))
    print("| | ratio | thesis | here |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    if options.check:
        missing = [row[1] for row in rows if row[3] == NONE and row[0] in CHECKED]
        if missing:
            sys.exit(f"generating_renderers.py: these rows have no value: {'; '.join(missing)}")


if __name__ == "__main__":
    main()
