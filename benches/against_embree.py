#!/usr/bin/env python3
"""Traces the same rays with Shadewright and with Embree, alternately, and prints the ratio of their rates in every cell.

    benches/against_embree.py [--turns N] [--threads 1,2] [--tree spatial] [--json FILE] MESH.ply[=inside] ...
    benches/against_embree.py --check [--program FILE]      the smallest sizes: the measurement itself is tested

`shadewright bench rays --dump-rays` makes the sets (primary, ambient occlusion, diffuse bounce); MESH.ply=inside puts the
camera into the mesh, for rooms. Embree is run by a harness, named by the environment variable EMBREE_RAYS (../shared/peers/embree.sh
beside the repository unless set): `harness MESH RAYDIR --threads N --repeat N` prints a line of JSON for every set, with the
rates of single rays and of packets of eight in million rays a second. Both build their trees with spatial splits and take the best of
several runs within each turn; the turns alternate between the two programs, and the medians of the turns are compared.

Three ratios: what renders choose against the better of Embree's two kernels, our single rays (one after another, or the rays of a
batch one by one) against Embree's single rays, and the build times. A geometric mean over all cells of a thread count follows.

`--check` traces a few rays in a procedural mesh. In place of Embree's answer, which needs a harness, it takes that of
against_embree.recorded.txt: the rates of the bunny in docs/traversal.md, in the form in which the harness prints them.
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDED = pathlib.Path(__file__).with_suffix(".recorded.txt")
# What --check measures.
CHECK = {"meshes": ["clutter:100"], "turns": 1, "size": 8}


def run(command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"against_embree.py: this failed: {' '.join(map(str, command))}")
    return done.stdout


def ours(options, mesh, view, folder, threads, sets):
    """Rates of our kernels by set, and the time of the build."""
    command = [options.program, "bench", "rays", "--backend", "cpu", "--mesh", mesh, "--view", view, "--json", "--threads", threads]
    command += ["--tree", options.tree, "--size", options.size, "--only", "chosen,single8,stream8"]
    for name in sets:
        command += ["--rays", folder / f"{name}.rays"]
    result = json.loads(run(command))
    rates = {s["set"]: {k: v["mrays_per_s"] for k, v in s["kernels"].items()} for s in result["cpu"]["sets"]}
    return rates, result["build_ms"]


def embrees(options, mesh, folder, threads):
    """Rates of Embree's two kernels by set, and the time of its build."""
    command = [options.harness, mesh, folder, "--threads", threads, "--repeat", 5]
    lines = (RECORDED.read_text() if options.check else run(command)).splitlines()
    rates = {}
    build = math.nan
    for line in lines:
        if line.startswith("{"):
            row = json.loads(line)
            rates[row["set"]] = {"single": row["single_mrays"], "packet": row["packet8_mrays"]}
        elif line.startswith("build high"):
            build = float(line.split()[2])
    return rates, build


def median_of(turns, set_name, kernel):
    return statistics.median(turn[set_name][kernel] for turn in turns)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def compare(options, mesh, view, threads, folder):
    """Runs the turns for a mesh and prints and returns its cells."""
    sets = sorted(path.stem for path in folder.glob("*.rays"))
    our_turns, embree_turns, builds = [], [], []
    for _ in range(options.turns):
        rates, build = ours(options, mesh, view, folder, threads, sets)
        embree_rates, embree_build = embrees(options, mesh, folder, threads)
        our_turns.append(rates)
        embree_turns.append(embree_rates)
        builds.append((build, embree_build))
    cells = []
    for name in sets:
        kernels = our_turns[0][name]
        chosen = median_of(our_turns, name, "chosen")
        singles = {k: median_of(our_turns, name, k) for k in kernels if k.startswith(("single", "stream"))}
        single = max(singles, key=singles.get)
        best = max(kernels, key=lambda k: median_of(our_turns, name, k))
        theirs = {k: median_of(embree_turns, name, k) for k in ("single", "packet")}
        cell = {
            "mesh": mesh.stem,
            "threads": threads,
            "set": name,
            "chosen": chosen,
            "best_kernel": best,
            "best": median_of(our_turns, name, best),
            "single_kernel": single,
            "single": singles[single],
            "embree_single": theirs["single"],
            "embree_packet": theirs["packet"],
            "ratio": chosen / max(theirs.values()),
            "single_ratio": singles[single] / theirs["single"],
        }
        cells.append(cell)
        print(
            f"{cell['mesh']:<10} {threads:>7} {name:<8} {chosen:>8.2f} {cell['single']:>8.2f}"
            f" {theirs['single']:>9.2f} {theirs['packet']:>9.2f} {cell['ratio']:>7.2f} {cell['single_ratio']:>7.2f}"
            f"   best: {best} {cell['best']:.2f}",
            flush=True,
        )
    our_build, embree_build = (statistics.median(column) for column in zip(*builds))
    print(f"{mesh.stem:<10} {threads:>7} build    {our_build:.1f} ms, Embree {embree_build:.1f} ms with all cores")
    return cells, {"mesh": mesh.stem, "threads": threads, "build_ms": our_build, "embree_build_ms": embree_build}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("meshes", nargs="*", metavar="MESH.ply[=inside]", help="binary little-endian PLY of triangles")
    parser.add_argument("--turns", type=int, default=3, help="turns of the two programs (3)")
    parser.add_argument("--threads", default="1", help="thread counts, with commas between them (1)")
    parser.add_argument("--tree", default="spatial", help="how our tree is built (spatial)")
    parser.add_argument("--size", type=int, default=1024, help="pixels a side of the primary rays (1024)")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/shadewright")
    parser.add_argument("--json", type=pathlib.Path, help="write every cell to this file")
    parser.add_argument("--check", action="store_true", help="measure the smallest sizes, with a recorded answer of Embree's")
    options = parser.parse_args()
    if options.check:
        vars(options).update(CHECK)
    if not options.meshes:
        parser.error("name a mesh")
    options.harness = os.environ.get("EMBREE_RAYS", ROOT / "../shared/peers/embree.sh")
    for needed in (options.program, *([] if options.check else [options.harness])):
        if not pathlib.Path(needed).exists():
            sys.exit(f"against_embree.py: {needed} is not there (cargo build --release; EMBREE_RAYS names the harness)")

    print("million rays/s      chosen   single  Embree's:")
    print("mesh       threads set        kernel   kernel    single    packet   ratio  single")
    cells, builds = [], []
    for argument in options.meshes:
        name, _, view = argument.partition("=")
        mesh, view = pathlib.Path(name), view or "outside"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run(
                [options.program, "bench", "rays", "--backend", "cpu", "--mesh", mesh, "--view", view, "--size", options.size]
                + ["--dump-rays", folder, "--only", "chosen", "--json"]
            )
            for threads in map(int, options.threads.split(",")):
                found, build = compare(options, mesh, view, threads, folder)
                cells += found
                builds.append(build)
    for threads in sorted({cell["threads"] for cell in cells}):
        mine = [cell for cell in cells if cell["threads"] == threads]
        print(
            f"{threads} thread(s): geometric mean {geometric_mean([c['ratio'] for c in mine]):.2f} of Embree's better kernel,"
            f" single rays {geometric_mean([c['single_ratio'] for c in mine]):.2f} of its single rays,"
            f" least cell {min(c['ratio'] for c in mine):.2f}"
        )
    if options.json:
        options.json.write_text(json.dumps({"cells": cells, "builds": builds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
