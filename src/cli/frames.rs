//! `--frames`: the frames of a scene that are rendered, and the names of their files.

use super::args::{Frames, SceneArgs};
use super::failure::Failure;
use super::input::{open_options, source_of};
use shadewright::scene;
use shadewright::text::source::SourceMap;
use std::path::{Path, PathBuf};

/// Every frame.
const ALL: Frames = Frames { first: i32::MIN, last: i32::MAX };
/// Most bytes of a file that is searched for frames.
const MAX_BYTES: u64 = 1 << 30;

/// Digits of a frame number before the extension.
const DIGITS: usize = 4;

/// Frames of a scene's file.
#[derive(Default)]
pub struct Sequence {
    /// The frames that are rendered, in the file's order.
    pub frames: Vec<i32>,
    /// Frames before all of these whose display is a shadow map: the rendered ones may use them.
    pub shadow_maps: Vec<i32>,
    /// The rendered ones whose display is a shadow map.
    pub depth_frames: Vec<i32>,
}

/// The bytes of the scene's file, of which the functions below tell what it seems to hold without
/// reading it as a scene.
fn bytes_of(args: &SceneArgs) -> Option<Vec<u8>> {
    scene::read_file(args.file.scene.as_deref()?, MAX_BYTES).ok()
}

/// Several frames, or several worlds, which are frames where nothing else is.
fn has_several(bytes: &[u8]) -> bool {
    has(bytes, "FrameBegin", 2) || has(bytes, "WorldBegin", 2)
}

/// Displays that are shadow maps.
fn has_shadow_maps(bytes: &[u8]) -> bool {
    ["\"zfile\"", "\"shadow\"", "\"z\""].iter().any(|word| has(bytes, word, 1))
}

fn has(bytes: &[u8], word: &str, n: usize) -> bool {
    bytes.windows(word.len()).filter(|w| *w == word.as_bytes()).take(n).count() == n
}

/// The frames to render one after the other: those of a range, or all of a file that has several.
/// No frames where one image is rendered: where one frame is asked for, or `is_single`.
///
/// # Errors
/// When the scene of a range has errors, or no frame in the range.
pub fn sequence(args: &SceneArgs, is_single: bool) -> Result<Sequence, Failure> {
    match args.moment.frames {
        Some(range) if range.first != range.last => scene_sequence(args, range),
        Some(range) if bytes_of(args).is_some_and(|bytes| has_several(&bytes) && has_shadow_maps(&bytes)) => {
            Ok(Sequence { frames: Vec::new(), ..scene_sequence(args, range)? })
        }
        None if !is_single && bytes_of(args).is_some_and(|bytes| has_several(&bytes)) => {
            // A scene with errors is reported where it is rendered.
            Ok(scene_sequence(args, ALL).ok().filter(|sequence| sequence.frames.len() > 1).unwrap_or_default())
        }
        _ => Ok(Sequence::default()),
    }
}

/// The frames of the scene within a range, in the scene's order.
fn scene_sequence(args: &SceneArgs, range: Frames) -> Result<Sequence, Failure> {
    let mut sources = SourceMap::new();
    // The scene's first frame is read to find the others.
    let options = shadewright::scene::OpenOptions { frame: None, ..open_options(args) };
    let opened = source_of(args).open(&options, &mut sources).map_err(|d| Failure::diagnostics(&d, &sources))?;
    let is_inside = |n: &i32| (range.first..=range.last).contains(n);
    let mut frames: Vec<i32> = opened.frames.iter().copied().filter(is_inside).collect();
    frames.dedup();
    if !frames.is_empty() {
        let before = opened.frames.iter().copied().take_while(|n| !is_inside(n));
        let shadow_maps = before.filter(|n| opened.depth_frames.contains(n)).collect();
        let depth_frames = frames.iter().copied().filter(|n| opened.depth_frames.contains(n)).collect();
        return Ok(Sequence { frames, shadow_maps, depth_frames });
    }
    let what = match (opened.frames.iter().min(), opened.frames.iter().max()) {
        (Some(first), Some(last)) => format!("its frames lie between {first} and {last}"),
        _ => "it has no FrameBegin and no animation".to_string(),
    };
    let Frames { first, last } = range;
    Err(Failure::input(format!("error: --frames: the scene has no frame from {first} to {last}: {what}")))
}

/// The file of a frame: its number replaces `####` (a digit for each `#`) or `%d`, `%4d`, `%04d` in
/// the file's name, or stands before the extension.
pub fn file_of(out: &Path, frame: i32) -> PathBuf {
    let Some(name) = out.file_name().and_then(|n| n.to_str()) else { return out.to_path_buf() };
    let put = |before: &str, digits: usize, after: &str| out.with_file_name(format!("{before}{frame:0digits$}{after}"));
    if let Some((before, rest)) = name.split_once('#') {
        let after = rest.trim_start_matches('#');
        return put(before, 1 + rest.len() - after.len(), after);
    }
    if let Some((before, rest)) = name.split_once('%')
        && let Some((digits, after)) = rest.split_once('d')
        && digits.bytes().all(|b| b.is_ascii_digit())
        && let Ok(width) = format!("0{digits}").parse::<u8>()
    {
        return put(before, width.into(), after);
    }
    match name.rsplit_once('.') {
        Some((before, extension)) => put(&format!("{before}."), DIGITS, &format!(".{extension}")),
        None => put(&format!("{name}."), DIGITS, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_where_the_name_says_or_before_the_extension() {
        for (out, expected) in [
            ("a/out.png", "a/out.0007.png"),
            ("out.##.png", "out.07.png"),
            ("out_%03d.exr", "out_007.exr"),
            ("out%d.exr", "out7.exr"),
            ("50%.png", "50%.0007.png"),
            ("out", "out.0007"),
        ] {
            assert_eq!(file_of(Path::new(out), 7), Path::new(expected), "{out}");
        }
        assert_eq!(file_of(Path::new("out.png"), 12345), Path::new("out.12345.png"));
        assert_eq!(file_of(Path::new("out.####.png"), -3), Path::new("out.-003.png"));
    }
}
