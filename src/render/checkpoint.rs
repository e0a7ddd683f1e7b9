//! Checkpoints: an unfinished film in a file, from which an interrupted render resumes.
//!
//! The file starts with a line of text. Little-endian values follow: the image's identity
//! ([`Subject`]: hashes of scene, settings and back end, 64 bits each), width, height and samples
//! for each pixel (32 bits each), five floats for each pixel (the sums of red, green, blue and
//! alpha, and of the weights), and a hash of all that (64 bits).

use super::Job;
use super::film::Film;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use thiserror::Error;

/// The first line; its number changes with the format.
const MAGIC: &[u8] = b"Shadewright film 1\n";

/// The identity of the image that a film is of. Films of one subject hold the same samples. The
/// default is that of no image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    scene: u64,
    settings: u64,
    backend: u64,
}

impl Subject {
    /// That of a job on a back end, as that describes itself. `shapes` identifies the geometry,
    /// which a job has only as BVHs.
    pub fn of(job: &Job, shapes: u64, backend: &str) -> Self {
        let program = &job.program;
        let scene = hashed(|h| {
            shapes.hash(h);
            program.module.to_string().hash(h);
            program.memory.vectors.hash(h);
            program.constants.map(|c| c.map(f32::to_bits)).hash(h);
        });
        let settings = hashed(|h| {
            (job.window.x, job.window.y, job.sampling.strata, job.sampling.seed).hash(h);
            let mut film = String::new();
            // Writing to a string does not fail.
            let _ = write!(film, "{:?}", job.film);
            film.hash(h);
        });
        Self { scene, settings, backend: hashed(|h| (backend, env!("CARGO_PKG_VERSION")).hash(h)) }
    }
}

/// A hash.
pub fn hashed(put: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    put(&mut hasher);
    hasher.finish()
}

/// Why a file is no checkpoint of an image.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CheckpointError {
    /// It is not a checkpoint.
    #[error("it is not a checkpoint of shadewright")]
    Foreign,
    /// It was cut off or changed.
    #[error("it is damaged")]
    Damaged,
    /// Of another size.
    #[error("it is {found} pixels large, and the image {wanted}")]
    Size {
        /// The film's.
        found: String,
        /// The image's.
        wanted: String,
    },
    /// Of another scene.
    #[error("it is of another scene or integrator, or its shaders were changed")]
    Scene,
    /// With other options.
    #[error("it was rendered with other options: --spp, --crop, --seed, --pattern, or the scene's filter")]
    Settings,
    /// By another back end.
    #[error("it was rendered by another back end or version, whose samples may differ in the last bit")]
    Machine,
}

/// The size of a film's file in bytes.
pub fn bytes_of(film: &Film) -> u64 {
    (MAGIC.len() + 24 + 12 + 20 * film.pixels().len() + 8) as u64
}

/// The file of a film with this many samples for each pixel.
pub fn to_bytes(subject: Subject, film: &Film, samples: u32) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for number in [subject.scene, subject.settings, subject.backend] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [film.width(), film.height(), samples] {
        bytes.extend(number.to_le_bytes());
    }
    for pixel in film.pixels() {
        let [r, g, b, a] = pixel.sum;
        bytes.extend([r, g, b, a, pixel.weight].into_iter().flat_map(f32::to_le_bytes));
    }
    let check = hashed(|h| bytes.hash(h));
    bytes.extend(check.to_le_bytes());
    bytes
}

/// Reads a file into an empty film of the image's size; returns the number of samples for each
/// pixel.
///
/// # Errors
/// When it is no checkpoint of this image. The film is empty then.
pub fn from_bytes(bytes: &[u8], subject: Subject, film: &mut Film) -> Result<u32, CheckpointError> {
    if !bytes.starts_with(MAGIC) {
        return Err(CheckpointError::Foreign);
    }
    let (body, check) = bytes.split_last_chunk::<8>().ok_or(CheckpointError::Damaged)?;
    let numbers = body.get(MAGIC.len()..).and_then(<[u8]>::split_first_chunk::<36>);
    let (numbers, sums) = numbers.ok_or(CheckpointError::Damaged)?;
    let word = |i: usize| u32::from_le_bytes([numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]]);
    let long = |i: usize| u64::from(word(i)) | u64::from(word(i + 4)) << 32;
    let [width, height, samples] = [24, 28, 32].map(word);
    if [width, height] != [film.width(), film.height()] {
        let wanted = format!("{}x{}", film.width(), film.height());
        return Err(CheckpointError::Size { found: format!("{width}x{height}"), wanted });
    }
    if hashed(|h| body.hash(h)) != u64::from_le_bytes(*check) {
        return Err(CheckpointError::Damaged);
    }
    if long(0) != subject.scene {
        return Err(CheckpointError::Scene);
    }
    if long(8) != subject.settings {
        return Err(CheckpointError::Settings);
    }
    if long(16) != subject.backend {
        return Err(CheckpointError::Machine);
    }
    if sums.len() != film.pixels().len() * 20 {
        return Err(CheckpointError::Damaged);
    }
    for (pixel, bytes) in film.pixels_mut().iter_mut().zip(sums.chunks_exact(20)) {
        let float = |i: usize| f32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        pixel.sum = [0, 4, 8, 12].map(float);
        pixel.weight = float(16);
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject = Subject { scene: 1, settings: 2, backend: 3 };

    fn film() -> Film {
        let mut film = Film::new(2, 1).unwrap();
        film.add_pass(&[[0.1, -2.0, f32::INFINITY, 1.0], [0.25; 4]]);
        film
    }

    fn read(bytes: &[u8], subject: Subject) -> Result<(u32, Film), CheckpointError> {
        let mut film = Film::new(2, 1).unwrap();
        from_bytes(bytes, subject, &mut film).map(|samples| (samples, film))
    }

    #[test]
    fn a_film_comes_back_as_it_was() {
        let (samples, back) = read(&to_bytes(SUBJECT, &film(), 7), SUBJECT).unwrap();
        assert_eq!((samples, back.pixels()), (7, film().pixels()));
    }

    #[test]
    fn films_of_something_else_are_told_apart() {
        let bytes = to_bytes(SUBJECT, &film(), 7);
        let error = |bytes: &[u8], subject| read(bytes, subject).unwrap_err();
        assert_eq!(error(&bytes, Subject { scene: 0, ..SUBJECT }), CheckpointError::Scene);
        assert_eq!(error(&bytes, Subject { settings: 0, ..SUBJECT }), CheckpointError::Settings);
        assert_eq!(error(&bytes, Subject { backend: 0, ..SUBJECT }), CheckpointError::Machine);
        let wide = to_bytes(SUBJECT, &Film::new(3, 1).unwrap(), 1);
        assert_eq!(error(&wide, SUBJECT).to_string(), "it is 3x1 pixels large, and the image 2x1");
    }

    #[test]
    fn every_damage_is_noticed() {
        let bytes = to_bytes(SUBJECT, &film(), 7);
        for i in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[i] ^= 1;
            assert!(read(&bytes, SUBJECT).is_err(), "byte {i}");
            assert!(read(&bytes[..i], SUBJECT).is_err(), "{i} bytes");
        }
        assert_eq!(read(b"", SUBJECT).unwrap_err(), CheckpointError::Foreign);
    }
}
