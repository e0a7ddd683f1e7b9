//! Stanford PLY: ascii and binary of either byte order (Turk 1994).
//!
//! An own reader, because sizes in a header are untrusted (general readers allocate what the header
//! claims) and meshes are large: vertices and faces go straight from the bytes into arrays.

use super::{Cutter, MaterialNames, MeshFile, linear, per_point};
use glam::{Vec2, Vec3};
use shadewright_base::ply::{Encoding, Scalar};
use shadewright_base::text::diagnostics::Diagnostic;
use shadewright_geometry::Faces;

/// Most vertices of one face.
const MAX_FACE_VERTICES: u64 = 65_536;

#[derive(Debug)]
struct Property {
    name: String,
    ty: Scalar,
    /// The type of a list's length.
    list: Option<Scalar>,
}

#[derive(Debug)]
struct Element {
    name: String,
    count: u64,
    properties: Vec<Property>,
}

/// Reads a mesh.
pub(super) fn read(bytes: &[u8], name: &str) -> Result<MeshFile, Diagnostic> {
    let fail = |what: String| Diagnostic::error(format!("`{name}` is not a usable PLY file: {what}"));
    let (encoding, elements, body) = header(bytes).map_err(fail)?;
    let mut data = Data { bytes: body, at: 0, encoding };
    let mut faces = Faces::default();
    let mut cutter = Cutter::default();
    for element in &elements {
        // Every value takes at least a byte, so the header cannot promise more than the file holds.
        let least = element.properties.len().max(1) as u64;
        if element.count.saturating_mul(least) > data.left() as u64 {
            return Err(fail(format!("it ends before its {} elements `{}`", element.count, element.name)));
        }
        match element.name.as_str() {
            "vertex" => vertices(&mut data, element, &mut faces).map_err(fail)?,
            "face" => read_faces(&mut data, element, &faces.points, &mut cutter).map_err(fail)?,
            _ => skip(&mut data, element).map_err(fail)?,
        }
    }
    faces.triangles = cutter.triangles;
    Ok(MeshFile { faces, materials: MaterialNames::default(), warnings: Vec::new() })
}

type Header<'a> = (Encoding, Vec<Element>, &'a [u8]);

fn header(bytes: &[u8]) -> Result<Header<'_>, String> {
    let mut rest = bytes;
    let mut line_number = 0;
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    loop {
        let end = rest.iter().take(4096).position(|&b| b == b'\n').ok_or("its header does not end")?;
        let line = std::str::from_utf8(&rest[..end]).map_err(|_| "its header is not text")?.trim_end_matches('\r');
        rest = &rest[end + 1..];
        line_number += 1;
        if line_number == 1 {
            if line != "ply" {
                return Err("it does not start with the line `ply`".to_string());
            }
            continue;
        }
        let bad = || format!("line {line_number} of its header, `{line}`, makes no sense");
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["format", word, _] => {
                encoding = Some(Encoding::parse(word).ok_or_else(bad)?);
            }
            ["comment" | "obj_info", ..] | [] => {}
            ["element", name, count] => {
                let count = count.parse().map_err(|_| bad())?;
                elements.push(Element { name: (*name).to_string(), count, properties: Vec::new() });
            }
            ["property", "list", length, ty, name] => {
                let (length, ty) = (Scalar::parse(length).ok_or_else(bad)?, Scalar::parse(ty).ok_or_else(bad)?);
                let property = Property { name: (*name).to_string(), ty, list: Some(length) };
                elements.last_mut().ok_or_else(bad)?.properties.push(property);
            }
            ["property", ty, name] => {
                let property =
                    Property { name: (*name).to_string(), ty: Scalar::parse(ty).ok_or_else(bad)?, list: None };
                elements.last_mut().ok_or_else(bad)?.properties.push(property);
            }
            ["end_header"] => return Ok((encoding.ok_or("its header names no format")?, elements, rest)),
            _ => return Err(bad()),
        }
    }
}

/// The bytes after the header, and how far they are read.
struct Data<'a> {
    bytes: &'a [u8],
    at: usize,
    encoding: Encoding,
}

impl<'a> Data<'a> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let slice = self.bytes.get(self.at..self.at + n).ok_or("it is cut off")?;
        self.at += n;
        Ok(slice)
    }

    fn word(&mut self) -> Result<&'a str, String> {
        let rest = &self.bytes[self.at..];
        let start = rest.iter().position(|b| !b.is_ascii_whitespace()).ok_or("it is cut off")?;
        let len = rest[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len() - start);
        self.at += start + len;
        std::str::from_utf8(&rest[start..start + len]).map_err(|_| "its numbers are not text".to_string())
    }

    fn value(&mut self, ty: Scalar) -> Result<f64, String> {
        if self.encoding == Encoding::Ascii {
            let word = self.word()?;
            return word.parse().map_err(|_| format!("`{word}` is not a number"));
        }
        let bytes = self.take(ty.size())?;
        Ok(ty.decode(bytes, self.encoding))
    }

    /// A count or an index: `None` when negative or not whole.
    fn index(&mut self, ty: Scalar) -> Result<Option<u32>, String> {
        let v = self.value(ty)?;
        Ok((v >= 0.0 && v <= f64::from(u32::MAX) && v.fract() == 0.0).then_some(v as u32))
    }
}

/// Returns the number that stands for a color component of 1.
fn full_scale(ty: Scalar) -> f64 {
    match ty {
        Scalar::U8 => 255.0,
        Scalar::U16 => 65_535.0,
        _ => 1.0,
    }
}

/// Reads the list length of a property, or 1 where it is no list.
fn length(data: &mut Data<'_>, property: &Property) -> Result<u64, String> {
    match property.list {
        None => Ok(1),
        Some(ty) => data.index(ty)?.map(u64::from).ok_or_else(|| "a list has a negative length".to_string()),
    }
}

fn skip(data: &mut Data<'_>, element: &Element) -> Result<(), String> {
    for _ in 0..element.count {
        for property in &element.properties {
            skip_property(data, property)?;
        }
    }
    Ok(())
}

fn skip_property(data: &mut Data<'_>, property: &Property) -> Result<(), String> {
    let n = length(data, property)?;
    if data.encoding == Encoding::Ascii {
        for _ in 0..n {
            data.word()?;
        }
    } else {
        data.take(usize::try_from(n).ok().and_then(|n| n.checked_mul(property.ty.size())).ok_or("it is cut off")?)?;
    }
    Ok(())
}

fn vertices(data: &mut Data<'_>, element: &Element, faces: &mut Faces) -> Result<(), String> {
    let count = usize::try_from(element.count).ok().filter(|&n| n < u32::MAX as usize).ok_or("too many vertices")?;
    let find =
        |names: &[&str]| element.properties.iter().position(|p| p.list.is_none() && names.contains(&p.name.as_str()));
    let position = [find(&["x"]), find(&["y"]), find(&["z"])];
    let [Some(x), Some(y), Some(z)] = position else {
        return Err("its vertices have no `x`, `y` and `z`".to_string());
    };
    let normal = all([find(&["nx"]), find(&["ny"]), find(&["nz"])]);
    let st = all([find(&["s", "u", "texture_u"]), find(&["t", "v", "texture_v"])]);
    let color = all([find(&["red", "r"]), find(&["green", "g"]), find(&["blue", "b"])]);
    let full = color.map_or(1.0, |[r, ..]| full_scale(element.properties[r].ty));
    let mut row = vec![0.0; element.properties.len()];
    let (mut normals, mut texture, mut colors) = (Vec::new(), Vec::new(), Vec::new());
    faces.points = Vec::with_capacity(count);
    for _ in 0..count {
        for (slot, property) in row.iter_mut().zip(&element.properties) {
            if property.list.is_some() {
                skip_property(data, property)?;
            } else {
                *slot = data.value(property.ty)?;
            }
        }
        let at = |[x, y, z]: [usize; 3]| Vec3::new(row[x] as f32, row[y] as f32, row[z] as f32);
        faces.points.push(at([x, y, z]));
        normals.extend(normal.map(at));
        texture.extend(st.map(|[s, t]| Vec2::new(row[s] as f32, row[t] as f32)));
        colors.extend(color.map(|[r, g, b]| {
            let channel = |i: usize| {
                let value = (row[i] / full) as f32;
                if full == 1.0 { value } else { linear(value) }
            };
            Vec3::new(channel(r), channel(g), channel(b))
        }));
    }
    if normals.iter().any(|n| !n.is_finite()) || texture.iter().any(|t| !t.is_finite()) {
        return Err("its normals or texture coordinates are not finite numbers".to_string());
    }
    faces.normals = per_point(normals, count);
    faces.st = per_point(texture, count);
    faces.colors = per_point(colors, count);
    Ok(())
}

fn all<const N: usize>(places: [Option<usize>; N]) -> Option<[usize; N]> {
    let mut out = [0; N];
    for (slot, place) in out.iter_mut().zip(places) {
        *slot = place?;
    }
    Some(out)
}

fn read_faces(data: &mut Data<'_>, element: &Element, points: &[Vec3], cutter: &mut Cutter) -> Result<(), String> {
    let is_index = |p: &Property| p.list.is_some() && matches!(p.name.as_str(), "vertex_indices" | "vertex_index");
    let Some(list) = element.properties.iter().position(is_index) else {
        return Err("its faces have no `vertex_indices`".to_string());
    };
    cutter.triangles.reserve(element.count as usize);
    let mut face = Vec::new();
    for number in 0..element.count {
        for (i, property) in element.properties.iter().enumerate() {
            if i != list {
                skip_property(data, property)?;
                continue;
            }
            let n = length(data, property)?;
            if n > MAX_FACE_VERTICES {
                return Err(format!("face {number} has {n} vertices"));
            }
            face.clear();
            for _ in 0..n {
                let index = data.index(property.ty)?;
                face.push(index.ok_or_else(|| format!("face {number} has a negative index"))?);
            }
            cutter.add(&face, points).map_err(|why| format!("face {number} {why}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadewright_geometry::Channel;

    const QUAD: &str = "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\n\
        property float y\nproperty float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n\
        element face 1\nproperty list uchar int vertex_indices\nend_header\n\
        0 0 0 255 0 0\n1 0 0 0 255 0\n1 1 0 0 0 255\n0 1 0 255 255 255\n4 0 1 2 3\n";

    fn binary(encoding: Encoding, index: u32) -> Vec<u8> {
        let format = if encoding == Encoding::Big { "binary_big_endian" } else { "binary_little_endian" };
        let mut out = format!(
            "ply\nformat {format} 1.0\nelement vertex 3\nproperty float x\nproperty double y\nproperty short z\n\
             element face 1\nproperty uchar flags\nproperty list uchar uint vertex_index\nend_header\n"
        )
        .into_bytes();
        let big = encoding == Encoding::Big;
        for p in [(0.5f32, 0.25f64, -3i16), (1.0, 0.0, 0), (0.0, 1.0, 300)] {
            out.extend(if big { p.0.to_be_bytes() } else { p.0.to_le_bytes() });
            out.extend(if big { p.1.to_be_bytes() } else { p.1.to_le_bytes() });
            out.extend(if big { p.2.to_be_bytes() } else { p.2.to_le_bytes() });
        }
        out.extend([7, 3]);
        for i in [0, 1, index] {
            out.extend(if big { i.to_be_bytes() } else { i.to_le_bytes() });
        }
        out
    }

    fn error(bytes: &[u8]) -> String {
        read(bytes, "m.ply").unwrap_err().message
    }

    #[test]
    fn an_ascii_quad_becomes_two_triangles_with_linear_colors() {
        let faces = read(QUAD.as_bytes(), "m.ply").unwrap().faces;
        assert_eq!(faces.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(faces.colors, Channel::PerPoint(vec![Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE]));
        assert_eq!(faces.normals, Channel::Absent);
    }

    #[test]
    fn both_byte_orders_and_all_widths_are_read() {
        for encoding in [Encoding::Little, Encoding::Big] {
            let faces = read(&binary(encoding, 2), "m.ply").unwrap().faces;
            assert_eq!(faces.points, [Vec3::new(0.5, 0.25, -3.0), Vec3::X, Vec3::new(0.0, 1.0, 300.0)]);
            assert_eq!(faces.triangles, [[0, 1, 2]]);
        }
    }

    #[test]
    fn damage_is_told_apart() {
        assert_eq!(
            error(&binary(Encoding::Little, 3)),
            "`m.ply` is not a usable PLY file: face 0 names a vertex that does not exist (3 do)"
        );
        let whole = binary(Encoding::Little, 2);
        assert!(error(&whole[..whole.len() - 1]).ends_with("it is cut off"));
        assert!(error(b"solid cube\n").ends_with("it does not start with the line `ply`"));
        assert!(error(&QUAD.as_bytes()[..60]).ends_with("its header does not end"));
        assert!(error(QUAD.replace("uchar int", "uchar quad").as_bytes()).contains("makes no sense"));
        assert!(error(QUAD.replace("0 1 0 255", "0 one 0 255").as_bytes()).ends_with("`one` is not a number"));
    }

    #[test]
    fn a_header_that_promises_more_than_the_file_holds_allocates_nothing() {
        let huge = QUAD.replace("vertex 4", "vertex 99999999999999");
        assert!(error(huge.as_bytes()).ends_with("it ends before its 99999999999999 elements `vertex`"));
        assert!(
            error(QUAD.replace("vertex 4", "vertex 99999999999999999999999").as_bytes()).contains("makes no sense")
        );
    }

    #[test]
    fn coordinates_that_are_not_finite_are_refused() {
        let bad = QUAD.replace("1 1 0 0", "1 nan 0 0");
        let message = super::super::read(super::super::MeshFormat::Ply, bad.as_bytes(), "m.ply").unwrap_err().message;
        assert_eq!(message, "`m.ply`: vertex 2 has coordinates that are not finite numbers");
    }
}
