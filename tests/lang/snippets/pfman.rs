//! Snippets of pfman. Expected values are worked out from Olano 1998, chapter 4, by hand: fixed-point
//! ones are exact.

use super::table::Arg::{self, F, V};
use super::table::Snippet;

const fn s(name: &'static str, source: &'static str, args: &'static [Arg], expected: Arg) -> Snippet {
    Snippet { name, source, file: "snippet.pfman", args, expected, tolerance: 1e-5 }
}

/// The same with a value that is exact.
const fn exact(name: &'static str, source: &'static str, args: &'static [Arg], expected: Arg) -> Snippet {
    Snippet { tolerance: 0.0, ..s(name, source, args, expected) }
}

/// All of them.
pub const SNIPPETS: &[Snippet] = &[
    s(
        "pfman: functions of the host with constants",
        "extern \"C\" uniform float tanh(float x);
         extern \"static C++\" float hypot(float x, float y);
         float f(float x) { uniform float leg = 4; return x * hypot(3, leg) + tanh(1 - 0.5); }",
        &[F(2.0)],
        F(10.462_117),
    ),
    exact(
        "pfman: fixed-point noise on the lattice",
        "float f(float x) { fixed<12,4> a = x, b[4] = {x, 2, -3, 0}; return noise(a) + noise(a, a) + noise(b); }",
        &[F(-5.0)],
        F(1.5),
    ),
    // With the integers that src/lang/stdlib/fixed_noise.rs describes, computed elsewhere.
    exact(
        "pfman: fixed-point noise of one dimension",
        "float f(float x) { fixed<12,4> a = x; return noise(a) * 65536; }",
        &[F(2.5)],
        F(11829.0),
    ),
    exact(
        "pfman: fixed-point noise of an array",
        "float f(float x) { fixed<20,9> a[2] = {x, 0.75}; return noise(a) * 65536; }",
        &[F(-1.25)],
        F(26202.0),
    ),
    exact(
        "pfman: figure 4.8",
        "float f(float a, float b, float c) { fixed<10,10> x = a, y = b; fixed<15,12> z = c, r; r = x*y + z; return r; }",
        &[F(-0.5), F(0.75), F(7.25)],
        F(6.875),
    ),
    exact(
        "pfman: digits beyond the last are cut off",
        "float f(float x) { fixed<8,4> a = x; return a; }",
        &[F(-1.21875)],
        F(-1.1875),
    ),
    exact(
        "pfman: a float beyond the type is its largest number",
        "float f(float x) { unsigned fixed<8,8> a = x; return a; }",
        &[F(1.5)],
        F(0.996_093_75),
    ),
    exact(
        "pfman: the upper bits of a sum are cut off",
        "float f(float x) { fixed<4,0> a = x; a = a + 1; return a; }",
        &[F(15.0)],
        F(-16.0),
    ),
    exact(
        "pfman: products of 31 bits",
        "float f(float x) { fixed<31,28> a = x; a = a * a; return a; }",
        &[F(1.5)],
        F(2.25),
    ),
    exact(
        "pfman: products without signs",
        "float f(float x) { unsigned fixed<32,30> a = x; a = a * a; return a; }",
        &[F(1.75)],
        F(3.0625),
    ),
    exact(
        "pfman: exponents below zero",
        "float f(float x) { fixed<8,-4> a = x; return a * 2; }",
        &[F(100.0)],
        F(192.0),
    ),
    exact(
        "pfman: exponents beyond the size",
        "float f(float x) { fixed<4,8> a = x; return a; }",
        &[F(0.05)],
        F(0.046_875),
    ),
    exact(
        "pfman: quotients",
        "float f(float x, float y) { fixed<12,4> a = x, b = y; fixed<16,8> q = a / b; return q; }",
        &[F(-7.0), F(2.0)],
        F(-3.5),
    ),
    exact(
        "pfman: quotients of many digits",
        "float f(float x, float y) { unsigned fixed<20,4> a = x, b = y; unsigned fixed<30,24> q = a / b; return q; }",
        &[F(21.0), F(16.0)],
        F(1.3125),
    ),
    exact(
        "pfman: division by zero",
        "float f(float x) { fixed<8,0> a = x, b = 0; return (fixed<12,4>) (a / b); }",
        &[F(7.0)],
        F(0.0),
    ),
    exact(
        "pfman: remainders have the sign of the first",
        "float f(float x) { fixed<8,2> a = x; return a % 3; }",
        &[F(-7.25)],
        F(-1.25),
    ),
    exact(
        "pfman: shifts",
        "float f(float x) { unsigned fixed<8,0> a = x; return (a << 3) + (a >> 1); }",
        &[F(5.0)],
        F(42.0),
    ),
    exact(
        "pfman: shifts by a value",
        "float f(float x, float y) { unsigned fixed<8,0> a = x; return a << (unsigned fixed<5,0>) y; }",
        &[F(5.0), F(4.0)],
        F(80.0),
    ),
    exact(
        "pfman: bits",
        "float f(float x) { uInt1 a = x; return (a & 12) + (a | 3) + (a ^ 5); }",
        &[F(6.0)],
        F(4.0 + 7.0 + 3.0),
    ),
    exact(
        "pfman: comparisons align",
        "float f(float x) { fixed<8,4> a = x; unsigned fixed<4,0> b = 2; return (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a != b); }",
        &[F(1.9375)],
        F(11.0),
    ),
    exact("pfman: roots", "float f(float x) { unsigned fixed<16,8> a = x; return sqrt(a); }", &[F(30.25)], F(5.5)),
    exact(
        "pfman: magnitudes and bounds",
        "float f(float x) { fixed<8,4> a = x; return abs(a) + 100 * max(a, -1) + 10 * clamp(a, -2, 2); }",
        &[F(-3.5)],
        F(3.5 - 100.0 - 20.0),
    ),
    exact(
        "pfman: floors and ceilings",
        "float f(float x) { fixed<12,4> a = x; return floor(a) * 10 + ceil(a); }",
        &[F(-3.5)],
        F(-43.0),
    ),
    exact(
        "pfman: a fixed-point vector",
        "float f(float x) { fixed<8,4> v[3] = {x, 2, -1}, w[3] = {4, 0.5, x}; return v * w; }",
        &[F(1.25)],
        F(4.75),
    ),
    exact(
        "pfman: operators bind as in figure 4.2",
        "float f(float x) { return 1 << 2 | 1 + 2 * 3 ^ 1; }",
        &[F(0.0)],
        F(128.0),
    ),
    exact(
        "pfman: until",
        "float f(float x) { float n = 0; do n++; until (n * n >= x); return n; }",
        &[F(17.0)],
        F(5.0),
    ),
    exact(
        "pfman: matrix and vector",
        "float f(float v[3]) { float m[2][3] = {{1, 2, 3}, {0, -1, 1}}; float r[2] = m * v; return r[0] * 10 + r[1]; }",
        &[V([1.0, 2.0, 3.0])],
        F(141.0),
    ),
    s(
        "pfman: inverse with a zero in the first place",
        "float[3] f(float v[3]) { float m[3][3] = {{0, 2, 0}, {4, 0, 0}, {0, 0, 8}}; return v / m; }",
        &[V([2.0, 4.0, 8.0])],
        V([2.0, 0.5, 1.0]),
    ),
    exact(
        "pfman: cross product",
        "float[3] f(float a[3], float b[3]) { return a ^ b; }",
        &[V([1.0, 2.0, 3.0]), V([4.0, 5.0, 7.0])],
        V([-1.0, 5.0, -3.0]),
    ),
    exact(
        "pfman: elements by a value",
        "float f(float x) { float a[4] = {1, 2, 4, 8}; fixed<4,0> i = x; a[i] += 100; return a[0] + a[1] + a[2] + a[3] + a[i]; }",
        &[F(2.0)],
        F(115.0 + 104.0),
    ),
    exact(
        "pfman: overloads",
        "float g(float x) { return 1; } float g(fixed<8,0> x) { return 2; } float f(float x) { fixed<8,0> a = x; return g(x) * 10 + g(a); }",
        &[F(3.0)],
        F(12.0),
    ),
    exact(
        "pfman: recursion",
        "float g(float n) { if (n > 1) return n * g(n - 1); else return 1; } float f(float x) { return g(x); }",
        &[F(5.0)],
        F(120.0),
    ),
    s(
        "pfman: built-in functions element by element",
        "float[3] f(float v[3]) { return sqrt(v) + mix({0, 0, 0}, {2, 4, 6}, 0.5); }",
        &[V([4.0, 9.0, 16.0])],
        V([3.0, 5.0, 7.0]),
    ),
];
