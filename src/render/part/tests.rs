use super::*;
use crate::Window;
use crate::batches::Batches;
use crate::film::{Film, FilmSettings};
use crate::record::{Record, Subject};
use shadewright_image::aov::Aov;
use shadewright_image::{Image, SizeError};
use std::io::Cursor;

const SAMPLES: u32 = 40;
const WHOLE: Window = Window { x: 2, y: 1, width: 7, height: 5 };

/// The samples of a film's pixels are made of the positions of the pixels in the image.
fn fill(film: &mut Film, window: Window, samples: std::ops::Range<u32>) {
    for index in samples {
        for (x, y) in (0..window.height).flat_map(|y| (0..window.width).map(move |x| (x, y))) {
            let at = shadewright_base::random::hash(
                (window.x + x) ^ shadewright_base::random::hash((window.y + y) ^ (index << 8)),
            );
            film.add_sample(x, y, index, [at, at << 3, at << 7, at << 11].map(shadewright_base::random::unit));
        }
    }
}

fn record() -> Record {
    Record {
        version: "1".to_string(),
        scene: "a.rib".to_string(),
        frame: None,
        backend: "rpu".to_string(),
        device: "AVX2".to_string(),
        size: [20, 20],
        window: [2, 1, 9, 6],
        samples: SAMPLES,
        batches: 16,
        seed: 0,
        options: Default::default(),
        hashes: Subject { scene: 1, program: 2, settings: 3, backend: 4 },
    }
}

/// The bytes of a part.
fn part(share: Share, record: Record) -> Vec<u8> {
    let batches = Batches::new(SAMPLES);
    let (window, own) = share.split(WHOLE, batches).unwrap();
    let Window { width, height, .. } = window;
    let mut film = match share.has_all_samples() {
        true => Film::with_samples(width, height, SAMPLES).unwrap().with_variance(),
        false => Film::for_share(width, height, SAMPLES, own.start).unwrap(),
    };
    fill(&mut film, window, batches.range(own.start).start..batches.range(own.end - 1).end);
    let depth =
        (0..width * height).map(|at| [(window.x + at % width) as f32, (window.y + at / width) as f32, 0.0, 0.0]);
    let depth = Image::new(width, height, depth.collect()).unwrap();
    let aov = Aov { name: "z".to_string(), channels: vec!["Z".to_string()], image: depth };
    let aovs = if share.has_first_samples() { vec![aov] } else { Vec::new() };
    let record = PartRecord { record, part: PartInfo::new(share, window, &FilmSettings::default()) };
    PartFile { record, content: Content::from_film(film, share), aovs }.encode().unwrap()
}

/// All parts of a division, the last first.
fn parts(of: &str) -> Vec<Vec<u8>> {
    let share: Share = of.parse().unwrap();
    (0..share.count()).rev().map(|place| part(share.at_place(place), record())).collect()
}

fn decode(bytes: &[u8]) -> Result<PartFile, PartError> {
    PartFile::decode(&mut Cursor::new(bytes))
}

fn planned(parts: &[Vec<u8>]) -> Result<Plan, Vec<String>> {
    let records: Vec<_> =
        (0..).zip(parts).map(|(i, bytes)| (format!("{i}.exr"), decode(bytes).unwrap().record)).collect();
    plan(&records).map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn parts_in_any_order_join_to_the_bits_of_the_whole() {
    let mut whole = Film::with_samples(7, 5, SAMPLES).unwrap().with_variance();
    fill(&mut whole, WHOLE, 0..SAMPLES);
    for of in ["1/1", "1/4", "tiles:1/7x5", "samples:1/2", "samples:1/16", "tiles:1/2x3,samples:1/5"] {
        let parts = parts(of);
        let plan = planned(&parts).unwrap();
        let read = |number: usize| Ok::<_, SizeError>(decode(&parts[number]).unwrap());
        let joined = join(&plan, &decode(&parts[0]).unwrap().record, read).unwrap();
        assert_eq!(joined.means, whole.resolve(), "{of}");
        assert_eq!(joined.variance, whole.variance(SAMPLES), "{of}");
        let z = &joined.aovs[0].image;
        assert!((0..35).all(|at| z.rgba[at as usize][0] == (2 + at % 7) as f32), "{of}");
    }
}

#[test]
fn a_part_has_the_same_bytes_each_time_and_every_damage_is_noticed() {
    let share = "tiles:2/2,samples:2/4".parse().unwrap();
    let bytes = part(share, record());
    assert_eq!(bytes, part(share, record()));
    for length in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
        assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
    }
    let expected = decode(&bytes).unwrap();
    for at in (0..bytes.len()).step_by(3) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x10;
        // Some bytes are padding, or belong to attributes that are not read.
        let found = decode(&bytes).ok();
        assert!(found.is_none_or(|found| found == expected), "byte {at}");
    }
}

#[test]
fn missing_parts_are_named() {
    let mut parts = parts("tiles:1/2x1,samples:1/2");
    parts.remove(1);
    assert_eq!(planned(&parts), Err(vec!["tile 2 of 2x1, samples 1 of 2 is missing".to_string()]));
    assert_eq!(planned(&[]), Err(vec!["there are no parts".to_string()]));
}

#[test]
fn a_part_that_is_there_twice_is_used_once() {
    let mut parts = parts("1/2");
    parts.push(parts[0].clone());
    let plan = planned(&parts).unwrap();
    assert_eq!((plan.order, plan.duplicates), (vec![1, 0], vec![[0, 2]]));
}

#[test]
fn parts_of_other_images_are_refused_by_name() {
    let share = |of: &str| of.parse().unwrap();
    let mut other = record();
    other.hashes.program = 7;
    let cases: [(Vec<u8>, &str); 5] = [
        (part(share("2/2"), other), "its shaders or integrator are others: a shader was changed between them"),
        (part(share("2/2"), Record { seed: 9, ..record() }), "it was rendered with seed 9, the other with 0"),
        (
            part(share("2/2"), Record { backend: "gpu".to_string(), ..record() }),
            "it was rendered with backend gpu, the other with rpu",
        ),
        (
            part(share("2/2"), Record { frame: Some(3), ..record() }),
            "it was rendered with frame 3, the other with none",
        ),
        (
            part(share("2/3"), record()),
            "it is one of 3x1 tiles and 1 shares of the samples, the other of 2x1 tiles and 1 shares of the samples",
        ),
    ];
    for (bytes, reason) in cases {
        let found = planned(&[part(share("1/2"), record()), bytes]).unwrap_err();
        assert_eq!(found[0], format!("`1.exr` does not belong to `0.exr`: {reason}"));
    }
}

#[test]
fn parts_of_one_share_that_differ_are_a_conflict() {
    let share: Share = "1/2".parse().unwrap();
    let mut changed = decode(&part(share, record())).unwrap();
    if let Content::Means { rgba, .. } = &mut changed.content {
        rgba[0][0] += 1.0;
    }
    let parts = [part(share, record()), changed.encode().unwrap(), part("2/2".parse().unwrap(), record())];
    let expected = "`0.exr` and `1.exr` are both tile 1 of 2x1, and differ: render it again, and remove one of them";
    assert_eq!(planned(&parts), Err(vec![expected.to_string()]));
}

#[test]
fn images_are_no_parts() {
    let rendering = shadewright_image::rendering::Rendering::from(Image::new(1, 1, vec![[0.0; 4]]).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.exr");
    rendering.write(&path).unwrap();
    assert!(matches!(decode(&std::fs::read(path).unwrap()), Err(PartError::Foreign)));
    assert!(matches!(decode(b"x"), Err(PartError::Damaged(_))));
}
