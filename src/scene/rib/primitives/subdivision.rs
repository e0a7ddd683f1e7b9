//! `SubdivisionMesh` (RISpec 3.2, §5.5).
//!
//! | tag | arguments | meaning |
//! |---|---|---|
//! | `hole` | faces | they are left out |
//! | `crease` | points of a chain of edges; one sharpness, or one an edge | 10 and more never softens |
//! | `corner` | points; one sharpness, or one a point | likewise |
//! | `interpolateboundary` | none, or 0, 1, 2 | the surface ends before the mesh's rim (0, and without the tag), at its edges and corners (1, and without arguments), at its edges (2) |
//! | `facevaryinginterpolateboundary` and other tags about values | | nothing: values of class facevarying are blended linearly |

use super::super::args::Args;
use super::super::reader::Reader;
use super::dicing::{self, MAX_DICED, metric, too_fine};
use super::polygons::{check_counts, check_indices, positions};
use super::variables::{Blend, ClassMap, Spread, Variables};
use super::{Source, add_object};
use glam::Vec2;
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::subdivision::{Boundary, Cage, CageError, Refined, Scheme, corner_parameters};
use shadewright_geometry::{Channel, Faces};

/// `SubdivisionMesh scheme [counts] [indices] [tags] [nargs] [integers] [floats]`, the last four
/// arrays together or not at all.
pub fn subdivision_mesh(r: &mut Reader<'_>, args: &mut Args<'_, '_>) -> Result<(), Diagnostic> {
    let scheme = match args.string("a scheme")?.as_str() {
        "catmull-clark" => Scheme::CatmullClark,
        "loop" => Scheme::Loop,
        "bilinear" => Scheme::Bilinear,
        other => {
            let text = format!("there is no scheme `{other}`");
            return Err(args.error(text).hint("use \"catmull-clark\", \"loop\" or \"bilinear\""));
        }
    };
    let counts = args.integer_values()?;
    let indices = args.integer_values()?;
    let tags = if args.next_is_array()? { Some(Tags::read(args)?) } else { None };
    let vars = Variables::read(r, args)?;
    r.admit_geometry(args.span);
    let counts = check_counts(args, counts, indices.0.len(), "indices")?;
    let points = positions(args, &vars)?;
    let indices = check_indices(args, indices, points.len())?;
    let mut cage = Cage { scheme, counts, indices, points, ..Cage::default() };
    if let Some(tags) = tags
        && let Err(d) = tags.apply(r, args, &mut cage)
    {
        // The mesh has those before it.
        r.error(d);
    }
    let (counts, corners, points) = (cage.counts.clone(), cage.indices.len(), cage.points.len());
    let refined = match cage.refine(&metric(r), MAX_DICED, r.budget.room()) {
        Ok(refined) => refined,
        Err(CageError::TooMany) => return too_fine(r, args),
        Err(other) => return Err(args.error(other.to_string())),
    };
    if !dicing::count(r, args, refined.triangles.len(), &vars) {
        return Ok(());
    }
    place(r, args, vars, &refined, &Counts { faces: counts, corners, points })
}

/// How many values there are of each class.
struct Counts {
    /// For each face, its vertices.
    faces: Vec<u32>,
    corners: usize,
    points: usize,
}

fn place(
    r: &mut Reader<'_>,
    args: &Args<'_, '_>,
    vars: Variables,
    refined: &Refined,
    counts: &Counts,
) -> Result<(), Diagnostic> {
    let uniform =
        if counts.faces.len() == 1 { Channel::Constant(0) } else { Channel::PerTriangle(refined.faces.clone()) };
    let at_points = Channel::PerPoint((0..refined.points.len() as u32).collect());
    let corners = || {
        let blend: Blend<'_> = Box::new(|values, width| refined.blend_corners(values, width));
        let at = at_corners(&refined.corner_values[0]);
        ClassMap { count: counts.corners, meaning: "one value a vertex of each face", blend: Some(blend), at }
    };
    let spread = Spread {
        uniform: ClassMap { count: counts.faces.len(), meaning: "one value a face", blend: None, at: uniform },
        varying: ClassMap {
            count: counts.points,
            meaning: "one value a point of `P`",
            blend: Some(Box::new(|values, width| refined.blend_points(values, width))),
            at: at_corners(&refined.corner_values[1]),
        },
        vertex: ClassMap {
            count: counts.points,
            meaning: "one value a point of `P`",
            blend: Some(Box::new(|values, width| refined.blend_vertex(values, width))),
            at: at_points,
        },
        face_varying: corners(),
        face_vertex: corners(),
    };
    let uv: Vec<f32> = counts.faces.iter().flat_map(|&n| corner_parameters(n)).flat_map(|uv| uv.to_array()).collect();
    let uv = refined.blend_corners(&uv, 2).chunks_exact(2).map(Vec2::from_slice).collect();
    let normals = match refined.normal_indices.as_slice() {
        [] => Channel::Absent,
        indices => Channel::PerCorner { indices: indices.to_vec(), values: refined.normals.clone() },
    };
    let mut faces = Faces {
        points: refined.points.clone(),
        triangles: refined.triangles.clone(),
        normals,
        uv: Channel::PerCorner { indices: refined.corner_values[0].clone(), values: uv },
        ..Faces::default()
    };
    let computed_normals = !vars.has_normals();
    vars.lay(r, &spread, &mut faces);
    add_object(r, args, Source { name: args.request, computed_normals }, faces)
}

/// Values at the corners of triangles, by their numbers.
fn at_corners(indices: &[[u32; 3]]) -> Channel<u32> {
    let end = indices.iter().flatten().max().map_or(0, |&last| last + 1);
    Channel::PerCorner { indices: indices.to_vec(), values: (0..end).collect() }
}

/// The tags of a mesh as they are written.
struct Tags {
    names: Vec<String>,
    /// For each tag, how many integers and floats (and strings) it takes.
    counts: Vec<i32>,
    integers: Vec<i32>,
    floats: Vec<f32>,
}

impl Tags {
    fn read(args: &mut Args<'_, '_>) -> Result<Self, Diagnostic> {
        let (names, _) = args.string_values()?;
        let (counts, _) = args.integer_values()?;
        let (integers, _) = args.integer_values()?;
        let (floats, _) = args.float_values()?;
        if args.next_is_array()? {
            args.string_values()?;
        }
        Ok(Self { names, counts, integers, floats })
    }

    fn apply(self, r: &mut Reader<'_>, args: &Args<'_, '_>, cage: &mut Cage) -> Result<(), Diagnostic> {
        let (mut integers, mut floats) = (self.integers.as_slice(), self.floats.as_slice());
        let each = if self.names.is_empty() { 2 } else { self.counts.len() / self.names.len() };
        if self.counts.len() != each * self.names.len() || !(2..=3).contains(&each) {
            let text =
                format!("{} tags need two numbers of arguments each, here are {}", self.names.len(), self.counts.len());
            return Err(args.error(text));
        }
        for (name, counts) in self.names.iter().zip(self.counts.chunks_exact(each)) {
            let few = || args.error(format!("the tag \"{name}\" has fewer arguments than its numbers say"));
            let size = |n: i32| usize::try_from(n).map_err(|_| few());
            let (whole, rest) = integers.split_at_checked(size(counts[0])?).ok_or_else(few)?;
            let (numbers, others) = floats.split_at_checked(size(counts[1])?).ok_or_else(few)?;
            (integers, floats) = (rest, others);
            let wrong = |what: &str| args.error(format!("the tag \"{name}\" needs {what}"));
            let points: Option<Vec<u32>> = whole.iter().map(|&i| u32::try_from(i).ok()).collect();
            let points = points.ok_or_else(|| wrong("numbers from 0 on"))?;
            match name.as_str() {
                "hole" => cage.holes.extend(points),
                "crease" => {
                    let edges: Vec<[u32; 2]> = points.windows(2).map(|p| [p[0], p[1]]).collect();
                    let sharpness = spread(numbers, edges.len())
                        .ok_or_else(|| wrong("two points or more, and one sharpness or one an edge"))?;
                    cage.creases.extend(edges.into_iter().zip(sharpness));
                }
                "corner" => {
                    let sharpness =
                        spread(numbers, points.len()).ok_or_else(|| wrong("one sharpness or one a point"))?;
                    cage.corners.extend(points.into_iter().zip(sharpness));
                }
                "interpolateboundary" => {
                    cage.boundary = match points.first() {
                        Some(0) => Boundary::None,
                        None | Some(1) => Boundary::EdgesAndCorners,
                        Some(2) => Boundary::Edges,
                        Some(_) => return Err(wrong("0, 1 or 2")),
                    };
                }
                // Values at the vertices of faces are blended linearly, whatever these say.
                "facevaryinginterpolateboundary" | "facevaryingpropagatecorners" => {}
                _ => r.warn_once(
                    &format!("tag {name}"),
                    Diagnostic::warning(format!("the tag \"{name}\" of subdivision meshes is not supported"))
                        .at(args.whole_span(), "it is ignored"),
                ),
            }
        }
        Ok(())
    }
}

/// One number for each of `count`, from so many or from one for all.
fn spread(numbers: &[f32], count: usize) -> Option<Vec<f32>> {
    match numbers {
        [one] if count > 0 => Some(vec![*one; count]),
        _ if numbers.len() == count && count > 0 => Some(numbers.to_vec()),
        _ => None,
    }
}
