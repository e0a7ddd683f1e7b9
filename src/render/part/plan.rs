//! Which parts make an image, in which order, or why they do not.

use super::{PartRecord, Share};
use std::collections::BTreeSet;
use thiserror::Error;

/// Most missing shares that are named one by one.
const NAMED: usize = 20;

/// The parts of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The number of a part for each share, in the order of [`Share::place`].
    pub order: Vec<usize>,
    /// Parts that are there twice, with the one that is used.
    pub duplicates: Vec<[usize; 2]>,
    /// The devices that rendered them.
    pub devices: BTreeSet<String>,
}

/// Why parts make no image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// A part is of another image than the first.
    #[error("`{part}` does not belong to `{first}`: {reason}")]
    Other {
        /// The part.
        part: String,
        /// The first part.
        first: String,
        /// In what they differ.
        reason: String,
    },
    /// Two parts of one share differ.
    #[error("`{first}` and `{second}` are both {share}, and differ: render it again, and remove one of them")]
    Conflict {
        /// One part.
        first: String,
        /// The other.
        second: String,
        /// Their share.
        share: Share,
    },
    /// A share is missing.
    #[error("{share} is missing")]
    Missing {
        /// The share.
        share: Share,
    },
    /// More are missing than are named.
    #[error("and {count} more shares are missing, of {all}")]
    MoreMissing {
        /// How many.
        count: usize,
        /// All shares of the image.
        all: usize,
    },
    /// There are no parts.
    #[error("there are no parts")]
    None,
}

/// Orders parts, which are given by names for messages and their records.
///
/// # Errors
/// All problems, where the parts are not those of one image.
pub fn plan(parts: &[(String, PartRecord)]) -> Result<Plan, Vec<Problem>> {
    let Some((first_name, first)) = parts.first() else { return Err(vec![Problem::None]) };
    let mut problems = Vec::new();
    let mut found: Vec<Option<usize>> = vec![None; first.part.share.count()];
    let mut duplicates = Vec::new();
    for (number, (name, record)) in parts.iter().enumerate() {
        if let Some(reason) = difference(first, record) {
            problems.push(Problem::Other { part: name.clone(), first: first_name.clone(), reason });
            continue;
        }
        let share = record.part.share;
        match &mut found[share.place()] {
            Some(other) if parts[*other].1.part.content == record.part.content => duplicates.push([*other, number]),
            Some(other) => {
                let first = parts[*other].0.clone();
                problems.push(Problem::Conflict { first, second: name.clone(), share });
            }
            empty => *empty = Some(number),
        }
    }
    let missing: Vec<_> = (0..found.len()).filter(|&place| found[place].is_none()).collect();
    problems
        .extend(missing.iter().take(NAMED).map(|&place| Problem::Missing { share: first.part.share.at_place(place) }));
    if missing.len() > NAMED {
        problems.push(Problem::MoreMissing { count: missing.len() - NAMED, all: found.len() });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let devices = parts.iter().map(|(_, record)| record.record.device.clone()).collect();
    Ok(Plan { order: found.into_iter().flatten().collect(), duplicates, devices })
}

/// In what the images of two parts differ: `None` where they are parts of one image.
#[must_use]
pub fn difference(first: &PartRecord, other: &PartRecord) -> Option<String> {
    let (a, b) = (&first.record, &other.record);
    let differ = |what: &str, a: &dyn std::fmt::Display, b: &dyn std::fmt::Display| {
        Some(format!("it was rendered with {what} {b}, the other with {a}"))
    };
    let size = |[width, height]: [u32; 2]| format!("{width}x{height}");
    let window = |[x0, y0, x1, y1]: [u32; 4]| format!("{x0},{y0},{x1},{y1}");
    let frame = |frame: Option<i32>| frame.map_or("none".to_string(), |frame| frame.to_string());
    if a.version != b.version {
        return differ("version", &a.version, &b.version);
    }
    if a.scene != b.scene {
        return Some(format!("it is of the scene {}, the other of {}", b.scene, a.scene));
    }
    if a.frame != b.frame {
        return differ("frame", &frame(a.frame), &frame(b.frame));
    }
    if a.size != b.size {
        return differ("size", &size(a.size), &size(b.size));
    }
    if a.window != b.window {
        return differ("window", &window(a.window), &window(b.window));
    }
    if a.samples != b.samples {
        return differ("samples per pixel of", &a.samples, &b.samples);
    }
    if a.seed != b.seed {
        return differ("seed", &a.seed, &b.seed);
    }
    let [of_a, of_b] = [first, other].map(|part| (part.part.share.tiles, part.part.share.of_samples));
    if of_a != of_b {
        let division = |(tiles, samples)| format!("{tiles} tiles and {samples} shares of the samples");
        return Some(format!("it is one of {}, the other of {}", division(of_b), division(of_a)));
    }
    if a.backend != b.backend {
        return differ("backend", &a.backend, &b.backend);
    }
    if a.hashes.backend != b.hashes.backend {
        return Some(format!(
            "it was rendered on another device or compiled otherwise ({}), the other on {}",
            b.device, a.device
        ));
    }
    if a.options != b.options {
        let text = |options| serde_json::to_string(options).unwrap_or_default();
        return differ("the options", &text(&a.options), &text(&b.options));
    }
    if a.hashes.program != b.hashes.program {
        return Some("its shaders or integrator are others: a shader was changed between them".to_string());
    }
    if a.hashes.scene != b.hashes.scene {
        return Some(
            "its scene is another: geometry, parameters, textures or camera were changed between them".to_string(),
        );
    }
    if a.hashes.settings != b.hashes.settings {
        return Some("its pixel filter or sample pattern is another".to_string());
    }
    let [i, j] = [&first.part, &other.part];
    let of_film =
        |part: &super::file::PartInfo| (part.signed, part.exposure.map(f32::to_bits), part.quantize, part.imager);
    (of_film(i) != of_film(j)).then(|| "its exposure, quantization or imager is another".to_string())
}
