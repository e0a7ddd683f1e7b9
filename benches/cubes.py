#!/usr/bin/env python3
"""Writes a scene of randomly oriented cubes that are distributed uniformly in the unit cube.

Ullner ("Parallel Machines for Computer Graphics", 1983, section 2.3.4) traces such a scene of 83 cubes, and others, through
grids. The size of the cubes and the eye are not published; here an edge of 0.12 and an eye two units in front.

    benches/cubes.py 83 0.12 > assets/machines/cubes-83.rib
"""

import math
import random
import sys


def rotation(numbers):
    """A uniformly distributed rotation: angle in degrees, and axis (Shoemake 1992)."""
    a, b, c = (numbers.random() for _ in range(3))
    x, y = math.sqrt(1 - a) * math.sin(2 * math.pi * b), math.sqrt(1 - a) * math.cos(2 * math.pi * b)
    z, w = math.sqrt(a) * math.sin(2 * math.pi * c), math.sqrt(a) * math.cos(2 * math.pi * c)
    return math.degrees(2 * math.acos(max(-1.0, min(1.0, w)))), (x, y, z)


def main():
    count, edge = int(sys.argv[1]), float(sys.argv[2])
    numbers = random.Random(83)
    print("##RenderMan RIB-Structure 1.1")
    print(f"# {count} randomly oriented cubes with edges of {edge}, in the unit cube; written by benches/cubes.py.")
    print("version 3.03")
    print("Format 48 48 1")
    print("PixelSamples 1 1")
    print('Option "trace" "integer maxdepth" [2]')
    print('Projection "perspective" "fov" [28]')
    print("Translate -0.5 -0.5 2")
    print("WorldBegin")
    print('LightSource "ambientlight" 1 "float intensity" [0.2]')
    print('LightSource "distantlight" 2 "point from" [-2 4 -3] "point to" [0 0 0]')
    print("ObjectBegin 1")
    h = edge / 2
    points = [(x, y, z) for z in (-h, h) for y in (-h, h) for x in (-h, h)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    corners = " ".join(str(i) for face in faces for i in face)
    positions = " ".join(f"{c:g}" for p in points for c in p)
    print(f'PointsPolygons [4 4 4 4 4 4] [{corners}] "P" [{positions}]')
    print("ObjectEnd")
    for _ in range(count):
        x, y, z = (numbers.uniform(h * 1.8, 1 - h * 1.8) for _ in range(3))
        angle, axis = rotation(numbers)
        red, green, blue = (numbers.uniform(0.3, 0.95) for _ in range(3))
        print("AttributeBegin")
        print(f"Color [{red:.2f} {green:.2f} {blue:.2f}] Surface \"matte\"")
        print(f"Translate {x:.4f} {y:.4f} {z:.4f} Rotate {angle:.2f} " + " ".join(f"{c:.4f}" for c in axis))
        print("ObjectInstance 1")
        print("AttributeEnd")
    print("WorldEnd")


if __name__ == "__main__":
    main()
