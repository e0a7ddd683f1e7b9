//! The record of a render: which image it is, and what rendered it.
//!
//! Equal records mean equal bits. So nothing is in it that does not affect them, such as the time, the
//! output path or the number of threads.

use super::Job;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};

/// A hash. Every process of one version gives the same for the same content.
pub fn hashed(put: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    put(&mut hasher);
    hasher.finish()
}

/// The identity of an image: images of one subject have the same samples. The default is that of no
/// image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// A hash of the geometry, and of what shaders read: parameters, textures, lights, the camera.
    #[serde(with = "hexadecimal")]
    pub scene: u64,
    /// A hash of the linked program: the shaders and the integrator.
    #[serde(with = "hexadecimal")]
    pub program: u64,
    /// A hash of the sampling: window, samples, seed, pattern, filter.
    #[serde(with = "hexadecimal")]
    pub settings: u64,
    /// A hash of the back end, and of how it compiles.
    #[serde(with = "hexadecimal")]
    pub backend: u64,
}

impl Subject {
    /// That of a job on a back end, as that describes itself. `shapes` identifies the geometry,
    /// which a job has only as BVHs.
    pub fn new(job: &Job, shapes: u64, backend: &str) -> Self {
        let program = &job.program;
        let scene = hashed(|h| {
            shapes.hash(h);
            program.memory.vectors.hash(h);
            program.constants.vectors().map(|c| c.map(f32::to_bits)).hash(h);
        });
        let settings = hashed(|h| {
            (job.window.x, job.window.y, job.sampling.strata, job.sampling.seed).hash(h);
            let mut film = String::new();
            // Writing to a string does not fail.
            let _ = write!(film, "{:?}", job.film);
            film.hash(h);
        });
        Self {
            scene,
            program: hashed(|h| program.module.to_string().hash(h)),
            settings,
            backend: hashed(|h| (backend, env!("CARGO_PKG_VERSION")).hash(h)),
        }
    }

    /// The hashes, in the order of the fields.
    pub fn hashes(&self) -> [u64; 4] {
        [self.scene, self.program, self.settings, self.backend]
    }
}

/// Hashes as 16 hexadecimal digits: JSON's numbers hold 53 bits.
mod hexadecimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(hash: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{hash:016x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(|_| D::Error::custom(format!("`{text}` is not a hash")))
    }
}

/// The record of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the program.
    pub version: String,
    /// The name of the scene's file, without its folder.
    pub scene: String,
    /// The frame, where one of several was rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<i32>,
    /// The back end.
    pub backend: String,
    /// Where it ran: the adapter, or the instruction set of the processor.
    pub device: String,
    /// Width and height of the scene's image in pixels.
    pub size: [u32; 2],
    /// The part of it that was rendered: the first column and row, and those after the last.
    pub window: [u32; 4],
    /// Samples for each pixel.
    pub samples: u32,
    /// The batches of samples that the variances were estimated from.
    pub batches: u32,
    /// The seed.
    pub seed: u32,
    /// The other options that were given and affect the image, by their names.
    pub options: Map<String, Value>,
    /// The image's identity.
    pub hashes: Subject,
}

/// A record as JSON in ASCII.
///
/// # Errors
/// When it cannot be represented.
pub fn to_json(record: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(record)?;
    let mut ascii = String::with_capacity(text.len());
    let mut units = [0; 2];
    for c in text.chars() {
        match c {
            _ if c.is_ascii() => ascii.push(c),
            _ => {
                for unit in c.encode_utf16(&mut units) {
                    // Writing to a string does not fail.
                    let _ = write!(ascii, "\\u{unit:04x}");
                }
            }
        }
    }
    Ok(ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_ascii_and_come_back() {
        let record = Record {
            version: "1".to_string(),
            scene: "\u{e4}\u{1f600}\".rib".to_string(),
            frame: Some(-3),
            backend: "rpu".to_string(),
            device: "AVX2".to_string(),
            size: [4, 3],
            window: [0, 0, 4, 3],
            samples: 64,
            batches: 16,
            seed: u32::MAX,
            options: Map::from_iter([("clamp".to_string(), 0.5.into())]),
            hashes: Subject { scene: u64::MAX, program: 1, settings: 2, backend: 3 },
        };
        let json = to_json(&record).unwrap();
        assert!(json.is_ascii() && json.contains("\\u00e4\\ud83d\\ude00"), "{json}");
        assert!(json.contains("\"scene\":\"ffffffffffffffff\""), "{json}");
        assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
    }
}
