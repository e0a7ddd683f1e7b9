#!/usr/bin/env python3
"""How long a task of a farm takes to start: a render of 16 x 16 pixels, 1 sample each, is little else.

    python3 benches/startup.py PROGRAM SCENE... [-- OPTIONS OF RENDER]
    python3 benches/startup.py PROGRAM --check      one scene, once: the measurement itself is tested

For each scene a row of a table: seconds, and seconds of processor time in parentheses, of

    disk    nothing is cached: the program itself is read from the disk, and all caches are empty
    cold    the caches of compiled programs are empty (SHADEWRIGHT_CACHE, and for a GPU Mesa's and NVIDIA's)
    warm    another process has filled them
    bytes   what they hold then

Each time is the least of 7.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

TRIES = 7
# The scene of --check.
CHECK = "assets/scenes/orthographic.rib"


def forget(path):
    """Drops a file from the page cache, as far as no process maps it."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def start(program, scene, options, folder):
    """Seconds and seconds of processor time of a render with the caches in a folder."""
    environment = dict(
        os.environ,
        SHADEWRIGHT_CACHE=os.path.join(folder, "programs"),
        MESA_SHADER_CACHE_DIR=os.path.join(folder, "mesa"),
        __GL_SHADER_DISK_CACHE_PATH=os.path.join(folder, "nvidia"),
    )
    command = [program, "render", scene, "-o", os.path.join(folder, "start.exr"), "--size", "16x16", "--spp", "1"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    result = subprocess.run(command + options, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        sys.exit(f"{scene}: {result.stderr}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def size(folder):
    """Bytes of the files of a folder's caches."""
    files = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name != "start.exr")
    return sum(os.path.getsize(file) for file in files)


def measure(program, scene, options, tries_of_each):
    """The times of a scene, and the size of its caches."""
    times = {"disk": [], "cold": [], "warm": []}
    for _ in range(tries_of_each):
        for mode, tries in times.items():
            if mode == "warm":
                # The folder of the last one, which is filled.
                tries.append(start(program, scene, options, folder))
                filled = size(folder)
                shutil.rmtree(folder)
                continue
            if mode == "cold":
                shutil.rmtree(folder)
            folder = tempfile.mkdtemp()
            if mode == "disk":
                forget(program)
            tries.append(start(program, scene, options, folder))
    return {mode: tuple(map(min, zip(*tries))) for mode, tries in times.items()}, filled


def main():
    arguments = sys.argv[1:]
    options = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, options = arguments[:at], arguments[at + 1 :]
    if len(arguments) < 2:
        sys.exit(__doc__)
    program, *scenes = arguments
    is_check = scenes == ["--check"]
    if is_check:
        scenes = [CHECK]
    if not any(option.startswith("--backend") for option in options):
        options += ["--backend", "rpu"]
    print("| scene | disk | cold | warm | bytes |\n|---|---|---|---|---|")
    for scene in scenes:
        times, filled = measure(shutil.which(program) or program, scene, options, 1 if is_check else TRIES)
        cells = (f"{wall:.3f} ({cpu:.3f})" for wall, cpu in times.values())
        print(f"| `{os.path.basename(scene)}` | {' | '.join(cells)} | {filled} |", flush=True)
        if is_check and filled == 0:
            sys.exit("startup.py: the caches are empty after a render")


main()
