//! The features of packages that the workspace shares: the tests of one member build them as the tests of all members do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The packages that the tests of a selection need, with the sets of features that they are built with.
type Features = BTreeMap<String, BTreeSet<String>>;

fn features(selection: &[&str]) -> Features {
    let tree =
        ["tree", "--locked", "--offline", "--edges", "normal,build,dev", "--prefix", "none", "--format", "{p}|{f}"];
    let output = Command::new(env!("CARGO"))
        .args(tree)
        .args(selection)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs the tests, so it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found = Features::new();
    // A blank line stands between the trees of two members.
    for line in String::from_utf8_lossy(&output.stdout).lines().filter(|line| !line.is_empty()) {
        let (package, features) = line.trim_end_matches(" (*)").split_once('|').expect("the format has a bar");
        let name = package.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        found.entry(name).or_default().insert(features.to_string());
    }
    found
}

#[test]
fn the_tests_of_one_member_build_what_the_tests_of_all_members_build() {
    let all = features(&["--workspace"]);
    let members = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("a folder");
    let members = members.map(|entry| entry.expect("a readable folder").path());
    let mut count = 0;
    let mut wrong = Vec::new();
    for folder in members.filter(|folder| folder.join("Cargo.toml").is_file()) {
        let member =
            format!("shadewright-{}", folder.file_name().unwrap_or_default().to_string_lossy().replace('_', "-"));
        count += 1;
        for (package, with) in features(&["--package", &member]) {
            // The member itself is what is tested: it is built either way.
            let is_itself = package.starts_with(&format!("{member} "));
            if !is_itself && !with.is_subset(&all[&package]) {
                wrong.push(format!("{member} builds {package} with {with:?}, the workspace with {:?}", all[&package]));
            }
        }
    }
    assert!(count > 15, "{count}");
    let hint = "add the features to src/test_features/Cargo.toml, or to the dependencies for tests of the member";
    assert!(wrong.is_empty(), "{hint}:\n{}", wrong.join("\n"));
}
