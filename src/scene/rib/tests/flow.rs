//! Tests of which parts of a file are read: frames, conditions, archives within files, procedurals;
//! of what is read at which time; and of binary RIB.

use super::{Input, STRICT, errors, scene, warnings};
use crate::{OpenOptions, Opened, Scene};
use glam::Vec3;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::SourceMap;

const TRIANGLE: &str = "Polygon \"P\" [0 0 0 1 0 0 0 1 0]";

fn read_with(text: impl AsRef<[u8]>, options: &OpenOptions) -> Result<Opened, String> {
    let mut sources = SourceMap::new();
    let input = Input { name: "scene.rib", path: None, bytes: text.as_ref().to_vec() };
    super::super::read(input, options, &mut sources).map_err(|e: Diagnostics| e.render(&sources))
}

/// The scene at a share of the shutter's opening.
fn at_time(text: &str, time: f32) -> Scene {
    read_with(text, &OpenOptions { time, ..STRICT }).unwrap_or_else(|e| panic!("{e}")).scene
}

/// Where the first object's first vertex is.
fn place(scene: &Scene) -> Vec3 {
    scene.objects[0].mesh.positions[0]
}

fn close(a: Vec3, b: Vec3) {
    assert!(a.distance(b) < 1e-5, "{a} is not {b}");
}

#[test]
fn the_first_frame_is_read_unless_another_is_asked_for() {
    let text = format!(
        "Format 8 8 1 FrameBegin 3 Translate 0 0 1 WorldBegin Translate 3 0 0 {TRIANGLE} WorldEnd FrameEnd\n\
         FrameBegin 5 WorldBegin Translate 5 0 0 {TRIANGLE} WorldEnd FrameEnd"
    );
    let frame = |frame| read_with(&text, &OpenOptions { frame, ..STRICT });
    let first = frame(None).unwrap();
    assert_eq!((first.frames, place(&first.scene).x), (vec![3, 5], 3.0));
    let second = frame(Some(5)).unwrap().scene;
    assert_eq!((place(&second).x, second.format.width), (5.0, 8));
    assert_eq!(second.camera.world_to_camera.w_axis.z, 0.0, "requests inside a frame are local to it");
    let missing = frame(Some(4)).unwrap_err();
    assert!(missing.contains("has no frame 4") && missing.contains("between 3 and 5"), "{missing}");
}

#[test]
fn of_a_condition_one_part_is_read() {
    let size = |x: f32| {
        let s = scene(&format!(
            "Option \"user\" \"float x\" [{x}] FrameBegin 7\n\
             IfBegin \"$user:x > 2\" Format 30 1 1 ElseIf \"$user:x > 1\" IfBegin \"1\" Format 20 1 1 IfEnd\n\
             Else IfBegin \"0\" Format 9 9 1 Else Format 10 1 1 IfEnd IfEnd\n\
             IfBegin \"$Frame == 7 && !defined(user:y)\" PixelSamples 3 3 IfEnd WorldBegin {TRIANGLE} WorldEnd FrameEnd"
        ));
        assert_eq!(s.pixel_samples, [3, 3]);
        s.format.width
    };
    assert_eq!([1.0, 2.0, 3.0].map(size), [10, 20, 30]);
}

#[test]
fn attributes_of_the_user_come_before_options_in_conditions() {
    let color = |name: &str| {
        let s = scene(&format!(
            "Option \"user\" \"string look\" [\"dry\"] WorldBegin Attribute \"user\" \"string look\" [\"wet\"]\n\
             IfBegin \"${name} == 'wet'\" Color [1 0 0] IfEnd {TRIANGLE} WorldEnd"
        ));
        s.objects[0].color
    };
    assert_eq!(["user:look", "Attribute:user:look", "Option:user:look"].map(color), [Vec3::X, Vec3::X, Vec3::ONE]);
}

#[test]
fn wrong_conditions_are_reported_and_their_blocks_still_close() {
    let text = errors(&format!("IfBegin \"1 +\" Format 0 0 0 IfEnd Else WorldBegin {TRIANGLE} WorldEnd IfBegin \"1\""));
    assert!(text.contains("IfBegin: a value is missing in the condition `1 +`"), "{text}");
    assert!(text.contains("Else: no `IfBegin` is open here"), "{text}");
    assert!(text.contains("`IfBegin` is never closed"), "{text}");
    assert!(!text.contains("pixels"), "what is not read is not checked: {text}");
}

#[test]
fn archives_within_a_file_are_read_where_they_are_named() {
    let s = scene(&format!(
        "ArchiveBegin \"pair\" \"int x\" [1] {TRIANGLE} Translate 1 0 0 {TRIANGLE} ArchiveEnd\n\
         WorldBegin TransformBegin ReadArchive \"pair\" TransformEnd Translate 0 5 0\n\
         Procedural \"DelayedReadArchive\" [\"pair\"] [-1 1 -1 1 -1 1] WorldEnd"
    ));
    let places: Vec<_> = s.objects.iter().map(|o| o.mesh.positions[0]).collect();
    assert_eq!(places, [Vec3::ZERO, Vec3::X, Vec3::new(0.0, 5.0, 0.0), Vec3::new(1.0, 5.0, 0.0)]);
    let text = errors("ArchiveBegin \"a\" ReadArchive \"a\" ArchiveEnd WorldBegin ReadArchive \"a\" WorldEnd");
    assert!(text.contains("archives are nested more than 32 deep"), "{text}");
    assert!(errors("ArchiveBegin \"a\" Sides 2").contains("`ArchiveBegin` is never closed"));
    assert!(errors("WorldBegin ArchiveEnd WorldEnd").contains("no `ArchiveBegin` is open here"));
}

#[test]
fn programs_run_only_where_the_user_allows_it() {
    let text =
        |program: &str| format!("WorldBegin Procedural \"RunProgram\" [\"{program}\" \"7\"] [0 1 0 1 0 1] WorldEnd");
    let refused = errors(&text("cat"));
    assert!(refused.contains("may not run `cat`") && refused.contains("--allow-run"), "{refused}");
    let allowed = OpenOptions { allow_run: true, ..STRICT };
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("shift");
    std::fs::write(
        &script,
        format!("read detail data; echo 'Translate 0' $data '0 {TRIANGLE}'; printf '\\377Sides 9'"),
    )
    .unwrap();
    let printed = read_with(text(&format!("sh {}", script.display())), &allowed).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(place(&printed.scene), Vec3::new(0.0, 7.0, 0.0));
    let failed = read_with(text("false"), &allowed).unwrap_err();
    assert!(failed.contains("`false`: fails (exit status: 1)"), "{failed}");
    let missing = read_with(text("no-such-program-here"), &allowed).unwrap_err();
    assert!(missing.contains("`no-such-program-here`: cannot be run"), "{missing}");
    assert!(
        errors("WorldBegin Procedural \"DynamicLoad\" [\"x.so\" \"\"] [0 1 0 1 0 1] WorldEnd").contains("is left out")
    );
}

#[test]
fn a_motion_block_is_one_request_between_two() {
    let text = format!(
        "Shutter 0 2 WorldBegin MotionBegin [0 1 2] Translate 0 0 0 Translate 4 0 0 Translate 4 8 0 MotionEnd\n\
         {TRIANGLE} WorldEnd"
    );
    let s = at_time(&text, 0.25);
    close(place(&s), Vec3::new(2.0, 0.0, 0.0));
    assert_eq!((s.film.moves, s.film.time), (true, 0.5));
    close(place(&at_time(&text, 0.0)), Vec3::ZERO);
    close(place(&at_time(&text, 0.75)), Vec3::new(4.0, 4.0, 0.0));
    close(place(&at_time(&text, 1.0)), Vec3::new(4.0, 8.0, 0.0));
    // With the shutter closed nothing is blurred.
    let still = at_time(&text.replace("Shutter 0 2", "Shutter 1 1"), 0.5);
    close(place(&still), Vec3::new(4.0, 0.0, 0.0));
    assert!(!still.film.moves);
}

#[test]
fn angles_points_and_cameras_move() {
    let half = |requests: &str| place(&at_time(&format!("Shutter 0 1 WorldBegin {requests} WorldEnd"), 0.5));
    let turned =
        half(&format!("MotionBegin [0 1] Rotate 0 0 0 1 Rotate 90 0 0 1 MotionEnd Translate 1 0 0 {TRIANGLE}"));
    close(turned, Vec3::new(0.5f32.sqrt(), 0.5f32.sqrt(), 0.0));
    close(
        half(&format!("MotionBegin [0 1] {TRIANGLE} Polygon \"P\" [2 4 6 1 0 0 0 1 0] MotionEnd")),
        Vec3::new(1.0, 2.0, 3.0),
    );
    let moved = "MotionBegin [0 1] Translate 0 0 4 Translate 0 0 8 MotionEnd";
    let s = at_time(&format!("Shutter 0 1 {moved} WorldBegin {TRIANGLE} WorldEnd"), 0.5);
    close(s.camera_frame().origin, Vec3::new(0.0, 0.0, -6.0));
}

#[test]
fn matrices_that_turn_are_turned_between() {
    // A turn by 90 degrees about z, and twice the size: half way, 45 degrees and 1.5 times.
    let s = at_time(
        &format!(
            "Shutter 0 1 WorldBegin MotionBegin [0 1] ConcatTransform [1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1]\n\
             ConcatTransform [0 2 0 0 -2 0 0 0 0 0 2 0 4 0 0 1] MotionEnd Translate 1 0 0 {TRIANGLE} WorldEnd"
        ),
        0.5,
    );
    let side = 1.5 * 0.5f32.sqrt();
    close(place(&s), Vec3::new(2.0 + side, side, 0.0));
}

#[test]
fn motion_blocks_that_make_no_sense_are_refused() {
    let refused = |block: &str| errors(&format!("WorldBegin {block} {TRIANGLE} WorldEnd"));
    let text = refused("MotionBegin [0 1] Translate 1 0 0 Rotate 1 0 0 1 MotionEnd");
    assert!(text.contains("differ in more than their numbers"), "{text}");
    assert!(refused("MotionBegin [0 1] Translate 1 0 0 MotionEnd").contains("1 requests for 2 times"));
    assert!(refused("MotionBegin [1 0] Translate 1 0 0 Translate 1 0 0 MotionEnd").contains("the times must rise"));
    assert!(refused("MotionEnd").contains("no motion block is open"));
    assert!(errors("WorldBegin MotionBegin [0 1] Translate 1 0 0").contains("`MotionBegin` is never closed"));
}

#[test]
fn binary_rib_is_the_same_scene() {
    // WorldBegin in text, a defined Translate with three numbers of one byte each, a polygon with
    // an array of floats.
    let mut bytes = b"WorldBegin \xcc\x00\x99Translate\xa6\x00\x80\x01\x80\x02\x80\x03 Polygon \x91P\xc8\x09".to_vec();
    for x in [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0] {
        bytes.extend(x.to_be_bytes());
    }
    bytes.extend(b"WorldEnd");
    let binary = read_with(&bytes, &OpenOptions::default()).unwrap_or_else(|e| panic!("{e}")).scene;
    let text = scene(&format!("WorldBegin Translate 1 2 3 {TRIANGLE} WorldEnd"));
    assert_eq!(binary.objects[0].mesh, text.objects[0].mesh);
    let wrong = read_with(b"WorldBegin \xa6\x01 WorldEnd", &OpenOptions::default()).unwrap_err();
    assert!(wrong.contains("the request 1 at byte 11 is not defined before"), "{wrong}");
}

#[test]
fn worlds_without_frames_are_frames() {
    let text = format!("WorldBegin {TRIANGLE} WorldEnd Color [1 0 0] WorldBegin {TRIANGLE} {TRIANGLE} WorldEnd");
    assert!(warnings(&text).contains("the file has 2 frames, of which only frame 1 is read"));
    let second = read_with(&text, &OpenOptions { frame: Some(2), ..STRICT }).unwrap();
    assert_eq!((second.frames, second.scene.objects.len()), (vec![1, 2], 2));
    assert_eq!(second.scene.objects[0].color.y, 0.0, "attributes between the worlds count");
    assert!(read_with(&text, &OpenOptions { frame: Some(3), ..STRICT }).is_err());
    let in_frame = format!("FrameBegin 1 WorldBegin {TRIANGLE} WorldEnd WorldBegin {TRIANGLE} WorldEnd FrameEnd");
    assert!(warnings(&in_frame).contains("only the first world of a file is rendered"));
}
