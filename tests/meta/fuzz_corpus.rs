//! The inputs that fuzzing kept, replayed: malformed assembly, damaged binaries, scenes, shaders,
//! images, point clouds, programs on both back ends, messages of an editor, checkpoints, and values of options.

use std::fs;
use std::path::Path;

#[path = "../../fuzz/harness.rs"]
mod harness;

/// Gives every input of a target's corpus to the target.
fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut inputs: Vec<_> = fs::read_dir(&folder).expect("the corpus is there").map(|e| e.unwrap().path()).collect();
    inputs.sort();
    assert!(inputs.len() > 3, "{} has no inputs", folder.display());
    inputs.iter().for_each(|path| run(&fs::read(path).unwrap()));
}

#[test]
fn the_assembler_survives_its_corpus() {
    replay("assembler", harness::assembler);
}

#[test]
fn the_decoder_survives_its_corpus() {
    replay("decoder", harness::decoder);
}

#[test]
fn the_scene_reader_survives_its_corpus() {
    replay("rib", harness::rib);
}

#[test]
fn the_front_end_survives_its_corpus() {
    replay("shaders", harness::shaders);
}

#[test]
fn the_front_end_of_classes_survives_its_corpus() {
    replay("classes", harness::classes);
}

#[test]
fn the_front_end_of_pfman_survives_its_corpus() {
    replay("pfman", harness::pfman);
}

#[test]
fn circuits_in_silicon_survive_their_corpus() {
    replay("silicon", harness::silicon);
}

#[test]
fn images_survive_their_corpus() {
    replay("images", harness::images);
}

#[test]
fn point_clouds_survive_their_corpus() {
    replay("pointcloud", harness::pointcloud);
}

#[test]
fn both_back_ends_survive_their_corpus_with_the_same_bits() {
    replay("engines", harness::engines);
}

#[test]
fn the_language_servers_transport_survives_its_corpus() {
    replay("transport", harness::transport);
}

#[test]
fn checkpoints_survive_their_corpus() {
    replay("checkpoints", harness::checkpoints);
}

#[test]
fn values_of_options_survive_their_corpus() {
    replay("values", harness::values);
}
