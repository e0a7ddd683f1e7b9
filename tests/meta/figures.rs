//! Figures of the documentation that no processor changes are what their commands print.

use crate::common::{repository, shadewright, stderr};
use serde_json::Value;
use shadewright::machines::rays::silicon::programs::{self, Arithmetic};
use std::fs;

/// The rows of a page's table, without its head, whose first line is `head`.
fn table(page: &str, head: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(repository(page)).expect("a page");
    let lines = text.lines().skip_while(|line| *line != head).skip(2).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().replace("**", "")).collect();
    let rows: Vec<Vec<String>> = lines.map(cells).collect();
    assert!(!rows.is_empty(), "{page} has no table `{head}`");
    rows
}

/// Asserts that a cell is a number, rounded to the digits that it has.
#[track_caller]
fn is_rounded(cell: &str, number: f64, what: &str) {
    let digits = cell.split_once('.').map_or(0, |(_, digits)| digits.len());
    let shown: f64 = cell.replace(',', "").parse().unwrap_or_else(|_| panic!("{what}: `{cell}` is not a number"));
    let unit = 10f64.powi(-(digits as i32));
    assert!((shown - number).abs() <= 0.5001 * unit, "{what}: the page has {cell}, and the program prints {number}");
}

/// The output of the program in the repository.
#[track_caller]
fn printed(args: &[&str]) -> String {
    let output = shadewright(&repository("."), args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("a text")
}

/// The report of ray-tracing hardware on the 83 cubes.
#[track_caller]
fn cubes(model: &str, more: &[&str]) -> Value {
    let args = ["simulate", "assets/machines/cubes-83.rib", "--model", model, "--size", "48x48", "--json"];
    serde_json::from_str(&printed(&[&args, more].concat())).expect("JSON")
}

/// The number before a word of a text.
#[track_caller]
fn before(text: &str, word: &str) -> f64 {
    let (text, _) = text.split_once(word).unwrap_or_else(|| panic!("`{word}` is not in: {text}"));
    text.split_whitespace().next_back().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn the_intersector_in_silicon_has_the_sizes_and_cycles_of_its_page() {
    let head = "| arithmetic | nodes as written | after passes | bit-serial cells | cycles a ray |";
    let rows = table("docs/silicon-intersector.md", head);
    assert_eq!(rows.len(), Arithmetic::ALL.len());
    let folder = tempfile::tempdir().expect("a folder");
    // The results that follow are those of the custom arithmetic.
    let words = fs::read_to_string(repository("assets/silicon/intersector.words")).expect("words");
    let (inputs, _) = words.split_once("-- What comes out.").expect("rays, and their results");
    fs::write(folder.path().join("rays.words"), inputs).expect("the folder can be written");
    for (row, arithmetic) in rows.iter().zip(Arithmetic::ALL) {
        let path = folder.path().join("intersector.si");
        fs::write(&path, programs::intersector(arithmetic)).expect("the folder can be written");
        let [path, words] = [path, folder.path().join("rays.words")].map(|path| path.display().to_string());
        let graph = printed(&["silicon", &path, "--emit", "graph"]);
        let serial = printed(&["silicon", &path, "--emit", "serial", "--words", &words]);
        let (_, after) = serial.split_once("tOut: a word in").expect("three rays");
        let numbers = [
            before(&graph, "before passes"),
            before(&graph, "nodes,"),
            before(&serial, "cells,"),
            before(after, "cycles"),
        ];
        for (cell, number) in row[1..].iter().zip(numbers) {
            is_rounded(cell, number, &row[0]);
        }
    }
}

#[test]
fn the_grid_has_the_times_of_its_page() {
    let head = "| cells on an axis | n_d | n_i | t_r (us) | waits for each cell | never waits |";
    let report = cubes("rtp-grid", &["--sweep"]);
    for row in table("docs/ray-machines.md", head) {
        let sweep = report["sweep"].as_array().expect("a list");
        let found =
            sweep.iter().find(|step| step["cells"].as_u64() == row[0].parse().ok()).expect("a grid of so many cells");
        for (cell, key) in row[1..].iter().zip(["entered", "tests", "ray_us", "ray_cell_us", "ray_full_us"]) {
            is_rounded(cell, found[key].as_f64().expect("a number"), &format!("{} cells, {key}", row[0]));
        }
    }
}

#[test]
fn bounding_volumes_have_the_times_of_their_page() {
    let head =
        "| structure | tests a ray | boxes a ray | us, boxes by six faces | us, boxes by a device of their own |";
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("boxes.toml");
    fs::write(&config, "[boxes]\nintersections = 1\n").expect("the folder can be written");
    let models = [("octree", "rtp-octree"), ("oriented boxes", "rtp-boxes"), ("our BVH", "rtp-bvh")];
    let rows = table("docs/ray-machines.md", head);
    for (name, model) in models {
        let row = rows.iter().find(|row| row[0] == name).expect("a row");
        let own = cubes(model, &["--config", config.to_str().expect("a name in UTF-8")]);
        let faces = cubes(model, &[]);
        let numbers = [
            &faces["rays"]["tests_per_ray"],
            &faces["rays"]["boxes_per_ray"],
            &faces["time"]["ray_us"],
            &own["time"]["ray_us"],
        ];
        for (cell, number) in row[1..].iter().zip(numbers) {
            is_rounded(cell, number.as_f64().expect("a number"), name);
        }
    }
}

#[test]
fn the_gallery_has_as_many_scenes_as_the_first_page_says() {
    let count = fs::read_dir(repository("assets/gallery")).expect("the gallery").filter(|entry| {
        entry.as_ref().is_ok_and(|entry| entry.path().extension().is_some_and(|extension| extension == "rib"))
    });
    let page = fs::read_to_string(repository("README.md")).expect("the first page");
    let sentence = format!("The [gallery](docs/gallery.md) has {} more, each with a scene.", count.count());
    assert!(page.contains(&sentence), "the page should say: {sentence}");
}

/// A number as pages write it.
fn written(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}

#[test]
fn bounds_are_those_of_their_page() {
    use shadewright::texture::pointcloud;
    let rows = table("docs/limits.md", "| what | bound | why |");
    for (what, bound) in [
        ("triangles", written(shadewright::scene::DEFAULT_TRIANGLES as u64)),
        ("triangles after displacement", written(shadewright::scene::DEFAULT_TRIANGLES as u64)),
        (
            "a point cloud",
            format!("{} points, {} channels", written(pointcloud::MAX_POINTS as u64), pointcloud::MAX_CHANNELS),
        ),
        ("array elements in RSL", shadewright::lang::types::MAX_ARRAY.to_string()),
        ("textures of a scene", format!("{} MiB", (shadewright::program::textures::MAX_TEXTURE_VECTORS * 16) >> 20)),
    ] {
        let row = rows.iter().find(|row| row[0] == what).unwrap_or_else(|| panic!("the page has no row `{what}`"));
        assert!(row[1].starts_with(&bound), "{what}: the page has {}, and the bound is {bound}", row[1]);
    }
}
