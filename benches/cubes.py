#!/usr/bin/env python3
"""Writes a scene of randomly oriented cubes that are distributed uniformly in the unit cube.

Ullner ("Parallel Machines for Computer Graphics", 1983, section 2.3.4) traces such a scene of 83 cubes, and others, through
grids. The size of the cubes and the eye are not published; here an edge of 0.12 and an eye two units in front.

    benches/cubes.py 83 0.12 > assets/machines/cubes-83.rib
    benches/cubes.py --check      compares the scenes of assets/machines with what this writes
"""

import math
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The scenes of assets/machines: numbers of cubes, and their edges.
SCENES = {21: 0.2, 83: 0.12, 333: 0.1}


def rotation(numbers):
    """A uniformly distributed rotation: angle in degrees, and axis (Shoemake 1992)."""
    a, b, c = (numbers.random() for _ in range(3))
    x, y = math.sqrt(1 - a) * math.sin(2 * math.pi * b), math.sqrt(1 - a) * math.cos(2 * math.pi * b)
    z, w = math.sqrt(a) * math.sin(2 * math.pi * c), math.sqrt(a) * math.cos(2 * math.pi * c)
    return math.degrees(2 * math.acos(max(-1.0, min(1.0, w)))), (x, y, z)


def head(count, edge):
    """The lines before the cubes, with one cube as an object."""
    h = edge / 2
    points = [(x, y, z) for z in (-h, h) for y in (-h, h) for x in (-h, h)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    corners = " ".join(str(i) for face in faces for i in face)
    positions = " ".join(f"{c:g}" for p in points for c in p)
    return [
        "##RenderMan RIB-Structure 1.1",
        f"# {count} randomly oriented cubes with edges of {edge}, in the unit cube; written by benches/cubes.py.",
        "version 3.03",
        "Format 48 48 1",
        "PixelSamples 1 1",
        'Option "trace" "integer maxdepth" [2]',
        'Projection "perspective" "fov" [28]',
        "Translate -0.5 -0.5 2",
        "WorldBegin",
        'LightSource "ambientlight" 1 "float intensity" [0.2]',
        'LightSource "distantlight" 2 "point from" [-2 4 -3] "point to" [0 0 0]',
        "ObjectBegin 1",
        f'PointsPolygons [4 4 4 4 4 4] [{corners}] "P" [{positions}]',
        "ObjectEnd",
    ]


def scene(count, edge):
    """The text of a scene."""
    numbers = random.Random(83)
    lines, h = head(count, edge), edge / 2
    for _ in range(count):
        x, y, z = (numbers.uniform(h * 1.8, 1 - h * 1.8) for _ in range(3))
        angle, axis = rotation(numbers)
        red, green, blue = (numbers.uniform(0.3, 0.95) for _ in range(3))
        lines += [
            "AttributeBegin",
            f'Color [{red:.2f} {green:.2f} {blue:.2f}] Surface "matte"',
            f"Translate {x:.4f} {y:.4f} {z:.4f} Rotate {angle:.2f} " + " ".join(f"{c:.4f}" for c in axis),
            "ObjectInstance 1",
            "AttributeEnd",
        ]
    return "\n".join([*lines, "WorldEnd"]) + "\n"


def check():
    """Fails where a scene of the repository is not what this writes."""
    for count, edge in SCENES.items():
        path = ROOT / f"assets/machines/cubes-{count}.rib"
        if path.read_text() != scene(count, edge):
            sys.exit(f"cubes.py: {path} is not what `benches/cubes.py {count} {edge}` writes")


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        sys.stdout.write(scene(int(sys.argv[1]), float(sys.argv[2])))
