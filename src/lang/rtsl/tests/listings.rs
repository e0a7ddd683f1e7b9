//! The listings of Parker et al. 2007, "RTSL: a Ray Tracing Shading Language", as they are printed:
//! lines that the columns of the page broke are whole again.

use super::*;
use shadewright_ir::passes::packets::{Packet, operations};

/// Listing 3.
const SPHERE: &str = "
class Sphere : rt_Primitive;
public vec3 center;
public float radius;
void constructor(vec3 newcenter,
float newradius) {
center = newcenter;
radius = newradius;
}
void intersect() {
vec3 O = rt_RayOrigin - center;
vec3 D = rt_RayDirection;
float A = dot(D, D);
float B = dot(O, D);
float C = dot(O, O) - radius*radius;
float disc = B*B-A*C;
if(disc > 0.0){
float r = sqrt(disc);
float t0 = -(r+B)/A;
if(t0 > rt_Epsilon){
hit(t0);
} else {
float t1 = (r-B)/A;
hit(t1);
}
}
}
void computeNormal() {
rt_GeometricNormal = (rt_HitPoint - center)/radius;
}
void computeBounds() {
rt_BoundMin = center - vec3(radius);
rt_BoundMax = center + vec3(radius);
}
";

/// Listing 4.
const PINHOLE: &str = "
class PinholeCamera : rt_Camera;
public vec3 position;
public vec3 lower_left_corner;
public vec3 uvw_u;
public vec3 uvw_v;
public vec3 uvw_w;
void constructor(vec3 eye, vec3 up, vec3 gaze,
vec2 uv0, vec2 uv1, float d)
{
position = eye;
uvw_v = up;
uvw_w = gaze;
uvw_u = normalize( cross( uvw_v, uvw_w ) );
uvw_v = normalize( cross( uvw_w, uvw_u ) );
uvw_w = normalize( gaze );
lower_left_corner = uv0.x * uvw_u + uv0.y * uvw_v + d *
uvw_w;
uvw_u = uvw_u * (uv1.x - uv0.x);
uvw_v = uvw_v * (uv1.y - uv0.y);
}
void generateRay()
{
rt_RayOrigin = position;
rt_RayDirection = lower_left_corner + rt_ScreenCoord.x*
uvw_u + rt_ScreenCoord.y*uvw_v;
}
";

/// Listing 5.
const DIELECTRIC: &str = include_str!("dielectric.rtsl");

#[test]
fn listings_1_and_2_illuminate() {
    good(
        "class Phong : rt_Material;
public color DiffuseColor;
public color SpecularColor;
public int SpecularExponent;
void shade() {
color result = color(0.);
vec3 V = -normalize(rt_RayDirection);
ambient(rt_HitPoint, rt_ShadingNormal)
result += DiffuseColor*rt_LightColor;
illuminance(rt_HitPoint, rt_GeometricNormal,
rt_ShadingNormal, PI/2) {
vec3 Ln = rt_LightDirection;
result += DiffuseColor * rt_LightColor * max(0., dot(
Ln, rt_ShadingNormal));
vec3 H_lum = normalize(Ln + V);
float NDotH_lum = max(0., dot(H_lum, rt_ShadingNormal
));
float phong_term_lum = pow(NDotH_lum,
SpecularExponent);
result += phong_term_lum * SpecularColor *
rt_LightColor;
}
rt_SampleColor = result;
}",
    );
}

#[test]
fn listing_3_meets_rays_bounds_itself_and_has_a_normal() {
    let unit = good(SPHERE);
    let sphere = alone(&unit, "Sphere");
    let v = |x, y, z| Const::Vec3([x, y, z]);
    let own = [("newcenter", v(0.0, 0.0, 5.0)), ("newradius", Const::F32(2.0))];
    let ray = |way| [("ray.origin", v(0.0, 0.0, 0.0)), ("ray.direction", way), ("ray.t", Const::F32(1e30))];
    let hit = run(&unit, &sphere, Method::Intersect, &[&own[..], &ray(v(0.0, 0.0, 2.0))].concat());
    assert_eq!(hit, [Const::F32(1.5)]);
    let miss = run(&unit, &sphere, Method::Intersect, &[&own[..], &ray(v(0.0, 1.0, 0.0))].concat());
    assert_eq!(miss, [Const::F32(1e30)]);
    let bounds = run(&unit, &sphere, Method::ComputeBounds, &own);
    assert_eq!(bounds, [v(-2.0, -2.0, 3.0), v(2.0, 2.0, 7.0)]);
    let normal = run(&unit, &sphere, Method::ComputeNormal, &[&own[..], &[("P", v(0.0, 0.0, 3.0))]].concat());
    assert_eq!(normal, [v(0.0, 0.0, -1.0), v(0.0, 0.0, -1.0)]);
}

/// §4.3.2: "up to 32 floating point operations, including three expensive operations … sharing a
/// common origin will reduce the total number of flops to 23 … unit-length reduces the flops to 24
/// but also reduces the expensive operations to only one … combining these two uses only 15
/// operations with a single square root".
#[test]
fn listing_3_costs_a_ray_of_a_packet_what_the_paper_says() {
    let unit = good(SPHERE);
    let built = build(&alone(&unit, "Sphere"), Method::Intersect, &unit.library, "core").expect("a core");
    let core = built.module.function("core").expect("the core");
    let counts = Packet::ALL.map(|(_, packet)| operations(core, packet));
    assert_eq!(counts.map(|c| c.longest), [32, 23, 24, 15]);
    assert_eq!(counts.map(|c| c.expensive), [3, 3, 1, 1]);
}

#[test]
fn listing_4_makes_rays() {
    let unit = good(PINHOLE);
    let v = |x, y, z| Const::Vec3([x, y, z]);
    let inputs = [
        ("eye", v(1.0, 2.0, 3.0)),
        ("up", v(0.0, 1.0, 0.0)),
        ("gaze", v(0.0, 0.0, 2.0)),
        ("uv0", Const::Vec2([-1.0, -1.0])),
        ("uv1", Const::Vec2([1.0, 1.0])),
        ("d", Const::F32(3.0)),
        ("screen.x", Const::F32(0.75)),
        ("screen.y", Const::F32(0.5)),
    ];
    let ray = run(&unit, &alone(&unit, "PinholeCamera"), Method::GenerateRay, &inputs);
    assert_eq!(ray, [v(1.0, 2.0, 3.0), v(0.5, 0.0, 3.0), Const::F32(f32::MAX)]);
}

#[test]
fn listing_5_compiles() {
    let unit = good(DIELECTRIC);
    let built = build(&alone(&unit, "SchlickDielectric"), Method::Shade, &unit.library, "core").expect("a core");
    let names: Vec<&str> = built.params.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["inside", "outside", "absorb"]);
}

#[test]
fn listing_6_compiles() {
    good(
        "class Part : rt_Primitive;
public vec3 p00; public vec3 p01; public vec3 p10; public vec3 p11;
void computeBounds() { rt_BoundMin = vec3(0.); rt_BoundMax = vec3(1.); }
void intersect() {
vec3 O = rt_RayOrigin; vec3 D = rt_RayDirection; vec2 u = vec2(0.5); vec2 v = vec2(0.5);
if (all(inside(vec2(u.x, v.x), 0.f, 1.f))){
vec3 p0 = mix(mix(p00, p01, v.x),
mix(p10, p11, v.x),
u.x);
float t0 = dot(D, p0 - O) / dot(D, D);
hit(t0);
}
}",
    );
}
