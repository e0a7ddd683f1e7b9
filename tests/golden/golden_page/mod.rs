//! The report of `shadewright golden` in a real browser: Chromium without a window, driven through
//! its debugging protocol.
//!
//! Needs the program `chromium`, which `tests/all.sh` installs on Debian; `google-chrome` will do.

mod browser;

use crate::common::shadewright;
use browser::Browser;
use serde_json::{Value, json};
use shadewright::image::decode;
use shadewright::image::{Reading, color::encode_srgb8};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A surface of one color.
fn paint(name: &str, color: &str) -> String {
    format!("surface {name}() {{ Ci = color({color}); Oi = 1; }}")
}

/// A scene that a surface fills.
fn scene(surface: &str) -> String {
    format!(
        "Format 40 30 1\nPixelSamples 1 1\nProjection \"orthographic\"\nWorldBegin\nSurface \"{surface}\"\n\
         Patch \"bilinear\" \"P\" [-2 2 1  2 2 1  -2 -2 1  2 -2 1]\nWorldEnd\n"
    )
}

/// A name that is markup where it is not escaped.
const HOSTILE: &str = "<img src=x onerror=hacked=1>";

/// A folder with a report that has an image of each kind: one that failed, an error, one without a
/// reference, one of another size, and one that passed.
fn report() -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("the folder can be written");
    write("paint.sl", &paint("paint", "1, 0, 0"));
    write("stay.sl", &paint("stay", "0.2, 0.2, 0.2"));
    for (name, surface) in [("failed", "paint"), ("passed", "stay"), ("small", "stay")] {
        write(&format!("{name}.rib"), &scene(surface));
    }
    let golden = |args: &[&str]| shadewright(dir.path(), &[&["golden", "."], args].concat()).status.code();
    assert_eq!(golden(&["--bless"]), Some(0));
    write("paint.sl", &paint("paint", "0, 0, 1"));
    write("small.rib", &scene("stay").replace("40 30", "20 30"));
    write("error.rib", &scene("nosuch"));
    write(&format!("{HOSTILE}.rib"), &scene("stay"));
    assert_eq!(golden(&[]), Some(2));
    dir
}

fn open(dir: &Path) -> Browser {
    let mut browser = Browser::start([1200, 800]);
    browser.open(&format!("file://{}", dir.join("golden-report/report.html").display()));
    browser
}

/// Selects an image by its name.
fn select(browser: &mut Browser, name: &str) {
    let found = browser.evaluate(&format!(
        "(() => {{ const item = [...document.querySelectorAll('.item')].find((item) => \
         item.querySelector('.name').textContent === {}); item?.click(); return Boolean(item); }})()",
        json!(name)
    ));
    assert_eq!(found, true, "{name} is listed");
}

/// The middle of an element on the screen, and its size.
fn place(browser: &mut Browser, selector: &str) -> [f64; 4] {
    let place = browser.evaluate(&format!(
        "(() => {{ const box = document.querySelector('{selector}').getBoundingClientRect(); \
         return [box.x, box.y, box.width, box.height]; }})()"
    ));
    let numbers: Vec<f64> = place.as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    numbers.try_into().expect("four numbers")
}

/// The color at a place of the screen.
fn pixel(browser: &mut Browser, [x, y]: [f64; 2]) -> [u8; 3] {
    let shot = decode(&browser.screenshot(), Reading::Color).expect("a PNG file");
    let [r, g, b, _] = shot.rgba[y as usize * shot.width as usize + x as usize];
    [r, g, b].map(encode_srgb8)
}

#[test]
fn the_report_works_in_a_browser_and_requests_nothing() {
    let dir = report();
    let mut browser = open(dir.path());

    // The worst come first, and the first is selected.
    let listed = browser.evaluate("[...document.querySelectorAll('.item')].map((item) => item.dataset.status)");
    assert_eq!(listed, json!(["error", "failed", "failed", "new", "passed"]));
    let selected = "document.querySelector('article.selected h2').firstChild.textContent.trim()";
    assert_eq!(browser.evaluate(selected), "error");
    let message = browser.evaluate("document.querySelector('article.selected').innerText");
    assert!(
        message
            .as_str()
            .is_some_and(|text| text.contains("no surface shader nosuch") && text.contains("error.rib:5:1")),
        "{message}"
    );

    // Every image of the page decodes, in the size that it says.
    let wrong = browser.evaluate(
        "Promise.all([...document.images].map(async (image) => { image.loading = 'eager'; await image.decode(); \
         return image.naturalWidth === Number(image.getAttribute('width')) && image.naturalHeight === Number(image.getAttribute('height')); })) \
         .then((good) => [good.length, good.filter((is) => !is).length], (error) => String(error))",
    );
    // Seven of a comparison, two of images of different sizes, one of a render.
    assert_eq!(wrong, json!([7 + 2 + 1 + 7, 0]));

    // A name is a text, whatever it looks like.
    select(&mut browser, HOSTILE);
    assert_eq!(browser.evaluate(selected), HOSTILE);
    assert_eq!(browser.evaluate("typeof hacked"), "undefined");

    // The slider shows the reference left of it and the render right of it, wherever it is dragged.
    select(&mut browser, "failed");
    let [left, top, width, height] = place(&mut browser, ".sheet");
    let at = |x: f64, y: f64| [left + x * width, top + y * height];
    let divide = "[document.querySelector('#divide').value, document.querySelectorAll('.sheet img')[1].style.clipPath]";
    assert_eq!(browser.evaluate(divide), json!(["50", "inset(0px 0px 0px 50%)"]));
    let (red, blue) = ([255, 0, 0], [0, 0, 255]);
    assert_eq!((pixel(&mut browser, at(0.4, 0.1)), pixel(&mut browser, at(0.6, 0.1))), (red, blue));
    browser.drag(at(0.5, 0.5), at(0.25, 0.5));
    assert_eq!(browser.evaluate(divide), json!(["25", "inset(0px 0px 0px 25%)"]));
    assert_eq!((pixel(&mut browser, at(0.2, 0.1)), pixel(&mut browser, at(0.4, 0.1))), (red, blue));
    browser.evaluate("document.querySelector('#divide').focus()");
    (0..10).for_each(|_| browser.key("ArrowRight"));
    assert_eq!(browser.evaluate(divide), json!(["30", "inset(0px 0px 0px 30%)"]));

    // The readout has the values of both.
    browser.move_to(at(0.9, 0.5));
    let readout = browser.evaluate("document.querySelector('.readout').textContent");
    assert_eq!(readout, "x 36, y 15reference 255 0 0render 0 0 255 (sRGB)");

    // Views by their keys; the amplification by D.
    let shown = "[...document.querySelectorAll('.sheet img')].map((image) => image.dataset.shown)";
    for (key, expected) in [
        ("2", json!(["reference", "render"])),
        ("4", json!(["reference"])),
        ("5", json!(["render"])),
        ("6", json!(["difference-10"])),
        ("d", json!(["difference-100"])),
        ("d", json!(["bits"])),
        ("7", json!(["flip"])),
    ] {
        browser.key(key);
        assert_eq!(browser.evaluate(shown), expected, "{key}");
    }
    let sheet = "document.querySelector('.sheet').getBoundingClientRect().width";
    browser.key("0");
    let fit = browser.evaluate(sheet).as_f64().expect("a width");
    browser.key("+");
    assert!(browser.evaluate(sheet).as_f64().expect("a width") > fit);
    assert_eq!(browser.evaluate("getComputedStyle(document.querySelector('.sheet img')).imageRendering"), "pixelated");

    // Images of different sizes are shown beside each other only.
    select(&mut browser, "small");
    browser.key("1");
    assert_eq!(browser.evaluate(shown), json!(["reference", "render"]));
    assert_eq!(browser.evaluate("document.querySelectorAll('.pane').length"), 2);

    // The list, from the keyboard.
    browser.key("j");
    assert_eq!(browser.evaluate(selected), HOSTILE);
    browser.key("k");
    assert_eq!(browser.evaluate(selected), "small");
    browser.key("/");
    browser.type_text("passed");
    let visible = "[...document.querySelectorAll('.item')].filter((item) => item.checkVisibility()).map((item) => item.querySelector('.name').textContent)";
    assert_eq!(browser.evaluate(visible), json!(["passed"]));
    browser.key("Escape");

    // Controls have names.
    let nameless = browser.evaluate(
        "[...document.querySelectorAll('button, input, [role]')].filter((one) => one.checkVisibility() && \
         !(one.getAttribute('aria-label') || one.textContent.trim() || one.labels?.length)).map((one) => one.outerHTML)",
    );
    assert_eq!(nameless, json!([]));

    let events = browser.close();
    let of = |method: &str| events.iter().filter(|event| event["method"] == method).collect::<Vec<_>>();
    for method in ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"] {
        assert!(of(method).is_empty(), "{:?}", of(method));
    }
    let address = |event: &&Value| event["params"]["request"]["url"].as_str().unwrap_or_default().to_string();
    let requests: Vec<String> = of("Network.requestWillBeSent").iter().map(address).collect();
    let elsewhere: Vec<&String> = requests.iter().filter(|address| !address.starts_with("data:")).collect();
    assert!(elsewhere.len() == 1 && elsewhere[0].ends_with("/golden-report/report.html"), "{elsewhere:?}");
}

#[test]
fn without_scripts_the_report_is_a_list_of_all_images() {
    let dir = report();
    let mut browser = Browser::start([1200, 3000]);
    browser.without_scripts();
    browser.open(&format!("file://{}", dir.path().join("golden-report/report.html").display()));
    let page = browser.text();
    for part in ["FLIP mean", "no surface shader", HOSTILE, "there is no reference yet", "20 × 30"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // Red, from the reference of the image that failed.
    let shot = decode(&browser.screenshot(), Reading::Color).expect("a PNG file");
    let is_red = |pixel: &[f32; 4]| pixel[0] > 0.99 && pixel[1] < 0.01 && pixel[2] < 0.01;
    let _ = browser.close();
    assert!(shot.width == 1200 && shot.rgba.iter().any(is_red), "the images are on the page");
}
