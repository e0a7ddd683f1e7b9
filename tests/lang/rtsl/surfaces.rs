//! Polygons, quadrics and net volumes against closed forms: what they cover in an orthographic image,
//! and residuals that a surface shader works out where rays hit them.

use super::{BOUND, compared};
use crate::common::{repository, shadewright, stderr};
use shadewright::image::{Image, file as image_file};
use std::f32::consts::PI;
use std::fs;

/// Side of the image, which shows x and y from −2 to 2.
const SIZE: u32 = 80;

/// The area of a pixel.
const PIXEL: f32 = 16.0 / (SIZE * SIZE) as f32;

/// An image of a primitive around the origin, seen along z from −5. Its surface shader is
/// `surface found() { float error; BODY }`: red is the error that the body works out, green 1, blue
/// what it sets `other` to.
fn image(primitive: &str, body: &str) -> Image {
    image_from("Translate 0 0 5", primitive, body)
}

fn image_from(camera: &str, primitive: &str, body: &str) -> Image {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("the folder can be written");
    for name in ["polygons", "quadrics"] {
        let text = fs::read_to_string(repository(&format!("assets/rtsl/{name}.rtsl"))).expect("an asset");
        write(&format!("{name}.rtsl"), &text);
    }
    write(
        "found.sl",
        &format!("surface found() {{ float error = 0, other = 0; {body} Oi = 1; Ci = color (error, 1, other); }}"),
    );
    let head = format!(
        "Format {SIZE} {SIZE} 1\nScreenWindow -2 2 -2 2\nOption \"shading\" \"string current\" [\"world\"]\nProjection \"orthographic\""
    );
    write("scene.rib", &format!("{head}\n{camera}\nWorldBegin\nSurface \"found\"\n{primitive}\nWorldEnd\n"));
    let args = ["scene.rib", "--render", "out.exr", "--backend", "rpu", "--spp", "4", "--strict"];
    let output = shadewright(folder.path(), &args);
    assert!(output.status.success() && !stderr(&output).contains("warning"), "{primitive}: {}", stderr(&output));
    image_file::read(&folder.path().join("out.exr")).expect("an image")
}

/// The area that a primitive covers, and the largest error of a pixel.
fn covered(image: &Image) -> (f32, f32) {
    let errors = image.rgba.iter().filter(|pixel| pixel[1] > 0.0).map(|pixel| pixel[0] / pixel[1]);
    (PIXEL * image.rgba.iter().map(|pixel| pixel[1]).sum::<f32>(), errors.fold(0.0, f32::max))
}

/// Checks the area to within half a pixel's side along an outline of that length.
fn check(name: &str, image: &Image, area: f32, outline: f32, error: f32) {
    let (found, residual) = covered(image);
    assert!((found - area).abs() < 0.05 * outline * PIXEL.sqrt(), "{name} covers {found}, not {area}");
    assert!(residual < error, "{name}: an error of {residual:e}");
}

/// The corners of quadrilaterals around the origin: a parallelogram, trapezia with either pair of
/// edges parallel, one without parallel edges, and a triangle.
const QUADRILATERALS: [(&str, [[f32; 2]; 4]); 5] = [
    ("a parallelogram", [[-1.5, -1.0], [1.0, -1.0], [1.5, 1.0], [-1.0, 1.0]]),
    ("a trapezium with v parallel", [[-1.5, -1.0], [1.5, -1.0], [0.5, 1.2], [-1.0, 1.2]]),
    ("a trapezium with u parallel", [[-1.0, -1.5], [1.2, -1.0], [1.2, 0.5], [-1.0, 1.5]]),
    ("edges that are not parallel", [[-1.6, -1.2], [1.3, -0.9], [0.8, 1.1], [-0.4, 1.7]]),
    ("a triangle", [[-1.5, -1.0], [1.5, -1.0], [0.2, 1.4], [0.2, 1.4]]),
];

/// Twice the signed area, and the length of the outline.
fn measure(corners: &[[f32; 2]]) -> (f32, f32) {
    let pairs = corners.iter().zip(corners.iter().cycle().skip(1));
    pairs.fold((0.0, 0.0), |(area, outline), (a, b)| {
        (area + a[0] * b[1] - a[1] * b[0], outline + f32::hypot(b[0] - a[0], b[1] - a[1]))
    })
}

#[test]
fn the_place_on_a_quadrilateral_is_that_of_its_bilinear_map() {
    for (name, corners) in QUADRILATERALS {
        // In a plane that is tilted: z = x / 4 - y / 8.
        let at = |i: usize| {
            let [x, y] = corners[i];
            format!("{x} {y} {}", x / 4.0 - y / 8.0)
        };
        let [a, b, c, d] = [0, 1, 2, 3].map(at);
        let primitive = format!(
            "Geometry \"polygons.rtsl:Quadrilateral\" \"point p00\" [{a}] \"point p10\" [{b}] \"point p11\" [{c}] \"point p01\" [{d}]"
        );
        let [a, b, c, d] = [a, b, c, d].map(|p| format!("point ({})", p.replace(' ', ", ")));
        let body = format!("point q = mix(mix({a}, {b}, s), mix({d}, {c}, s), t); error = distance(P, q);");
        let (area, outline) = measure(&corners);
        // Where two corners are one, the two roots of v meet.
        let error = if corners[2] == corners[3] { 1e-4 } else { 5e-6 };
        check(name, &image(&primitive, &body), area / 2.0, outline, error);
    }
}

#[test]
fn normals_of_a_quadrilateral_are_interpolated_from_its_corners() {
    let primitive = "Geometry \"polygons.rtsl:Quadrilateral\" \"point p00\" [-1 -1 0] \"point p10\" [1 -1 0] \"point p11\" [1 1 0] \"point p01\" [-1 1 0]
        \"normal n00\" [-1 -1 -2] \"normal n10\" [1 -1 -2] \"normal n11\" [1 1 -2] \"normal n01\" [-1 1 -2]";
    // They are those of x, y, -2 at (x, y), and the tangents are the edges.
    let body = "error = length(normalize(N) - normalize(vector (xcomp(P), ycomp(P), -2))) + length(dPdu - vector (2, 0, 0)) + length(dPdv - vector (0, 2, 0));";
    check("a square", &image(primitive, body), 4.0, 8.0, 5e-6);
}

/// Corners of a five-pointed star.
fn star() -> Vec<[f32; 2]> {
    let radius = |i: usize| if i.is_multiple_of(2) { 1.8 } else { 0.7 };
    (0..10).map(|i| (radius(i), PI * (0.5 + i as f32 / 5.0))).map(|(r, a)| [r * a.cos(), r * a.sin()]).collect()
}

fn polygon(corners: &[[f32; 3]], more: &str) -> String {
    let n = corners.len();
    let flat: Vec<String> = corners.iter().flatten().map(f32::to_string).collect();
    format!("Geometry \"polygons.rtsl:Polygon\" \"int count\" [{n}] \"point[{n}] corners\" [{}] {more}", flat.join(" "))
}

fn list(values: impl Iterator<Item = f32>) -> String {
    values.map(|x| x.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_concave_polygon_covers_its_area_with_normals_and_coordinates_of_its_corners() {
    let corners = star();
    let placed: Vec<[f32; 3]> = corners.iter().map(|&[x, y]| [x, y, x / 4.0 - y / 8.0]).collect();
    let (area, outline) = measure(&corners);
    // Affine data are interpolated exactly.
    let u = list(corners.iter().map(|[x, _]| 0.5 * x));
    let v = list(corners.iter().map(|[x, y]| x + 0.25 * y));
    let normals = list(corners.iter().flat_map(|&[x, y]| [x, y, -3.0]));
    let more = format!("\"normal[10] normals\" [{normals}] \"float[10] u\" [{u}] \"float[10] v\" [{v}]");
    let body = "error = abs(s - 0.5 * xcomp(P)) + abs(t - xcomp(P) - 0.25 * ycomp(P)) + abs(zcomp(P) - xcomp(P) / 4 + ycomp(P) / 8)
            + length(normalize(N) - normalize(vector (xcomp(P), ycomp(P), -3)));
        vector du = dPdu, dv = dPdv;
        error += abs(0.5 * xcomp(du) - 1) + abs(xcomp(du) + 0.25 * ycomp(du)) + abs(0.5 * xcomp(dv)) + abs(xcomp(dv) + 0.25 * ycomp(dv) - 1);";
    check("a star", &image(&polygon(&placed, &more), body), area / 2.0, outline, 2e-4);
}

#[test]
fn a_polygon_that_is_not_planar_has_no_holes_and_goes_through_its_corners() {
    let corners = [[-1.5, -1.5, 0.5], [1.5, -1.5, -0.5], [1.5, 1.5, 0.5], [-1.5, 1.5, -0.5]];
    // The plane through a ray and the first edge is one of constant y.
    let body = "error = abs(zcomp(P) - xcomp(P) * ycomp(P) * 0.5 / 2.25);";
    check("a saddle", &image(&polygon(&corners, ""), body), 9.0, 12.0, 1e-5);
}

/// x² + y² + z² = 1 and its like: the coefficients of a quadric about the origin by squares and the
/// constant.
fn squares(x: f32, y: f32, z: f32, constant: f32) -> String {
    format!("{x} 0 0 0 {y} 0 0 {z} 0 {constant}")
}

#[test]
fn rays_hit_quadrics_where_their_value_is_zero() {
    let quadric = |coefficients: &str, from: &str, to: &str| {
        format!(
            "Geometry \"quadrics.rtsl:Quadric\" \"float[10] coefficients\" [{coefficients}] \"point from\" [{from}] \"point to\" [{to}]"
        )
    };
    let along = "float x = xcomp(P), y = ycomp(P), z = zcomp(P); vector n = normalize(N);
        error = abs(n . normalize(dPdu)) + abs(n . normalize(dPdv)) + abs(s - 0.5 - atan(y, x) / (2 * PI));";
    let cases = [
        ("a ball", squares(1.0, 1.0, 1.0, -1.0), "-1 -1 -1", "1 1 1", "x * x + y * y + z * z - 1", PI, 2.0 * PI),
        (
            "the part of a ball in a box",
            squares(1.0, 1.0, 1.0, -1.0),
            "-1 -1 -1",
            "0 1 1",
            "x * x + y * y + z * z - 1",
            PI / 2.0,
            PI + 2.0,
        ),
        (
            "a hyperboloid",
            squares(1.0, 1.0, -1.0, -0.25),
            "-2 -2 -1",
            "2 2 1",
            "x * x + y * y - z * z - 0.25",
            1.25 * PI - 0.25 * PI,
            2.0 * PI * 1.6,
        ),
        (
            "a sheared ellipsoid",
            "1 1 0 0 1 0 0 2 0 -1".to_string(),
            "-2 -2 -2",
            "2 2 2",
            "x * x + x * y + y * y + 2 * z * z - 1",
            2.0 * PI / 3f32.sqrt(),
            8.0,
        ),
        (
            "a paraboloid",
            "1 0 0 0 1 0 0 0 -1 -0.5".to_string(),
            "-2 -2 -0.5",
            "2 2 0.5",
            "x * x + y * y - z - 0.5",
            PI,
            2.0 * PI,
        ),
        ("a plane", "0 0 0 1 0 0 1 0 4 0".to_string(), "-1 -1 -2", "1 1 2", "x + y + 4 * z", 4.0, 8.0),
    ];
    for (name, coefficients, from, to, value, area, outline) in cases {
        // u has a seam where y is zero.
        let body = format!("{along} error = (abs(y) < 0.05 ? 0 : error) + abs({value});");
        check(name, &image(&quadric(&coefficients, from, to), &body), area, outline, 3e-5);
    }
}

fn net_volume(parts: &[(String, i32)], from: &str, to: &str) -> String {
    let n = parts.len();
    let coefficients: Vec<&str> = parts.iter().map(|part| part.0.as_str()).collect();
    let signs = list(parts.iter().map(|part| part.1 as f32));
    format!(
        "Geometry \"quadrics.rtsl:NetVolume\" \"int count\" [{n}] \"float[{}] coefficients\" [{}] \"float[{n}] signs\" [{signs}] \"point from\" [{from}] \"point to\" [{to}]",
        10 * n,
        coefficients.join(" ")
    )
}

/// A ball about the origin.
fn ball(radius: f32) -> String {
    squares(1.0, 1.0, 1.0, -radius * radius)
}

#[test]
fn a_negative_volume_drills_a_hole() {
    let parts = [(ball(1.5), 1), (squares(1.0, 1.0, 0.0, -0.25), -1)];
    let drilled = net_volume(&parts, "-2 -2 -2", "2 2 2");
    // What is seen from the front is the ball, whose normals face the camera.
    let body = "error = abs(length(vector (P)) - 1.5) + max(0, zcomp(normalize(N)));";
    check("a drilled ball", &image(&drilled, body), PI * (2.25 - 0.25), 4.0 * PI, 1e-5);
    // Through the hole of a ball that is cut open its wall is seen, which faces the axis.
    let cut = net_volume(&parts, "0 -2 -2", "2 2 2");
    let side = format!("Rotate 90 0 1 0 {cut}");
    let body = "point q = transform(\"object\", P); float r = length(vector (xcomp(q), ycomp(q), 0));
        error = min(min(abs(length(vector (q)) - 1.5), abs(r - 0.5)), abs(xcomp(q)));";
    let (area, error) = covered(&image(&side, body));
    assert!((area - (PI * 2.25 - 0.116)).abs() < 0.05 && error < 1e-5, "{area} {error:e}");
}

#[test]
fn volumes_are_added_before_their_sign_counts() {
    // Where two volumes overlap one of negative volume leaves one: no hole in the middle third.
    let slab = |from: f32, to: f32| format!("1 0 0 {} 0 0 0 0 0 {}", -(from + to), from * to);
    let parts = [(slab(-1.5, 0.5), 1), (slab(-0.5, 1.5), 1), (squares(0.0, 1.0, 0.0, -0.25), -1)];
    let body = net_volume(&parts, "-2 -1 -1", "2 1 1");
    // Six squares of 1, less the bar of y from -0.5 to 0.5 in the outer thirds.
    check("overlapping slabs", &image(&body, ""), 3.0 * 2.0 - 2.0, 14.0, 1e-6);
}

#[test]
fn a_ray_that_starts_inside_knows_that_it_does() {
    // From the middle of a hollow ball its inner wall is seen, which faces inward, and from within the
    // wall its outer surface.
    let hollow = net_volume(&[(ball(1.5), 1), (ball(0.5), -1)], "-2 -2 -2", "2 2 2");
    let body = "float r = length(vector (P)), out = N . vector (P);
        error = r < 1 ? abs(r - 0.5) + max(0, out) : abs(r - 1.5) + max(0, -out);";
    check("a hollow ball from within", &image_from("", &hollow, body), PI * 2.25, 3.0 * PI, 1e-5);
    // From the center of a full one its outer surface is, from behind.
    let full = net_volume(&[(ball(1.5), 1)], "-2 -2 -2", "2 2 2");
    let body = "error = abs(length(vector (P)) - 1.5) + max(0, -zcomp(normalize(N)));";
    check("a full ball from within", &image_from("", &full, body), PI * 2.25, 3.0 * PI, 1e-5);
}

#[test]
fn more_elements_than_an_array_has_are_reported_and_fewer_are_not() {
    let folder = tempfile::tempdir().expect("a folder for the scene");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("the folder can be written");
    write("quadrics.rtsl", &fs::read_to_string(repository("assets/rtsl/quadrics.rtsl")).expect("an asset"));
    let say = |signs: usize| {
        let list = "1 ".repeat(signs);
        let body = format!(
            "Geometry \"quadrics.rtsl:NetVolume\" \"int count\" [1] \"float[10] coefficients\" [{}] \"float[{signs}] signs\" [{list}] \"point from\" [-1 -1 -1] \"point to\" [1 1 1]",
            ball(1.0)
        );
        write("scene.rib", &format!("Format 4 4 1\nTranslate 0 0 5\nWorldBegin\n{body}\nWorldEnd\n"));
        stderr(&shadewright(folder.path(), &["scene.rib", "--render", "out.png", "--backend", "rpu"]))
    };
    assert!(!say(1).contains("warning") && !say(8).contains("warning"), "{}", say(1));
    assert!(say(9).contains("is a float[8], but the scene has 9 values"), "{}", say(9));
}

#[test]
fn polygons_and_quadrics_look_alike_on_both_back_ends() {
    compared("assets/rtsl/polygons.rib", "40x20", BOUND);
}
