//! The PixelFlow model as a user meets it: the pixel memory of shaders.

mod common;

use common::{repository, shadewright, stderr};
use std::fs;
use std::path::Path;

/// What `compile FILE --emit memory` prints.
fn memory(folder: &Path, file: &str, more: &[&str]) -> String {
    let output = shadewright(folder, &[&["compile", file, "--emit", "memory"], more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number in the first line that begins with these words.
fn number(text: &str, line: &str) -> i64 {
    let found = text.lines().find_map(|l| l.trim_start().strip_prefix(line));
    let word = found.and_then(|rest| rest.split_whitespace().next());
    word.and_then(|w| w.parse().ok()).unwrap_or_else(|| panic!("no `{line}` in {text}"))
}

#[test]
fn shaders_take_no_more_pixel_memory_than_those_of_the_thesis() {
    // Figure 4.11, the last column.
    let folder = repository("assets/pfman");
    for (file, bytes) in [("brick", 16), ("fancybrick", 101), ("ripple", 137), ("planks", 97)] {
        let text = memory(&folder, &format!("{file}.pfman"), &[]);
        let allocated = number(&text, "allocated");
        assert!(0 < allocated && allocated <= bytes, "{file}: {allocated} bytes\n{text}");
        assert!(number(&text, "varying ") > allocated && number(&text, "uniform and varying") > allocated);
        assert!(number(&text, "free") > 0);
        assert_eq!(text, memory(&folder, &format!("{file}.pfman"), &[]), "it is the same each time");
    }
}

#[test]
fn the_memory_of_shaders_in_other_languages_is_shown_and_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(
        folder.path().join("s.sl"),
        "surface s(float rough = 0.1; varying float w = 1;) { float f = noise(P * w); if (f > 0.5) f = sqrt(f) * 2; Ci = Cs * f + specular(normalize(N), -normalize(I), rough); }\n\
         light l(float a = 1;) { illuminate (point (0, 1, 0)) { Cl = a / (L . L); } }",
    )
    .expect("it can be written");
    let text = memory(folder.path(), "s.sl", &[]);
    assert!(text.contains("shader s\n") && text.contains("shader l\n"), "{text}");
    assert!(number(&text, "varying parameters") > 0);
    memory(folder.path(), "s.sl", &["--out", "s.svg"]);
    let drawing = fs::read_to_string(folder.path().join("s.svg")).expect("a drawing");
    assert!(drawing.starts_with("<svg") && drawing.matches("<rect").count() > 20 && drawing.contains("bytes</text>"));
}

#[test]
fn a_shader_that_needs_more_than_a_pixel_has_is_told_by_how_much() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = "surface large() { float sum = 0;".to_string();
    for i in 0..120 {
        text += &format!("float a{i} = noise(P * {i}.5 + N);");
    }
    // All are needed after the last has been computed.
    for i in 0..120 {
        text += &format!("sum += a{i} * a{};", (i * 7 + 3) % 120);
    }
    fs::write(folder.path().join("large.sl"), text + "Ci = sum; }").expect("it can be written");
    let text = memory(folder.path(), "large.sl", &[]);
    assert!(number(&text, "allocated") > 256, "{text}");
    assert!(text.contains("does not fit: "), "{text}");
}

#[test]
fn a_file_without_shaders_has_no_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("f.sl"), "float f(float x) { return x; }").expect("it can be written");
    let output = shadewright(folder.path(), &["compile", "f.sl", "--emit", "memory"]);
    assert!(!output.status.success() && stderr(&output).contains("the file has none"));
}
