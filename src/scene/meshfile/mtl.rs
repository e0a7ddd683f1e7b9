//! Material libraries of Wavefront OBJ (`.mtl`): text in, materials out (Alias|Wavefront,
//! "Advanced Visualizer Manual", appendix B1).
//!
//! Statements that are damaged or unknown are skipped with a warning, so that every other one
//! counts. Key words are read in any case, as files have them.

use glam::Vec3;
use shadewright_base::text::diagnostics::Diagnostic;
use std::collections::BTreeSet;

/// Most warnings of one library.
const MAX_REMARKS: usize = 20;

/// A material as its library declares it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Material {
    /// The name of the material.
    pub name: String,
    /// `Kd`: diffuse reflectance, linear.
    pub diffuse: Option<Vec3>,
    /// `Ks`: specular reflectance, linear.
    pub specular: Vec3,
    /// `Ns`: exponent of the highlight, at least 0.
    pub exponent: f32,
    /// `Ke`: emission, linear.
    pub emission: Vec3,
    /// `d`, or 1 − `Tr`: opacity, 0 to 1.
    pub opacity: f32,
    /// `illum`: the illumination model, 0 to 10.
    pub model: u32,
    /// `map_Kd`: multiplies the diffuse reflectance.
    pub diffuse_map: Option<Map>,
    /// `map_Ke`: multiplies the emission.
    pub emission_map: Option<Map>,
    /// `map_d`: multiplies the opacity.
    pub opacity_map: Option<Map>,
    /// `norm`: a normal map in tangent space.
    pub normal_map: Option<Map>,
}

/// A texture as a material names it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Map {
    /// The file, with `/` between folders.
    pub file: String,
    /// `-s`: factors on the texture coordinates.
    pub scale: [f32; 2],
    /// `-o`: added to them.
    pub offset: [f32; 2],
    /// `-clamp on`: outside of the image there is its edge instead of a copy.
    pub clamp: bool,
}

/// The materials of a library, and what there was to remark on.
#[derive(Debug, Default)]
pub(crate) struct Library {
    /// The materials, in their order.
    pub materials: Vec<Material>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            diffuse: None,
            specular: Vec3::ZERO,
            exponent: 10.0,
            emission: Vec3::ZERO,
            opacity: 1.0,
            model: 2,
            diffuse_map: None,
            emission_map: None,
            opacity_map: None,
            normal_map: None,
        }
    }
}

/// Key words that say nothing about what is shown here, so that no warning is due.
const SILENT: [&str; 13] =
    ["ka", "ni", "tf", "sharpness", "map_ka", "map_aat", "pr", "pm", "ps", "pc", "pcr", "aniso", "anisor"];

/// Reads a library; `name` names its file in messages.
pub(crate) fn read(bytes: &[u8], name: &str) -> Library {
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader { name, library: Library::default(), unread: BTreeSet::new(), has_opacity: false };
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        // Names may have the sign within.
        let comment = if line.starts_with('#') { Some(0) } else { line.find(" #") };
        let line = line[..comment.unwrap_or(line.len())].trim();
        let (key, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if !key.is_empty() {
            reader.statement(number + 1, key, rest.trim());
        }
    }
    let Reader { mut library, unread, .. } = reader;
    if !unread.is_empty() {
        let words: Vec<String> = unread.into_iter().map(|word| format!("`{word}`")).collect();
        library.warnings.push(Diagnostic::warning(format!("`{name}`: not read: {}", words.join(", "))));
    }
    library
}

/// A library on its way.
struct Reader<'a> {
    name: &'a str,
    library: Library,
    /// Key words that are not read.
    unread: BTreeSet<String>,
    /// True if `d` of the current material was read, which wins over `Tr`.
    has_opacity: bool,
}

impl Reader<'_> {
    fn statement(&mut self, line: usize, key: &str, rest: &str) {
        let word = key.to_ascii_lowercase();
        if word == "newmtl" {
            self.has_opacity = false;
            return self.library.materials.push(Material { name: rest.to_string(), ..Material::default() });
        }
        let has_opacity = self.has_opacity;
        let Some(material) = self.library.materials.last_mut() else {
            return self.warn(line, &format!("`{key}` stands before `newmtl`"));
        };
        let read = match word.as_str() {
            "kd" => color(rest).map(|c| material.diffuse = Some(c)),
            "ks" => color(rest).map(|c| material.specular = c),
            "ke" => color(rest).map(|c| material.emission = c),
            "ns" => number(rest).filter(|n| *n >= 0.0).map(|n| material.exponent = n),
            "d" => number(rest.strip_prefix("-halo").unwrap_or(rest)).map(|d| {
                material.opacity = d.clamp(0.0, 1.0);
                self.has_opacity = true;
            }),
            "tr" => number(rest).map(|t| {
                if !has_opacity {
                    material.opacity = (1.0 - t).clamp(0.0, 1.0);
                }
            }),
            "illum" => rest.parse().ok().filter(|n| *n <= 10).map(|n| material.model = n),
            "map_kd" => map(rest).map(|m| material.diffuse_map = Some(m)),
            "map_ke" => map(rest).map(|m| material.emission_map = Some(m)),
            "map_d" | "map_opacity" => map(rest).map(|m| material.opacity_map = Some(m)),
            "norm" => map(rest).map(|m| material.normal_map = Some(m)),
            other => {
                if !SILENT.contains(&other) {
                    self.unread.insert(key.to_string());
                }
                Some(())
            }
        };
        if read.is_none() {
            self.warn(line, &format!("`{key} {rest}` cannot be read"));
        }
    }

    fn warn(&mut self, line: usize, what: &str) {
        if self.library.warnings.len() < MAX_REMARKS {
            self.library.warnings.push(Diagnostic::warning(format!("`{}`, line {line}: {what}", self.name)));
        }
    }
}

fn number(text: &str) -> Option<f32> {
    text.split_whitespace().next()?.parse().ok().filter(|x: &f32| x.is_finite())
}

/// Three numbers, or one for all of them; none of them negative.
fn color(text: &str) -> Option<Vec3> {
    let numbers: Option<Vec<f32>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    let color = match numbers?[..] {
        [gray] => Vec3::splat(gray),
        [r, g, b, ..] => Vec3::new(r, g, b),
        _ => return None,
    };
    (color.is_finite() && color.min_element() >= 0.0).then_some(color)
}

/// A texture's options and its file, whose name may have spaces.
fn map(text: &str) -> Option<Map> {
    let mut map = Map { file: String::new(), scale: [1.0; 2], offset: [0.0; 2], clamp: false };
    let mut rest = text.trim();
    while let Some(option) = rest.split_whitespace().next().filter(|word| word.starts_with('-')) {
        let mut after = rest[option.len()..].trim_start();
        // Vectors have one to three numbers.
        let (least, most) = match option.to_ascii_lowercase().as_str() {
            "-s" | "-o" | "-t" => (1, 3),
            "-mm" => (2, 2),
            "-blendu" | "-blendv" | "-cc" | "-clamp" | "-imfchan" | "-texres" | "-bm" | "-boost" | "-type"
            | "-colorspace" => (1, 1),
            // A file's name.
            _ => break,
        };
        let mut values: Vec<&str> = Vec::new();
        while let Some(word) = after.split_whitespace().next()
            && values.len() < most
            && (values.len() < least || word.parse::<f32>().is_ok())
        {
            values.push(word);
            after = after[word.len()..].trim_start();
        }
        let numbers: Vec<f32> = values.iter().filter_map(|v| v.parse().ok()).filter(|x: &f32| x.is_finite()).collect();
        let target = match option.to_ascii_lowercase().as_str() {
            "-s" => Some(&mut map.scale),
            "-o" => Some(&mut map.offset),
            _ => None,
        };
        if let Some(target) = target {
            target.iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
        }
        map.clamp |=
            option.eq_ignore_ascii_case("-clamp") && values.first().is_some_and(|v| v.eq_ignore_ascii_case("on"));
        rest = after;
    }
    map.file = rest.replace('\\', "/");
    (!map.file.is_empty()).then_some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_material_has_its_colors_and_textures() {
        let text = "# made by hand\nnewmtl  old wood \nKa 1 1 1\nKd 0.5 0.25 0.125\nKs 0.2\nNs 96 # shiny\n\
            Ke 1 0 0\nTr 0.25\nillum 3\nmap_Kd -s 2 3 1 -o 0.5 -clamp on maps\\old wood.png\nMAP_D holes.png\n";
        let library = read(text.as_bytes(), "m.mtl");
        assert!(library.warnings.is_empty(), "{:?}", library.warnings);
        let map = |file: &str| Map { file: file.into(), scale: [1.0; 2], offset: [0.0; 2], clamp: false };
        let wood = Map { scale: [2.0, 3.0], offset: [0.5, 0.0], clamp: true, ..map("maps/old wood.png") };
        let expected = Material {
            name: "old wood".to_string(),
            diffuse: Some(Vec3::new(0.5, 0.25, 0.125)),
            specular: Vec3::splat(0.2),
            exponent: 96.0,
            emission: Vec3::X,
            opacity: 0.75,
            model: 3,
            diffuse_map: Some(wood),
            opacity_map: Some(map("holes.png")),
            ..Material::default()
        };
        assert_eq!(library.materials, [expected]);
    }

    #[test]
    fn what_cannot_be_read_is_skipped_with_a_warning() {
        let text = "Kd 1 1 1\nnewmtl a\nKd 1 x 1\nNs -1\nd 2\nTr 1\nmap_Kd\nbump -bm 0.5 b.png\nKs nan 0 0\nillum 2\n";
        let library = read(text.as_bytes(), "m.mtl");
        let all: Vec<&str> = library.warnings.iter().map(|w| w.message.as_str()).collect();
        let expected = [
            "`m.mtl`, line 1: `Kd` stands before `newmtl`",
            "`m.mtl`, line 3: `Kd 1 x 1` cannot be read",
            "`m.mtl`, line 4: `Ns -1` cannot be read",
            "`m.mtl`, line 7: `map_Kd ` cannot be read",
            "`m.mtl`, line 9: `Ks nan 0 0` cannot be read",
            "`m.mtl`: not read: `bump`",
        ];
        assert_eq!(all, expected);
        // `d` wins over `Tr`.
        assert_eq!(library.materials, [Material { name: "a".to_string(), ..Material::default() }]);
    }
}
