//! The real window, driven by real input events on a display without a screen, and judged by what
//! can be seen.
//!
//! Every step waits until the screen shows what it should. `SHADEWRIGHT_SCREENSHOTS=FOLDER` keeps a
//! screenshot of the important ones.

use crate::desktop::{Button, LONG, Program, Region, Screenshot, keys};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A square in one strong color before a gray background. It fills the middle of the image.
const SCENE: &str = "\
Format 160 120 1
PixelSamples 1 1
Projection \"perspective\" \"fov\" [40]
Imager \"background\" \"color background\" [0.2 0.2 0.2]
WorldBegin
Translate 0 0 3
Surface \"flat\"
Polygon \"P\" [-0.9 -0.9 0  0.9 -0.9 0  0.9 0.9 0  -0.9 0.9 0]
WorldEnd
";

/// The same in light that paths find: the square shines.
const PATHS: &str = "\
Format 160 120 1
PixelSamples 1 1
Projection \"perspective\" \"fov\" [40]
Imager \"background\" \"color background\" [0.2 0.2 0.2]
Integrator \"path\" \"p\"
WorldBegin
Translate 0 0 3
Surface \"glow.rtsl:Glow\" \"float mixture\" [0]
Polygon \"P\" [-0.9 -0.9 0  0.9 -0.9 0  0.9 0.9 0  -0.9 0.9 0]
WorldEnd
";

/// [`SHADER`] as a class.
const CLASS: &str = "\
class Glow : rt_Material;
private float mixture;
void constructor(float mixture) { this.mixture = mixture; }
void emission() { rt_EmissionColor = mix(color(0., 1., 0.), color(0., 0., 1.), mixture); }
";

/// Green, and blue at the other end of the slider.
const SHADER: &str =
    "surface flat(float mixture = 0;) { Ci = mix(color(0, 1, 0), color(0, 0, 1), mixture); Oi = 1; }\n";

const GREEN: [u8; 3] = [0, 255, 0];
const YELLOW: [u8; 3] = [255, 255, 0];
const BLUE: [u8; 3] = [0, 0, 255];
/// The background: 0.2, as displays show it.
const GRAY: [u8; 3] = [124, 124, 124];

/// The middle of an image that has the window to itself; messages at its foot leave it free.
const MIDDLE: Region = Region { x: [0.46, 0.54], y: [0.3, 0.42] };
/// The middle of an image that has the parameters left of it.
const BESIDE_PARAMETERS: Region = Region { x: [0.68, 0.74], y: [0.3, 0.42] };
/// A part of the image that the table of metrics leaves free.
const BELOW_METRICS: Region = Region { x: [0.46, 0.54], y: [0.55, 0.65] };
/// The middle of an image that has the inspector right of it, in a window of 900 × 600.
const BESIDE_INSPECTOR: Region = Region { x: [0.24, 0.3], y: [0.3, 0.42] };
/// The inspector, in such a window.
const INSPECTOR: Region = Region { x: [0.75, 1.0], y: [0.1, 0.6] };
/// Where messages are.
const FOOT: Region = Region { x: [0.0, 1.0], y: [0.5, 1.0] };
/// Background of the image at its foot, in windows of many sizes.
const IMAGE_FOOT: Region = Region { x: [0.48, 0.52], y: [0.93, 0.945] };
/// The buttons that choose a back end, in a window of 640 × 480.
const TOOLS: Region = Region { x: [0.0, 0.16], y: [0.055, 0.1] };
/// A part of the panel of parameters that is the image's background when there is no panel, in a
/// window of 900 × 600.
const PANEL: Region = Region { x: [0.12, 0.2], y: [0.2, 0.45] };

/// Background above the square, in a window of 900 × 600.
const ABOVE_SQUARE: Region = Region { x: [0.48, 0.52], y: [0.14, 0.16] };
/// The listings of a program, in such a window.
const LISTINGS: Region = Region { x: [0.0, 1.0], y: [0.6, 0.94] };
/// Where the image says whose it is.
const CORNER: Region = Region { x: [0.0, 0.5], y: [0.06, 0.2] };

/// A folder with the scene and its shader.
fn files() -> TempDir {
    files_of(SCENE, "flat.sl", SHADER)
}

/// A folder with a scene and another file.
fn files_of(scene: &str, name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("scene.rib"), scene).expect("a scene");
    fs::write(folder.path().join(name), text).expect("a shader");
    folder
}

/// A window of this size and with these panels, dark.
fn settings(window: [u32; 2], panels: &[&str]) -> Value {
    json!({ "theme": "Dark", "window": window, "panels": panels })
}

/// Saves as editors do that want no half-written files: writes another file and renames it.
fn save(file: &Path, text: &str) {
    let new = file.with_extension("new");
    fs::write(&new, text).expect("a file");
    fs::rename(&new, file).expect("a file in the place of another");
}

/// The red of the frame and the heading of errors.
fn is_red([r, g, b]: [u8; 3]) -> bool {
    r > 200 && g < 70 && b < 70
}

/// True if errors are shown.
fn shows_errors(seen: &Screenshot) -> bool {
    seen.share(FOOT, is_red) > 0.002
}

/// True if the divider of two images stands at this share of the window's width.
fn has_divider(seen: &Screenshot, at: f32) -> bool {
    let near = Region { x: [at - 0.01, at + 0.01], y: MIDDLE.y };
    seen.share(near, |pixel| pixel.into_iter().all(|code| code > 180)) > 0.04
}

/// Drags from a place to another, and lets go when what is seen is so, or after a while. Gives
/// whether it was so.
fn holds_at(
    program: &mut Program,
    from: [i32; 2],
    to: [i32; 2],
    patience: Duration,
    is_so: impl Fn(&Screenshot) -> bool,
) -> bool {
    // A frame before and after the button goes down: nobody is faster.
    program.handled(|display| display.point(from));
    program.handled(|display| display.press(Button::Left));
    for step in 1..=5 {
        let along = [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * step / 5);
        program.handled(|display| display.point(along));
    }
    let is_so = program.within(patience, is_so).is_ok();
    program.display.release(Button::Left);
    is_so
}

/// The same, until it was so; on a busy machine the button may go down and up within a frame.
fn drag_until(
    program: &mut Program,
    from: [i32; 2],
    to: [i32; 2],
    what: &str,
    is_so: impl Fn(&Screenshot) -> bool + Copy,
) {
    let dragged = (0..4).any(|_| holds_at(program, from, to, Duration::from_secs(5), is_so));
    if !dragged {
        program.until(what, is_so);
    }
}

#[test]
fn the_built_in_scene_opens_and_turns_under_the_pointer() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["--backend", "rpu", "--spp", "1"];
    let mut program = Program::start(folder.path(), &arguments, &settings([400, 300], &[]));
    let image = Region { x: [0.2, 0.8], y: [0.25, 0.85] };
    program.until("the built-in scene", |seen| seen.colors(image) > 100);
    let before = program.until_still(image);
    program.keep("built-in");
    let (from, to) = (program.at(0.35, 0.6), program.at(0.65, 0.5));
    program.display.drag(Button::Left, from, to, 12);
    program.until("the scene from another side", |seen| seen.colors(image) > 100 && seen.changed(&before, image) > 0.2);
    // The scene's camera again.
    program.display.key(keys::HOME);
    program.until("the scene from the side of before", |seen| seen.changed(&before, image) < 0.02);
    assert_eq!(program.close().0, Some(0));
}

#[test]
fn a_scene_is_edited_broken_mended_picked_resized_replaced_and_closed() {
    let folder = files();
    let shader = folder.path().join("flat.sl");
    let arguments = ["scene.rib", "--backend", "rpu", "--stats"];
    let mut program = Program::start(folder.path(), &arguments, &settings([640, 480], &[]));
    program.until("the scene", |seen| seen.shows(MIDDLE, GREEN));
    assert!(program.title().starts_with("scene.rib"), "{}", program.title());

    save(&shader, &SHADER.replace("(0, 1, 0)", "(1, 1, 0)"));
    program.until("the new color", |seen| seen.shows(MIDDLE, YELLOW));

    fs::write(&shader, "surface flat() { Ci = nothing; Oi = ").expect("a broken shader");
    let broken = program.until("errors over the image", shows_errors);
    program.keep("errors");
    assert!(broken.shows(MIDDLE, YELLOW), "the last good image stays");
    save(&shader, SHADER);
    program.until("the fixed scene without errors", |seen| seen.shows(MIDDLE, GREEN) && !shows_errors(seen));

    pick(&mut program);
    parameters(&mut program);
    sizes(&mut program);

    let other = folder.path().join("other.rib");
    fs::write(&other, SCENE.replace("Surface \"flat\"", "Surface \"constant\"\nColor [0 0 1]")).expect("a scene");
    assert!(program.drop_file(&other, LONG), "the window takes files");
    program.until("the scene that was dropped", |seen| seen.shows(MIDDLE, BLUE));
    assert!(program.title().starts_with("other.rib"), "{}", program.title());

    let file = program.settings_file();
    let (status, output) = program.close();
    assert_eq!(status, Some(0));
    assert!(output.contains("frames of the interface"), "{output}");
    let text = fs::read_to_string(file).expect("settings");
    let settings: Value = serde_json::from_str(&text).expect("settings");
    assert_eq!(settings["window"], json!([640.0, 480.0]), "{text}");
    let recent: Vec<PathBuf> = serde_json::from_value(settings["recent"].clone()).expect("recent scenes");
    let ours = other.canonicalize().expect("the scene");
    assert!(recent.iter().any(|path| path.canonicalize().is_ok_and(|path| path == ours)), "{text}");
}

/// Opens the inspector, picks a pixel, and checks that the inspector shows something about it.
fn pick(program: &mut Program) {
    program.resize([900, 600]);
    program.display.key(keys::function(6));
    program.until("the scene beside the inspector", |seen| seen.width == 900 && seen.shows(BESIDE_INSPECTOR, GREEN));
    let before = program.until_still(Region::WHOLE);
    let [x, y] = [0.27, 0.36];
    let place = program.at(x, y);
    program.display.click(Button::Left, place);
    let around = Region { x: [x - 0.02, x + 0.02], y: [y - 0.02, y + 0.02] };
    program.until("a cross on the picked pixel, and what it is made of", |seen| {
        seen.changed(&before, around) > 0.02 && seen.changed(&before, INSPECTOR) > 0.02
    });
    program.keep("picked");
    program.display.key(keys::ESCAPE);
    program.display.key(keys::function(6));
    program.until("the scene without the inspector", |seen| seen.shows(MIDDLE, GREEN));
}

/// Opens the panel of parameters, and moves the slider of the shader's only one to its end and
/// back.
fn parameters(program: &mut Program) {
    program.resize([900, 600]);
    program.display.key(keys::function(5));
    program.until("the scene beside its parameters", |seen| {
        seen.width == 900 && seen.shows(BESIDE_PARAMETERS, GREEN) && seen.colors(PANEL) > 8
    });
    program.keep("parameters");
    let is_blue = |seen: &Screenshot| seen.mean(BESIDE_PARAMETERS)[2] > 128.0;
    // The slider is in one of these lines.
    let patience = Duration::from_millis(1500);
    let line = (142..200).step_by(7).find(|y| holds_at(program, [110, *y], [195, *y], patience, is_blue));
    program.until("the color at the other end of the slider", is_blue);
    let y = line.expect("a line with the slider");
    drag_until(program, [190, y], [50, y], "the color at this end of the slider", |seen| {
        seen.shows(BESIDE_PARAMETERS, GREEN)
    });
    program.display.key(keys::function(5));
    program.until("the scene without its parameters", |seen| seen.shows(MIDDLE, GREEN) && seen.shows(PANEL, GRAY));
}

/// Makes the window very small and very large.
fn sizes(program: &mut Program) {
    for (size, name) in [([300, 200], "small"), ([2560, 1440], "large"), ([640, 480], "usual")] {
        program.resize(size);
        // The image's own background at its foot: it fills the height of the window.
        program.until(&format!("the {name} window filled"), |seen| {
            [seen.width, seen.height] == size.map(|side| side as usize)
                && seen.shows(MIDDLE, GREEN)
                && seen.shows(IMAGE_FOOT, GRAY)
        });
        program.keep(name);
    }
}

#[test]
fn a_class_that_paths_meet_is_edited_broken_and_mended_and_its_constructor_has_a_slider() {
    let folder = files_of(PATHS, "glow.rtsl", CLASS);
    let class = folder.path().join("glow.rtsl");
    let mut program = Program::start(folder.path(), &["scene.rib", "--backend", "rpu"], &settings([640, 480], &[]));
    program.until("the scene of paths", |seen| seen.shows(MIDDLE, GREEN));

    save(&class, &CLASS.replace("color(0., 1., 0.)", "color(1., 1., 0.)"));
    program.until("the new color of the class", |seen| seen.shows(MIDDLE, YELLOW));
    fs::write(&class, "class Glow : rt_Material;\nvoid emission() { rt_EmissionColor = nothing; }").expect("a class");
    let broken = program.until("errors of the class over the image", shows_errors);
    program.keep("class errors");
    assert!(broken.shows(MIDDLE, YELLOW), "the last good image stays");
    save(&class, CLASS);
    program.until("the fixed class without errors", |seen| seen.shows(MIDDLE, GREEN) && !shows_errors(seen));

    parameters(&mut program);
    assert_eq!(program.close().0, Some(0));
}

#[test]
fn the_gpu_and_the_rpu_are_compared_and_follow_the_files() {
    let folder = files();
    let shader = folder.path().join("flat.sl");
    let arguments = ["scene.rib", "--backend", "gpu"];
    let mut program = Program::start(folder.path(), &arguments, &settings([640, 480], &[]));
    program.until("the scene", |seen| seen.shows(MIDDLE, GREEN));

    // Where both have drawn the same, the difference is black; an image that waits for the other is
    // dimmed.
    program.display.key(u32::from(b'5'));
    let is_black = |seen: &Screenshot| seen.shows(BELOW_METRICS, [0, 0, 0]);
    program.until("no difference between the GPU and the RPU", is_black);
    program.keep("difference");
    program.display.key(u32::from(b'1'));
    let gpu = program.until("the image of the GPU", |seen| seen.shows(MIDDLE, GREEN));
    program.display.key(u32::from(b'2'));
    program
        .until("the toolbar with the RPU chosen", |seen| seen.changed(&gpu, TOOLS) > 0.02 && seen.shows(MIDDLE, GREEN));

    program.display.key(u32::from(b'3'));
    program.until("a divider in the middle", |seen| has_divider(seen, 0.5));
    program.keep("split");
    let (from, to) = (program.at(0.5, 0.6), program.at(0.4, 0.6));
    drag_until(&mut program, from, to, "the divider where it was dragged", |seen| {
        has_divider(seen, 0.4) && !has_divider(seen, 0.5)
    });
    // A drag that began before the pointer was seen on the divider turned the scene.
    program.display.key(keys::HOME);
    // The toolbar's first button: the GPU.
    program.display.click(Button::Left, [28, 37]);
    program.until("no divider", |seen| seen.shows(MIDDLE, GREEN) && !has_divider(seen, 0.4));

    save(&shader, &SHADER.replace("(0, 1, 0)", "(1, 1, 0)"));
    program.until("the new color", |seen| seen.shows(MIDDLE, YELLOW));
    program.display.key(u32::from(b'5'));
    program.until("no difference after the edit", is_black);
    program.display.key(u32::from(b'1'));
    fs::write(&shader, "surface flat() { Ci = ").expect("a broken shader");
    let broken = program.until("errors over the GPU's image", |seen| shows_errors(seen) && seen.shows(MIDDLE, YELLOW));
    assert!(broken.shows(MIDDLE, YELLOW), "the last good image stays");
    save(&shader, SHADER);
    program.until("the fixed scene", |seen| seen.shows(MIDDLE, GREEN) && !shows_errors(seen));
    sizes(&mut program);
    assert_eq!(program.close().0, Some(0));
}

#[test]
fn the_scene_is_moved_flown_through_blinked_and_its_program_is_listed() {
    let folder = files();
    let arguments = ["scene.rib", "--backend", "rpu"];
    let mut program = Program::start(folder.path(), &arguments, &settings([900, 600], &[]));
    program.until("the scene", |seen| seen.shows(MIDDLE, GREEN) && seen.shows(ABOVE_SQUARE, GRAY));

    // A key that flies forward, held until the square reaches beyond where it ended.
    program.display.key_down(u32::from(b'w'));
    program.until("the square from nearby", |seen| seen.shows(ABOVE_SQUARE, GREEN));
    program.display.key_up(u32::from(b'w'));
    program.display.key(keys::HOME);
    program.until("the scene's camera", |seen| seen.shows(ABOVE_SQUARE, GRAY));

    // Shift and a drag move what is seen along with the pointer.
    let (from, to) = (program.at(0.5, 0.7), program.at(0.9, 0.7));
    program.handled(|display| display.key_down(keys::SHIFT));
    drag_until(&mut program, from, to, "the square moved aside", |seen| seen.shows(MIDDLE, GRAY));
    program.display.key_up(keys::SHIFT);
    program.display.key(keys::HOME);
    program.until("the square in the middle", |seen| seen.shows(MIDDLE, GREEN));

    program.display.key(keys::function(7));
    program.until("the listings below the image", |seen| seen.colors(LISTINGS) > 20);
    let listed = program.until_still(LISTINGS);
    program.keep("program");
    // A line under the pointer lights up, and so does what comes from it.
    let line = program.at(0.12, 0.664);
    program.display.click(Button::Left, line);
    program.until("a source line lit in the listings", |seen| seen.changed(&listed, LISTINGS) > 0.01);
    program.display.key(keys::function(7));
    program.until("the scene alone", |seen| seen.shows(MIDDLE, GREEN) && seen.shows(IMAGE_FOOT, GRAY));

    program.display.key(u32::from(b'4'));
    let of_one = program.until("the image of one back end", |seen| seen.shows(MIDDLE, GREEN));
    program.until("that of the other, by its name", |seen| {
        seen.changed(&of_one, CORNER) > 0.001 && seen.shows(MIDDLE, GREEN)
    });
    assert_eq!(program.close().0, Some(0));
}

#[test]
fn a_lost_device_of_the_window_and_edited_kernels_leave_the_window_alive() {
    let folder = files();
    let kernels = folder.path().join("kernels");
    copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("wgsl"), &kernels);
    let arguments = ["scene.rib", "--backend", "gpu"];
    let variables = [("SHADEWRIGHT_KERNELS", kernels.as_path())];
    let settings = settings([640, 480], &[]);
    let mut program = Program::start_with(folder.path(), &arguments, &settings, &variables);
    program.until("the scene", |seen| seen.shows(MIDDLE, GREEN));

    let answer = kernels.join("traverse/answer.wgsl");
    let text = fs::read_to_string(&answer).expect("a kernel");
    let blind = text.replace("if !hit.found {", "if hit.prim >= 0u {");
    assert_ne!(blind, text, "the kernel asks whether there was a hit");
    save(&answer, &blind);
    program.until("rays that hit nothing", |seen| seen.shows(MIDDLE, GRAY));
    save(&answer, "fn answer(");
    program.until("what is wrong with the kernel", shows_errors);
    program.keep("kernel");
    save(&answer, &text);
    program.until("the scene after the fixed kernel", |seen| seen.shows(MIDDLE, GREEN) && !shows_errors(seen));

    let before = program.until_still(Region::WHOLE);
    for key in [keys::CONTROL, keys::SHIFT] {
        program.display.key_down(key);
    }
    program.display.key(u32::from(b'r'));
    for key in [keys::SHIFT, keys::CONTROL] {
        program.display.key_up(key);
    }
    program.until("the scene on another device, and a word about it", |seen| {
        seen.shows(MIDDLE, GREEN) && seen.changed(&before, FOOT) > 0.001
    });
    program.keep("device");
    save(&folder.path().join("flat.sl"), &SHADER.replace("(0, 1, 0)", "(1, 1, 0)"));
    program.until("the new color on the other device", |seen| seen.shows(MIDDLE, YELLOW));
    assert_eq!(program.close().0, Some(0));
}

/// Copies a folder with those in it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let copy = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).expect("a copy");
        }
    }
}
