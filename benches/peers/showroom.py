#!/usr/bin/env python3
"""Writes a showroom with 12 textures, 44 materials and 50 area lights, once as RIB for Shadewright and once as XML for Mitsuba 3.

    benches/peers/showroom.py FOLDER            writes showroom.rib, showroom.rtsl, showroom.xml, meshes and textures
    benches/peers/showroom.py --check           writes into a temporary folder, reads both scenes again and compares them

    shadewright FOLDER/showroom.rib --render ours.exr --spp 64
    mitsuba -m llvm_ad_rgb -Dspp=64 -Dsampler=multijitter -o theirs.exr FOLDER/showroom.xml

Needs Python alone. Both scenes have the same triangles, with flat normals; the same 8-bit textures, in sRGB; the same BSDFs; and the
same 50 rectangles of one area as lights, so that choosing a light uniformly and choosing it by area are the same.
`against_mitsuba.py --scene showroom` renders both.

Materials are diffuse (`diffuse`, `Lambert`), of one color or with a texture, and rough metals (`roughconductor` with GGX, `Conductor`).
Mitsuba's masking-shadowing is the product of the two directions' terms, ours is that of correlated heights: the scene's own class takes
Mitsuba's. Textures are read unfiltered, the nearest texel: we would blur them by a pixel's footprint, Mitsuba has no mip maps.

`--check` compares the numbers of objects, triangles, lights, materials and textures of both files; with `--program FILE` the program
must accept the RIB without a message.
"""

import argparse
import json
import math
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import typing
import xml.etree.ElementTree as ElementTree
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Bounces are one fewer.
SEGMENTS = 8
LAMP_COUNT = 50

# Camera: position, target, and field of view in degrees.
EYE, TARGET, FIELD = (0.25, 1.62, 2.3), (-0.1, 1.15, -5.0), 72.0

LAMP = """#include "pbr.rtsl"

// A lamp that emits on one side and reflects, as Mitsuba's rectangles do.
class Lamp : Lambert;
public color radiance;

void emission() {
    rt_EmissionColor = dot(rt_RayDirection, rt_GeometricNormal) < 0. ? radiance : color(0.);
}
"""

CLASSES = (
    LAMP
    + """
// Diffuse, by the nearest texel of an image: rounded coordinates have no derivatives, so there is no footprint to filter by.
class Print : Lambert;
public string file;
public float size;

color painted() { return textureImage(file, (floor(size * rt_TextureUV) + 0.5) / size); }

// A rough conductor whose masking-shadowing is the product of the terms of both directions.
class RoughConductor : Conductor;

void BSDF() {
    rt_BSDFValue = color(0.);
    Frame frame = around(facing());
    vec3 V = to_frame(frame, -normalize(rt_RayDirection));
    vec3 L = to_frame(frame, rt_LightDirection);
    if (!is_lit() || L.z <= 0. || V.z <= 0.)
        return;
    float alpha = roughness * roughness;
    vec3 H = normalize(V + L);
    float shadow = (1. + hidden(V, alpha)) * (1. + hidden(L, alpha));
    rt_BSDFValue = reflected(dot(V, H)) * (facets(H, alpha) / (shadow * 4. * V.z * L.z));
}
"""
)


# Vectors


def added(a, b):
    return tuple(x + y for x, y in zip(a, b))


def scaled(a, factor):
    return tuple(factor * x for x in a)


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def normalized(a):
    return scaled(a, 1 / math.sqrt(sum(x * x for x in a)))


def numbers(values):
    return " ".join(f"{value:.7g}" for value in values)


def written(value):
    """The number that a reader of the text finds."""
    return float(f"{value:.7g}")


# Textures


class Noise:
    """Periodic value noise, 0 to 1, over a square of `period` cells."""

    def __init__(self, seed, period):
        draw = random.Random(seed)
        self.period = period
        self.values = [[draw.random() for _ in range(period)] for _ in range(period)]

    def __call__(self, x, y):
        i, j = math.floor(x), math.floor(y)
        s, t = x - i, y - j
        s, t = s * s * (3 - 2 * s), t * t * (3 - 2 * t)
        i, j, k, m = i % self.period, j % self.period, (i + 1) % self.period, (j + 1) % self.period
        low = self.values[j][i] * (1 - s) + self.values[j][k] * s
        high = self.values[m][i] * (1 - s) + self.values[m][k] * s
        return low * (1 - t) + high * t


def mixed(a, b, share):
    return tuple(x + (y - x) * share for x, y in zip(a, b))


def planks(light, dark):
    grain, tone = Noise(1, 64), Noise(2, 16)

    def color(u, v):
        row = math.floor(8 * v)
        across = 8 * v - row
        along = (u + 0.37 * row) % 1.0
        if across < 0.04 or along < 0.006:
            return scaled(dark, 0.35)
        streak = grain(8 * u + 5 * row, 64 * v)
        return scaled(mixed(light, dark, 0.75 * streak), 0.8 + 0.4 * tone(row + 0.5, 3.5))

    return color


def tiles(first, second, joint, count):
    fleck = Noise(3, 64)

    def color(u, v):
        x, y = count * u, count * v
        i, j = math.floor(x), math.floor(y)
        if min(x - i, y - j) < 0.05:
            return joint
        return scaled(first if (i + j) % 2 == 0 else second, 0.8 + 0.3 * fleck(64 * u, 64 * v))

    return color


def bricks(brick, joint):
    tone, fleck = Noise(4, 32), Noise(5, 64)

    def color(u, v):
        row = math.floor(12 * v)
        x = 6 * u + 0.5 * (row % 2)
        column = math.floor(x)
        if 12 * v - row < 0.12 or x - column < 0.06:
            return joint
        return scaled(brick, 0.6 + 0.5 * tone(column % 6 + 0.5, row + 0.5) + 0.3 * (fleck(64 * u, 64 * v) - 0.5))

    return color


def stripes(first, second, count):
    def color(u, v):
        x = count * u % 1.0
        return second if x < 0.3 or 0.42 < x < 0.5 else first

    return color


def dots(ground, dot, count):
    def color(u, v):
        row = math.floor(count * v)
        x, y = (count * u + 0.5 * (row % 2)) % 1.0 - 0.5, count * v - row - 0.5
        return dot if x * x + y * y < 0.1 else ground

    return color


def marble(light, dark):
    layers = [Noise(10 + i, 4 << i) for i in range(4)]

    def color(u, v):
        bend = sum(layer((4 << i) * u, (4 << i) * v) / (1 << i) for i, layer in enumerate(layers))
        return mixed(light, dark, (0.5 + 0.5 * math.sin(2 * math.pi * (2 * u + 2 * v + 1.3 * bend))) ** 6)

    return color


def plaster(ground):
    layers = [Noise(20 + i, 8 << i) for i in range(3)]

    def color(u, v):
        return scaled(ground, 0.82 + 0.2 * sum(layer((8 << i) * u, (8 << i) * v) / (2 << i) for i, layer in enumerate(layers)))

    return color


def zigzag(first, second, count):
    def color(u, v):
        return first if (count * v + abs(2 * (count * u % 1.0) - 1)) % 1.0 < 0.5 else second

    return color


def woven(warp, weft, count):
    def color(u, v):
        x, y = count * u, count * v
        over = (math.floor(x) + math.floor(y)) % 2 == 0
        across = (y if over else x) % 1.0
        return scaled(warp if over else weft, 0.45 + 0.55 * math.sin(math.pi * across))

    return color


# Colors are in sRGB.
TEXTURES = {
    "floor": planks((0.76, 0.58, 0.38), (0.5, 0.32, 0.18)),
    "brick": bricks((0.66, 0.34, 0.26), (0.74, 0.71, 0.66)),
    "paper": stripes((0.84, 0.82, 0.72), (0.58, 0.68, 0.62), 10),
    "plaster": plaster((0.9, 0.88, 0.84)),
    "oak": planks((0.66, 0.47, 0.28), (0.42, 0.26, 0.14)),
    "marble": marble((0.9, 0.89, 0.86), (0.25, 0.3, 0.36)),
    "serpentine": marble((0.34, 0.5, 0.38), (0.8, 0.83, 0.72)),
    "chess": tiles((0.85, 0.82, 0.74), (0.2, 0.22, 0.3), (0.5, 0.5, 0.5), 8),
    "azulejo": tiles((0.9, 0.92, 0.94), (0.18, 0.36, 0.66), (0.75, 0.75, 0.72), 6),
    "dots": dots((0.85, 0.35, 0.3), (0.95, 0.92, 0.85), 8),
    "zigzag": zigzag((0.92, 0.8, 0.42), (0.3, 0.36, 0.5), 6),
    "wicker": woven((0.78, 0.6, 0.38), (0.6, 0.42, 0.24), 16),
}
PIXELS = 256


def png(color):
    """The bytes of a PNG of 8 bits a channel: v runs downwards."""
    rows = bytearray()
    for j in range(PIXELS):
        rows.append(0)
        v = (j + 0.5) / PIXELS
        for i in range(PIXELS):
            rows.extend(round(255 * min(max(channel, 0.0), 1.0)) for channel in color((i + 0.5) / PIXELS, v))

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", PIXELS, PIXELS, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b"")


# Meshes: triangles whose normals point outwards, by the right hand. `places` are texture coordinates.


class Mesh(typing.NamedTuple):
    points: list
    places: list
    triangles: list

    def moved(self, to, scale=1.0, turn=0.0):
        """The mesh turned about the y axis, scaled and moved."""
        c, s = math.cos(turn), math.sin(turn)
        points = [added(scaled((c * x + s * z, y, c * z - s * x), scale), to) for x, y, z in self.points]
        return Mesh(points, self.places, self.triangles)


def lathe(profile, count, repeat=(1.0, 1.0)):
    """A profile of (radius, height), upwards on the outside, turned about the y axis."""
    points, places, triangles = [], [], []
    for i, (radius, height) in enumerate(profile):
        for j in range(count + 1):
            angle = 2 * math.pi * (j % count) / count
            points.append((radius * math.cos(angle), height, radius * math.sin(angle)))
            places.append((repeat[0] * j / count, repeat[1] * i / (len(profile) - 1)))
    for i, ((low, _), (high, _)) in enumerate(zip(profile, profile[1:])):
        for j in range(count):
            a, b = i * (count + 1) + j, (i + 1) * (count + 1) + j
            if high > 0:
                triangles.append((a, b, b + 1))
            if low > 0:
                triangles.append((a, b + 1, a + 1))
    return Mesh(points, places, triangles)


def ball(radius, count=32):
    steps = [math.pi * i / count for i in range(count + 1)]
    inner = [(radius * math.sin(step), radius * (1 - math.cos(step))) for step in steps[1:-1]]
    return lathe([(0.0, 0.0), *inner, (0.0, 2 * radius)], 2 * count, (2.0, 1.0))


def ring(large, small):
    steps = [2 * math.pi * (i % 24) / 24 for i in range(25)]
    return lathe([(large + small * math.cos(b), small + small * math.sin(b)) for b in steps], 48, (4.0, 1.0))


def column(radius, height, count):
    return lathe([(0.0, 0.0), (radius, 0.0), (radius, height), (0.0, height)], count, (1.0, 1.0))


def cone(radius, height, count):
    return lathe([(0.0, 0.0), (radius, 0.0), (0.0, height)], count)


def vase(radius, height):
    steps = [i / 24 for i in range(25)]
    side = [(radius * (0.55 + 0.45 * math.sin(math.pi * (1.35 * t + 0.05))), height * t) for t in steps]
    return lathe([(0.0, 0.0), *side, (0.0, height)], 48, (2.0, 1.0))


def box(low, high, scale=1.0):
    """A box between two corners; a texture covers `scale` units a side."""
    points, places, triangles = [], [], []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            first = len(points)
            for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                point = [0.0, 0.0, 0.0]
                point[axis] = (low, high)[side][axis]
                point[u], point[v] = (low, high)[a][u], (low, high)[b][v]
                points.append(tuple(point))
                # The texture stands upright on sides.
                place = (point[v], point[u]) if u == 1 else (point[u], point[v])
                places.append(scaled(place, 1 / scale))
            quad = [first, first + 1, first + 2, first + 3]
            quad = quad if side == 1 else quad[::-1]
            triangles += [(quad[0], quad[1], quad[2]), (quad[0], quad[2], quad[3])]
    return Mesh(points, places, triangles)


def wall(corner, across, upwards, repeat):
    points = [corner, added(corner, across), added(added(corner, across), upwards), added(corner, upwards)]
    places = [(0.0, 0.0), (repeat[0], 0.0), repeat, (0.0, repeat[1])]
    return Mesh(points, places, [(0, 1, 2), (0, 2, 3)])


# Materials


class Diffuse(typing.NamedTuple):
    color: tuple

    def rib(self):
        return f'"pbr.rtsl:Lambert" "color diffuse" [{numbers(self.color)}]'

    def xml(self):
        return f'<bsdf type="diffuse"><rgb name="reflectance" value="{numbers(self.color)}"/></bsdf>'


class Print(typing.NamedTuple):
    texture: str

    def rib(self):
        return f'"showroom.rtsl:Print" "string file" ["textures/{self.texture}.png"] "float size" [{PIXELS}]'

    def xml(self):
        return (
            f'<bsdf type="diffuse"><texture type="bitmap" name="reflectance"><string name="filename" value="textures/{self.texture}.png"/>'
            '<string name="filter_type" value="nearest"/><string name="wrap_mode" value="repeat"/></texture></bsdf>'
        )


class Metal(typing.NamedTuple):
    eta: tuple
    k: tuple
    alpha: float

    def rib(self):
        index = f'"color eta" [{numbers(self.eta)}] "color k" [{numbers(self.k)}]'
        return f'"showroom.rtsl:RoughConductor" {index} "float roughness" [{math.sqrt(self.alpha):.7g}]'

    def xml(self):
        return (
            f'<bsdf type="roughconductor"><string name="distribution" value="ggx"/><float name="alpha" value="{self.alpha:.7g}"/>'
            f'<rgb name="eta" value="{numbers(self.eta)}"/><rgb name="k" value="{numbers(self.k)}"/></bsdf>'
        )


# Complex indices of refraction.
METALS = {
    "gold": ((0.143, 0.375, 1.442), (3.983, 2.386, 1.603)),
    "copper": ((0.2, 0.924, 1.102), (3.912, 2.452, 2.142)),
    "silver": ((0.155, 0.117, 0.138), (4.828, 3.122, 2.147)),
    "iron": ((2.912, 2.95, 2.584), (3.089, 2.932, 2.767)),
}


class Lamp(typing.NamedTuple):
    """A rectangle by its center and half its sides; it emits towards across × upwards."""

    center: tuple
    across: tuple
    upwards: tuple
    radiance: tuple


LAMP_COLOR = (0.6, 0.6, 0.6)


# The room, in meters: y is upwards, z runs from the back wall to the front.
HALF, HEIGHT, BACK, FRONT = 2.7, 2.9, -5.0, 3.0


def piece(kind, size, height):
    match kind:
        case 0:
            return ball(0.9 * size)
        case 1:
            return vase(0.85 * size, 2 * height)
        case 2:
            return box((-0.7 * size, 0.0, -0.7 * size), (0.7 * size, height, 0.7 * size), 1.4 * size)
        case 3:
            return ring(0.7 * size, 0.28 * size)
        case 4:
            return cone(0.8 * size, 1.2 * height, 48)
        case 5:
            return column(0.7 * size, height, 6)
        case _:
            return column(0.6 * size, height, 48)


def objects():
    """Pairs of a mesh and its material."""
    draw = random.Random(50)
    width, depth = 2 * HALF, FRONT - BACK
    yield wall((-HALF, 0, FRONT), (width, 0, 0), (0, 0, -depth), (3.0, 4.0)), Print("floor")
    yield wall((-HALF, HEIGHT, BACK), (width, 0, 0), (0, 0, depth), (2.0, 3.0)), Print("plaster")
    yield wall((-HALF, 0, BACK), (width, 0, 0), (0, HEIGHT, 0), (3.0, 1.5)), Print("brick")
    yield wall((HALF, 0, FRONT), (-width, 0, 0), (0, HEIGHT, 0), (2.0, 1.0)), Print("plaster")
    yield wall((-HALF, 0, FRONT), (0, 0, -depth), (0, HEIGHT, 0), (4.0, 1.5)), Print("paper")
    yield wall((HALF, 0, BACK), (0, 0, depth), (0, HEIGHT, 0), (4.0, 1.5)), Print("paper")

    spots = []
    heights = (0.4, 0.95, 1.5, 2.05)
    for side in (-1, 1):
        near, far = (-HALF, 0.45 - HALF) if side < 0 else (HALF - 0.45, HALF)
        for height in heights:
            yield box((near, height - 0.04, -4.6), (far, height, 1.0)), Print("oak")
            spots += [((near + 0.225, height, -4.2 + 0.96 * i), 0.2) for i in range(6)]
        for z in (-4.62, -1.82, 0.98):
            yield box((near, 0.0, z), (far, 2.4, z + 0.04)), Print("oak")
    for x, z in ((-1.05, -3.0), (1.05, -3.0), (0.0, -1.1)):
        yield box((x - 0.7, 0.7, z - 0.45), (x + 0.7, 0.76, z + 0.45)), Print("oak" if z < -2 else "marble")
        for a in (-0.62, 0.62):
            yield box((x + a - 0.04, 0.0, z - 0.4), (x + a + 0.04, 0.7, z + 0.4)), Diffuse((0.12, 0.12, 0.13))
        spots += [((x + dx, 0.76, z + dz), 0.19) for dx, dz in ((-0.42, -0.15), (0.0, 0.12), (0.42, -0.12))]

    prints = [name for name in TEXTURES if name not in ("floor", "paper", "brick", "plaster")]
    for i, (spot, size) in enumerate(spots):
        height = size * (1.2 + 0.8 * draw.random())
        mesh = piece(i % 7, size, height)
        turn, hue, alpha = draw.random() * 2 * math.pi, draw.random(), draw.choice((0.1, 0.15, 0.25, 0.4))
        if i % 5 == 0:
            material = Metal(*METALS[("gold", "copper", "silver", "iron")[i // 5 % 4]], alpha)
        elif i % 5 in (1, 3):
            material = Print(prints[i // 2 % len(prints)])
        else:
            material = Diffuse(tuple(0.12 + 0.6 * (0.5 + 0.5 * math.cos(2 * math.pi * (hue + c / 3))) for c in range(3)))
        yield mesh.moved(spot, 1.0, turn), material


def lamps():
    """40 panels under the ceiling and 10 strips on the walls, of one area."""
    draw = random.Random(3)

    def radiance():
        warmth, power = draw.random(), 5 + 5 * draw.random()
        return scaled(mixed((0.86, 0.97, 1.2), (1.25, 0.97, 0.68), warmth), power)

    for i in range(8):
        for j in range(5):
            yield Lamp((j - 2, HEIGHT - 0.02, i - 4.5), (0.15, 0, 0), (0, 0, 0.15), radiance())
    for side in (-1, 1):
        for i in range(5):
            yield Lamp(((HALF - 0.02) * side, 2.66, 1.2 * i - 4.2), (0, 0, 0.3 * side), (0, 0.075, 0), radiance())


# Files


def camera():
    """The axes of the camera: to the left, upwards, into the image."""
    into = normalized(added(TARGET, scaled(EYE, -1)))
    left = normalized(cross((0, 1, 0), into))
    return left, cross(into, left), into


def rib(size):
    """The scene for an image of size × size pixels, beside the files that `write` makes."""
    left, upwards, into = camera()
    rows = [scaled(left, -1), upwards, into]
    at = [-sum(a * b for a, b in zip(row, EYE)) for row in rows]
    matrix = [*(component for i in range(3) for component in (*(row[i] for row in rows), 0.0)), *at, 1.0]
    lines = [
        "##RenderMan RIB-Structure 1.1",
        f"Format {size} {size} 1",
        'PixelFilter "box" 1 1',
        f'Projection "perspective" "fov" [{FIELD:g}]',
        f'Integrator "path" "paths" "int maxPathLength" [{SEGMENTS - 1}]',
        f"ConcatTransform [{numbers(matrix)}]",
        "WorldBegin",
    ]
    for mesh, material in objects():
        places = [coordinate for place in mesh.places for coordinate in place]
        lines += [
            "AttributeBegin",
            f"Surface {material.rib()}",
            f"PointsPolygons [{' '.join('3' for _ in mesh.triangles)}] [{' '.join(str(i) for t in mesh.triangles for i in t)}]",
            f'  "P" [{numbers(x for point in mesh.points for x in point)}] "varying float[2] st" [{numbers(places)}]',
            "AttributeEnd",
        ]
    for lamp in lamps():
        corners = [added(lamp.center, added(scaled(lamp.across, a), scaled(lamp.upwards, b))) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        lines += [
            "AttributeBegin",
            f'Surface "showroom.rtsl:Lamp" "color diffuse" [{numbers(LAMP_COLOR)}] "color radiance" [{numbers(lamp.radiance)}]',
            f'Polygon "P" [{numbers(x for corner in corners for x in corner)}]',
            "AttributeEnd",
        ]
    return "\n".join([*lines, "WorldEnd"]) + "\n"


def ply(mesh):
    """The bytes of a PLY file, with the numbers of the RIB rounded to 32 bits."""
    lines = ["ply", "format binary_little_endian 1.0", f"element vertex {len(mesh.points)}"]
    lines += [f"property float {name}" for name in ("x", "y", "z", "u", "v")]
    lines += [f"element face {len(mesh.triangles)}", "property list uchar int vertex_indices", "end_header\n"]
    points = (struct.pack("<5f", *map(written, (*point, *place))) for point, place in zip(mesh.points, mesh.places))
    faces = (struct.pack("<B3i", 3, *triangle) for triangle in mesh.triangles)
    return "\n".join(lines).encode() + b"".join(points) + b"".join(faces)


def xml():
    """The scene for Mitsuba, with $size, $spp and $sampler."""
    lines = [
        '<scene version="3.0.0">',
        '<default name="size" value="512"/>',
        '<default name="spp" value="64"/>',
        '<default name="sampler" value="multijitter"/>',
        f'<integrator type="path"><integer name="max_depth" value="{SEGMENTS}"/></integrator>',
        '<sensor type="perspective">',
        f'<float name="fov" value="{FIELD:g}"/>',
        f'<transform name="to_world"><lookat origin="{numbers(EYE)}" target="{numbers(TARGET)}" up="0 1 0"/></transform>',
        '<sampler type="$sampler"><integer name="sample_count" value="$spp"/></sampler>',
        '<film type="hdrfilm"><integer name="width" value="$size"/><integer name="height" value="$size"/>'
        '<string name="pixel_format" value="rgb"/><rfilter type="box"/></film>',
        "</sensor>",
    ]
    for i, (_, material) in enumerate(objects()):
        lines.append(f'<shape type="ply"><string name="filename" value="meshes/{i}.ply"/><boolean name="face_normals" value="true"/>{material.xml()}</shape>')
    for lamp in lamps():
        normal = normalized(cross(lamp.across, lamp.upwards))
        matrix = [x for row in zip(lamp.across, lamp.upwards, normal, lamp.center) for x in row] + [0, 0, 0, 1]
        lines.append(
            f'<shape type="rectangle"><transform name="to_world"><matrix value="{numbers(matrix)}"/></transform>{Diffuse(LAMP_COLOR).xml()}'
            f'<emitter type="area"><rgb name="radiance" value="{numbers(lamp.radiance)}"/></emitter></shape>'
        )
    return "\n".join([*lines, "</scene>"]) + "\n"


def write(folder, size=512):
    """Writes the scene for both programs."""
    for name in ("meshes", "textures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, color in TEXTURES.items():
        (folder / "textures" / f"{name}.png").write_bytes(png(color))
    for i, (mesh, _) in enumerate(objects()):
        (folder / "meshes" / f"{i}.ply").write_bytes(ply(mesh))
    (folder / "showroom.rtsl").write_text(CLASSES)
    shutil.copy(ROOT / "assets/rtsl/pbr.rtsl", folder)
    (folder / "showroom.rib").write_text(rib(size))
    (folder / "showroom.xml").write_text(xml())


# Check


def counts_of_rib(folder):
    lines = (folder / "showroom.rib").read_text().splitlines()
    surfaces = [line for line in lines if line.startswith("Surface ")]
    meshes = [line for line in lines if line.startswith("PointsPolygons ")]
    images = {line.split('"string file" ["')[1].split('"')[0] for line in surfaces if '"string file"' in line}
    return {
        "objects": len(meshes),
        "triangles": sum(len(line.split("[")[1].split("]")[0].split()) for line in meshes),
        "lights": sum("color radiance" in line for line in surfaces),
        "materials": len(set(surfaces) - {line for line in surfaces if "color radiance" in line}),
        "textures": len({image for image in images if (folder / image).is_file()}),
    }


def counts_of_xml(folder):
    shapes = ElementTree.parse(folder / "showroom.xml").getroot().findall("shape")
    meshes = [shape for shape in shapes if shape.get("type") == "ply"]
    files = [folder / shape.find("string[@name='filename']").get("value") for shape in meshes]
    headers = [file.read_bytes().split(b"end_header")[0].decode() for file in files]
    faces = [line for header in headers for line in header.splitlines() if line.startswith("element face ")]
    images = {element.get("value") for shape in meshes for element in shape.findall(".//texture/string[@name='filename']")}
    return {
        "objects": len(meshes),
        "triangles": sum(int(line.split()[2]) for line in faces),
        "lights": len([shape for shape in shapes if shape.find("emitter") is not None]),
        "materials": len({ElementTree.tostring(shape.find("bsdf")).strip() for shape in meshes}),
        "textures": len({image for image in images if (folder / image).is_file()}),
    }


def is_outward(mesh):
    """Whether a closed mesh has a positive volume: its normals point outwards."""
    corners = ([mesh.points[i] for i in triangle] for triangle in mesh.triangles)
    return sum(sum(x * y for x, y in zip(a, cross(b, c))) for a, b, c in corners) > 0


def check(folder, program):
    """Messages about what is wrong with the files of a folder."""
    ours, theirs = counts_of_rib(folder), counts_of_xml(folder)
    print(", ".join(f"{count} {name}" for name, count in ours.items()))
    wrong = [f"{name}: {ours[name]} in the RIB, {theirs[name]} in the XML" for name in ours if ours[name] != theirs[name]]
    if ours["lights"] != LAMP_COUNT or ours["textures"] != len(TEXTURES):
        wrong.append(f"{ours['lights']} lights and {ours['textures']} textures instead of {LAMP_COUNT} and {len(TEXTURES)}")
    # Walls are not closed.
    inward = [i for i, (mesh, _) in enumerate(objects()) if len(mesh.triangles) > 2 and not is_outward(mesh)]
    wrong += [f"meshes/{i}.ply: its normals point inwards" for i in inward]
    if program:
        done = subprocess.run([program, "check", "--json", folder / "showroom.rib"], capture_output=True, text=True)
        result = json.loads(done.stdout or "{}")
        if done.returncode != 0 or result.get("errors") != 0 or result.get("warnings") != 0:
            wrong.append(f"{program} check: {done.stdout}{done.stderr}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", help="where the files are written")
    parser.add_argument("--size", type=int, default=512, help="pixels a side (512)")
    parser.add_argument("--check", action="store_true", help="compare the two scenes")
    parser.add_argument("--program", type=pathlib.Path, help="Shadewright, which --check runs on the RIB")
    options = parser.parse_args()
    if not options.folder and not options.check:
        parser.error("name a folder")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        write(folder, options.size)
        wrong = check(folder, options.program and options.program.resolve()) if options.check else []
    for message in wrong:
        print(f"showroom.py: {message}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
