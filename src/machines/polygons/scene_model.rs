//! A scene as a [`Model`]: polygons of its meshes, the view of its camera, its lights, and colors at
//! the corners.

use super::colors::{SurfacePoint, colors};
use super::model::{Light, Model, Polygon, View};
use crate::rays::model::{Face, Model as Rays};
use glam::{DVec4, Mat3, Mat4, Vec2, Vec3};
use shadewright_base::named::{Named, Row};
use shadewright_geometry::Mesh;
use shadewright_render::rpu::Loaded;
use shadewright_render::{Job, RenderError};
use shadewright_scene::params::Params;
use shadewright_scene::{CameraFrame, Integrator, Object, Scene};

/// The name of the hardware models in messages.
pub const NAME: &str = "the polygon hardware";

/// Where the colors at corners come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colors {
    /// The scene's shaders, which the host runs at each corner.
    #[default]
    Shaders,
    /// Hardware lighting, of ambient and directional lights (§3.3.1).
    Hardware,
}

impl Named for Colors {
    const TABLE: &'static [Row<Self>] = &[
        ("shaders", "The scene's shaders, which the host runs at the corners", Self::Shaders),
        ("hardware", "The hardware's own lighting: ambient and distant lights on matte surfaces", Self::Hardware),
    ];
}

/// How colors go across a polygon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// A polygon has one color.
    Constant,
    /// The colors of the corners are interpolated (Gouraud 1971).
    #[default]
    Smooth,
}

impl Named for Interpolation {
    const TABLE: &'static [Row<Self>] = &[
        ("constant", "Each polygon has one color", Self::Constant),
        ("smooth", "The colors of the corners are interpolated (Gouraud)", Self::Smooth),
    ];
}

/// The part of the farthest depth at which the near side of the volume is at least: what lies nearer is
/// cut, and the report says so. Smaller parts leave no bits of depth for the rest.
const NEAREST: f64 = 1e-5;

impl Model {
    /// The polygons that a job's camera may see, with colors.
    ///
    /// # Errors
    /// When the camera is a shader; when the polygons take more than 4 GiB; as rendering, where
    /// shaders fail.
    pub fn from_job(
        scene: &Scene,
        job: &Job,
        loaded: &Loaded,
        from: Colors,
        interpolation: Interpolation,
    ) -> Result<Self, RenderError> {
        if scene.camera_shader.is_some() || scene.ray_function.is_some() {
            let reason = "its camera is a shader; the hardware has perspective and parallel projections".to_string();
            return Err(RenderError::Model { model: NAME, reason });
        }
        let rays = Rays::from_meshes(scene)?;
        let frame = scene.camera_frame();
        let (view, cut) = view(scene, &frame, &rays.faces);
        let [red, green, blue, _] = scene.background;
        let mut model = Self {
            polygons: Vec::with_capacity(rays.faces.len()),
            ambient: Vec3::ZERO,
            lights: Vec::new(),
            view,
            background: Vec3::new(red, green, blue),
            left_out: rays.left_out.clone(),
        };
        model.take_lights(scene, rays.bounds);
        let mut places = Vec::with_capacity(4 * rays.faces.len());
        let (mut facing_away, mut first) = (0, 0);
        for (index, range) in &rays.objects {
            let object = &scene.objects[*index];
            first = start_of(&rays.faces[range.start as usize]).unwrap_or(first);
            if !object.attributes.visibility.camera {
                continue;
            }
            for face in &rays.faces[range.start as usize..range.end as usize] {
                let Some(found) = Corners::new(face, object, first) else { continue };
                let towards = view.eye - found.corners[0];
                if object.sides == 1 && found.plane.dot(towards) < 0.0 {
                    facing_away += 1;
                    continue;
                }
                let normals = found.normals.map(|n| if n.dot(towards) < 0.0 { -n } else { n });
                let normals =
                    if interpolation == Interpolation::Constant { [found.plane_towards(towards); 4] } else { normals };
                places.push(found.places(face, &view, interpolation));
                model.polygons.push(Polygon {
                    corners: found.corners,
                    count: found.count,
                    normals,
                    reflectance: found.color,
                    colors: [found.color; 4],
                    object: *index as u32,
                });
            }
        }
        if facing_away > 0 {
            model.left_out.push(format!("{facing_away} one-sided polygons that face away from the eye"));
        }
        if cut > 0 {
            model.left_out.push(format!("parts of {cut} polygons that are very near the eye, beside the farthest"));
        }
        model.take_notes(scene);
        match from {
            Colors::Hardware => model.light(),
            Colors::Shaders => {
                let found = colors(job, loaded, &view, &places)?;
                model.polygons.iter_mut().zip(found).for_each(|(polygon, colors)| polygon.colors = colors);
            }
        }
        Ok(model)
    }

    /// Computes the colors by hardware lighting.
    fn light(&mut self) {
        let (ambient, lights) = (self.ambient, &self.lights);
        for polygon in &mut self.polygons {
            let of_light = |n: Vec3, light: &Light| light.color * n.dot(light.direction).max(0.0);
            let lit = |n: Vec3| lights.iter().fold(ambient, |sum, light| sum + of_light(n, light));
            polygon.colors = polygon.normals.map(|n| lit(n) * polygon.reflectance);
        }
    }

    /// Takes the lights that hardware lighting can stand for.
    fn take_lights(&mut self, scene: &Scene, (low, high): (Vec3, Vec3)) {
        let middle = 0.5 * (low + high);
        let mut others = 0;
        for light in &scene.lights {
            let instance = &scene.shader_instances[light.shader.0 as usize];
            let params = Params(Some(instance));
            let color = params.float_or("intensity", 1.0) * params.color_or("lightcolor", 1.0);
            let from = params.point_or("from", Vec3::ZERO);
            let away = match instance.shader.as_str() {
                "ambientlight" => {
                    self.ambient += color;
                    continue;
                }
                "distantlight" => from - params.point_or("to", Vec3::Z),
                "pointlight" | "spotlight" | "gltflight" => from - middle,
                _ => {
                    others += 1;
                    continue;
                }
            };
            self.lights.push(Light { direction: away.normalize_or_zero(), color });
        }
        if others > 0 {
            self.left_out.push(format!("{others} lights that hardware lighting does not support"));
        }
    }

    /// Says what else of a scene the hardware does not show.
    fn take_notes(&mut self, scene: &Scene) {
        let procedural = scene.objects.iter().filter(|o| o.procedural.is_some()).count();
        let count = |is: &dyn Fn(&Object) -> bool| scene.objects.iter().filter(|object| is(object)).count();
        let clear = count(&|o| {
            o.opacity.min_element() < 1.0
                || !o.mesh.vertex_opacities.is_empty()
                || !o.mesh.triangle_opacities.is_empty()
        });
        let holdouts = count(&|o| o.attributes.visibility.matte);
        let notes = [
            (clear > 0, format!("the transparency of {clear} objects, which are opaque")),
            (holdouts > 0, format!("that {holdouts} objects are holdouts: they are shown")),
            (scene.film.moves, "motion: everything is where it is when the shutter opens".to_string()),
            (scene.film.crop.is_some(), "the crop window: the whole image is shown".to_string()),
            (procedural > 0, format!("{procedural} procedural primitives, which have no polygons")),
            (scene.camera.lens.is_some(), "the camera's lens: everything is in focus".to_string()),
            (scene.imager.is_some(), "the imager".to_string()),
            (
                scene.integrator == Integrator::Path,
                "the noise of path tracing: a corner has the color of one path (another --integrator has none)"
                    .to_string(),
            ),
        ];
        self.left_out.extend(notes.into_iter().filter(|(applies, _)| *applies).map(|(_, note)| note));
    }
}

/// The primitive number of a polygon's first triangle.
fn start_of(face: &Face) -> Option<u32> {
    face.triangles().first().map(|&(primitive, _)| primitive)
}

/// The camera's transformation, with the depths of what it sees as the volume's near and far side, and
/// how many polygons the near side cuts although the camera would see more of them.
fn view(scene: &Scene, frame: &CameraFrame, faces: &[Face]) -> (View, usize) {
    // A near and a far side that do not matter: the sides of the pyramid give all depths between.
    let to_pyramid = frame.to_ndc([0.0, f32::INFINITY]);
    let forward = Mat3::from_cols(frame.half_width * frame.x, frame.half_height * frame.y, frame.z).inverse().row(2);
    let depth = |point: Vec3| f64::from(forward.dot(point - frame.origin));
    let ranges: Vec<[f64; 2]> = faces.iter().filter_map(|face| depths(&to_pyramid, face, depth)).collect();
    let join = |[low, high]: [f64; 2], range: &[f64; 2]| [low.min(range[0]), high.max(range[1])];
    let [lowest, highest] = ranges.iter().fold([f64::MAX, f64::MIN], join);
    let [lowest, highest] = if lowest <= highest { [lowest, highest] } else { [1.0, 2.0] };
    // A little around them, so that rounding cuts nothing.
    let margin = 1e-4 * (highest - lowest).max(1e-3 * highest.abs()).max(f64::from(f32::MIN_POSITIVE));
    let far = (highest + margin).min(scene.camera.far.into());
    let near = if frame.orthographic { lowest - margin } else { (lowest - margin).max(NEAREST * far) };
    let cut = ranges.iter().filter(|range| range[0] < near).count();
    let near = near.max(scene.camera.near.into()).min(far - margin);
    let distant = match frame.orthographic {
        true => frame.z * (lowest.abs().max(highest.abs()) as f32 * 1e3 + 1.0),
        false => Vec3::ZERO,
    };
    let view = View {
        to_clip: frame.to_ndc([near as f32, far.max(near + margin) as f32]),
        eye: frame.origin - distant,
        size: [scene.format.width, scene.format.height],
    };
    (view, cut)
}

/// The least and the greatest depth of the part of a polygon that is within the sides of the pyramid of
/// view, in front of the eye; `None` where none is.
fn depths(to_pyramid: &Mat4, face: &Face, depth: impl Fn(Vec3) -> f64) -> Option<[f64; 2]> {
    let place = |corner: Vec3| (to_pyramid.as_dmat4() * corner.as_dvec3().extend(1.0), depth(corner));
    let mut corners: Vec<(DVec4, f64)> = face.corners.iter().map(|&corner| place(corner)).collect();
    for [x, y] in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]] {
        let side = DVec4::new(x, y, 0.0, 1.0);
        let mut kept = Vec::with_capacity(corners.len() + 2);
        for (from, to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
            let [inside, next] = [side.dot(from.0), side.dot(to.0)];
            if inside >= 0.0 {
                kept.push(*from);
            }
            if (inside >= 0.0) != (next >= 0.0) {
                let t = inside / (inside - next);
                kept.push((from.0.lerp(to.0, t), from.1 + (to.1 - from.1) * t));
            }
        }
        corners = kept;
    }
    let found = corners.iter().map(|&(_, depth)| [depth, depth]).filter(|[depth, _]| depth.is_finite());
    found.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

/// A polygon's corners with what its mesh has there.
struct Corners {
    corners: [Vec3; 4],
    count: usize,
    normals: [Vec3; 4],
    /// The vector perpendicular to the polygon, as its triangles go round.
    plane: Vec3,
    color: Vec3,
    /// For each corner its triangle in [`Face::triangles`], and its vertex in that.
    vertices: [(usize, usize); 4],
}

impl Corners {
    /// The corners of a polygon that stands for triangles of an object, whose first has a number.
    fn new(face: &Face, object: &Object, first: u32) -> Option<Self> {
        let triangles = face.triangles();
        let (mesh, placement) = (&object.mesh, object.mesh_to_world());
        let count = match triangles.len() {
            0 => return None,
            n => n + 2,
        };
        // A triangle's fourth corner is none of the mesh's.
        let of_triangle = [0, 1, 2].map(|vertex| (0, vertex));
        let find = |corner: u8| {
            let numbered = triangles.iter().enumerate();
            let mut found = numbered.flat_map(|(k, (_, map))| map.iter().enumerate().map(move |(v, c)| (k, v, *c)));
            found.find(|&(_, _, c)| c == corner).map(|(k, v, _)| (k, v))
        };
        let vertices = match count {
            3 => [of_triangle[0], of_triangle[1], of_triangle[2], of_triangle[2]],
            _ => [find(0)?, find(1)?, find(2)?, find(3)?],
        };
        let index = |(k, v): (usize, usize)| {
            let triangle = triangles.get(k)?.0.checked_sub(first)? as usize;
            mesh.triangles.get(triangle).map(|t| t[v] as usize)
        };
        let indices = [index(vertices[0])?, index(vertices[1])?, index(vertices[2])?, index(vertices[3])?];
        let corners = indices.map(|i| placement.transform_point3(mesh.positions[i]));
        let mirrored = if placement.determinant() < 0.0 { -1.0 } else { 1.0 };
        let normal = Mat3::from_mat4(placement).inverse().transpose();
        let plane = mirrored * (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let facet = plane.normalize_or_zero();
        let normals = indices.map(|i| mesh.normals.get(i).map_or(facet, |&n| (normal * n).normalize_or(facet)));
        let color = color_of(mesh, object, triangles[0].0.checked_sub(first)? as usize, indices[0]);
        // Quadrilaterals of a mirrored object go round the other way already.
        let plane = if count == 4 { mirrored * plane } else { plane };
        Some(Self { corners, count, normals, plane, color, vertices })
    }

    /// The normal of the plane on the side of the eye.
    fn plane_towards(&self, towards: Vec3) -> Vec3 {
        let n = self.plane.normalize_or_zero();
        if n.dot(towards) < 0.0 { -n } else { n }
    }

    /// Where its colors are computed.
    fn places(&self, face: &Face, view: &View, interpolation: Interpolation) -> [Option<SurfacePoint>; 4] {
        let triangles = face.triangles();
        let at = |k: usize, weights: [f32; 3]| {
            let (primitive, map) = *triangles.get(k)?;
            let vertex = |v: usize| match self.count {
                3 => self.corners[v],
                _ => self.corners[usize::from(map[v])],
            };
            let point = (0..3).fold(Vec3::ZERO, |sum, v| sum + weights[v] * vertex(v));
            Some(SurfacePoint { primitive, weights: Vec2::new(weights[1], weights[2]), point })
        };
        if interpolation == Interpolation::Constant {
            // The middle of a triangle, and of the diagonal of a quadrilateral.
            let weights = match self.count {
                3 => [1.0 / 3.0; 3],
                _ => triangles[0].1.map(|corner| if corner % 2 == 1 { 0.5 } else { 0.0 }),
            };
            return [at(0, weights); 4];
        }
        let clip = self.corners.map(|corner| view.transform(corner));
        let foremost = (0..self.count).max_by(|&a, &b| clip[a].w.total_cmp(&clip[b].w)).unwrap_or(0);
        std::array::from_fn(|corner| {
            // A corner behind the eye takes the color of the one farthest in front of it.
            let seen = if clip[corner].w > 0.0 { corner } else { foremost };
            let (k, v) = self.vertices[seen];
            let mut weights = [0.0; 3];
            weights[v] = 1.0;
            at(k, weights)
        })
    }
}

/// The reflectance at a vertex of a triangle: the color that the scene gives it.
fn color_of(mesh: &Mesh, object: &Object, triangle: usize, vertex: usize) -> Vec3 {
    let own = mesh.vertex_colors.get(vertex).or_else(|| mesh.triangle_colors.get(triangle));
    own.copied().unwrap_or(object.color)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polygons::screen::screen_polygons;
    use shadewright_base::text::source::SourceMap;
    use shadewright_golden::compare::compare;
    use shadewright_image::Image;
    use shadewright_program::{LinkOptions, link};
    use shadewright_render::sampling::Sampling;
    use shadewright_render::{DEFAULT_BUDGET, Window, prepare, rpu};
    use shadewright_scene::{OpenOptions, Shadows, open};
    use std::path::Path;

    const SIZE: (u32, u32) = (40, 30);

    fn scene(file: &str, sources: &mut SourceMap) -> Scene {
        let options = OpenOptions { size: Some(SIZE), shadows: Shadows::Off, ..OpenOptions::default() };
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(file);
        open(&path, &options, sources).expect("a scene").scene
    }

    /// A sphere of plastic in front of a distant light.
    const SPHERE: &str = "Projection \"perspective\" \"fov\" [30] Translate 0 0 4 WorldBegin \
        LightSource \"distantlight\" 1 \"from\" [-3 6 -4] LightSource \"ambientlight\" 2 \"intensity\" [0.2] \
        Surface \"plastic\" Color [0.9 0.6 0.3] Sphere 1 -1 1 360 WorldEnd";

    fn job(scene: &Scene, sources: SourceMap) -> (Job, Loaded) {
        let program = link(scene, sources, &LinkOptions::default()).expect("its shaders compile");
        let loaded =
            Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).expect("compiles");
        let sampling = Sampling { strata: [1, 1], seed: 0 };
        let job = prepare(program, scene, Window::whole(SIZE.0, SIZE.1), sampling, DEFAULT_BUDGET).expect("it fits");
        (job, loaded)
    }

    fn render(job: &Job, loaded: &Loaded) -> Image {
        rpu::draw(job, loaded, &|_| {}).expect("renders")
    }

    /// The scene's image, and that of its polygons with their colors.
    fn both(file: &str, from: Colors, interpolation: Interpolation) -> (Image, Image, Model) {
        let mut sources = SourceMap::new();
        let scene = scene(file, &mut sources);
        let (own, loaded) = job(&scene, sources);
        let model = Model::from_job(&scene, &own, &loaded, from, interpolation).expect("a model");
        let (painted, shown) = job(&model.painted(&scene.camera, scene.format), SourceMap::new());
        let (mut own, painted) = (render(&own, &loaded), render(&painted, &shown));
        own.rgba.iter_mut().for_each(|pixel| pixel[3] = 1.0);
        (own, painted, model)
    }

    #[test]
    fn polygons_lit_from_afar_look_as_the_ray_tracer_draws_them() {
        for from in [Colors::Shaders, Colors::Hardware] {
            for interpolation in [Interpolation::Smooth, Interpolation::Constant] {
                let (scene, painted, model) = both("assets/machines/cubes-21.rib", from, interpolation);
                assert_eq!(model.polygons.len(), 126);
                let report = compare(&scene, &painted).expect("of one size");
                assert!(report.difference.rmse < 1e-4, "{from:?}, {interpolation:?}: {report}");
                assert!(scene.rgba.iter().filter(|pixel| pixel[1] > 0.1).count() > 100, "nothing is seen");
            }
        }
    }

    #[test]
    fn a_curved_mesh_has_the_colors_of_its_shaders_at_the_corners() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("sphere.rib");
        std::fs::write(&file, SPHERE).expect("it is written");
        let error = |interpolation| {
            let (scene, painted, _) = both(&file.to_string_lossy(), Colors::Shaders, interpolation);
            compare(&scene, &painted).expect("of one size").difference.rmse
        };
        let (smooth, constant) = (error(Interpolation::Smooth), error(Interpolation::Constant));
        assert!(smooth < 0.01 && smooth < 0.5 * constant, "{smooth} and {constant}");
    }

    #[test]
    fn the_view_has_all_polygons_between_its_sides() {
        let (_, _, model) = both("assets/machines/cubes-21.rib", Colors::Hardware, Interpolation::Constant);
        let polygons = screen_polygons(&model, |polygon, k| polygon.colors[k]);
        assert_eq!(polygons.len(), model.polygons.len());
        let depths = polygons.iter().flat_map(|p| &p.vertices).map(|v| v.position.z);
        let (low, high) = depths.fold((1.0, 0.0), |(low, high): (f64, f64), z| (low.min(z), high.max(z)));
        assert!((0.0..0.01).contains(&low) && (0.99..=1.0).contains(&high), "{low} to {high}");
        let raster = model.view.raster(model.polygons[0].corners[0]).expect("in front of the eye");
        assert!(raster.x > 0.0 && raster.x < 40.0 && raster.y > 0.0 && raster.y < 30.0, "{raster}");
    }
}
