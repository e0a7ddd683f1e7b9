//! Checkpoints: an unfinished film in a file, from which an interrupted render resumes.
//!
//! The file starts with a line of text. Little-endian values follow: the image's identity
//! ([`Subject`]: hashes of scene, program, settings and back end, 64 bits each), width, height and samples
//! for each pixel (32 bits each), the film's sums ([`Film::state`]), and a hash of all that (64 bits).

use super::film::Film;
use super::record::{Subject, hashed};
use std::hash::Hash;
use thiserror::Error;

/// The first line; its number changes with the format.
const MAGIC: &[u8] = b"Shadewright film 2\n";

/// Bytes of a subject.
const IDENTITY: usize = 32;

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
    #[error("it is of another scene")]
    Scene,
    /// With another program.
    #[error("it was rendered with another integrator or other shaders, or these were changed")]
    Program,
    /// With other options.
    #[error("it was rendered with other options: --spp, --crop, --seed, --pattern, or the scene's filter")]
    Settings,
    /// By another back end.
    #[error("it was rendered by another back end or version, whose samples may differ in the last bit")]
    Backend,
}

/// The size of a film's file in bytes.
pub fn bytes_of(film: &Film) -> u64 {
    (MAGIC.len() + IDENTITY + 12 + film.state_len() + 8) as u64
}

/// The file of a film with this many samples for each pixel.
pub fn to_bytes(subject: Subject, film: &Film, samples: u32) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for number in subject.hashes() {
        bytes.extend(number.to_le_bytes());
    }
    for number in [film.width(), film.height(), samples] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(film.state().flatten());
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
    let numbers = body.get(MAGIC.len()..).and_then(<[u8]>::split_first_chunk::<{ IDENTITY + 12 }>);
    let (numbers, sums) = numbers.ok_or(CheckpointError::Damaged)?;
    let word = |i: usize| u32::from_le_bytes([numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]]);
    let long = |i: usize| u64::from(word(i)) | u64::from(word(i + 4)) << 32;
    let [width, height, samples] = [0, 4, 8].map(|i| word(IDENTITY + i));
    if [width, height] != [film.width(), film.height()] {
        let wanted = format!("{}x{}", film.width(), film.height());
        return Err(CheckpointError::Size { found: format!("{width}x{height}"), wanted });
    }
    if hashed(|h| body.hash(h)) != u64::from_le_bytes(*check) {
        return Err(CheckpointError::Damaged);
    }
    let errors =
        [CheckpointError::Scene, CheckpointError::Program, CheckpointError::Settings, CheckpointError::Backend];
    for (at, (hash, error)) in subject.hashes().into_iter().zip(errors).enumerate() {
        if long(8 * at) != hash {
            return Err(error);
        }
    }
    if sums.len() != film.state_len() {
        return Err(CheckpointError::Damaged);
    }
    film.set_state(sums);
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject = Subject { scene: 1, program: 2, settings: 3, backend: 4 };

    fn empty() -> Film {
        Film::with_samples(2, 1, 16).unwrap().with_variance()
    }

    fn film() -> Film {
        let mut film = empty();
        for index in 0..7 {
            film.add_sample(0, 0, index, [0.1, -2.0, f32::INFINITY, 1.0]);
            film.add_sample(1, 0, index, [0.25; 4]);
        }
        film
    }

    fn read(bytes: &[u8], subject: Subject) -> Result<(u32, Film), CheckpointError> {
        let mut film = empty();
        from_bytes(bytes, subject, &mut film).map(|samples| (samples, film))
    }

    #[test]
    fn a_film_comes_back_as_it_was() {
        let (samples, back) = read(&to_bytes(SUBJECT, &film(), 7), SUBJECT).unwrap();
        assert_eq!(samples, 7);
        assert!(back.state().eq(film().state()));
    }

    #[test]
    fn films_of_something_else_are_told_apart() {
        let bytes = to_bytes(SUBJECT, &film(), 7);
        let error = |bytes: &[u8], subject| read(bytes, subject).unwrap_err();
        assert_eq!(error(&bytes, Subject { scene: 0, ..SUBJECT }), CheckpointError::Scene);
        assert_eq!(error(&bytes, Subject { program: 0, ..SUBJECT }), CheckpointError::Program);
        assert_eq!(error(&bytes, Subject { settings: 0, ..SUBJECT }), CheckpointError::Settings);
        assert_eq!(error(&bytes, Subject { backend: 0, ..SUBJECT }), CheckpointError::Backend);
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
