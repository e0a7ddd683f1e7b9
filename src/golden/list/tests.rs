use super::*;
use tempfile::TempDir;

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    dir
}

fn opened(path: &Path, backends: &[String]) -> Result<List, String> {
    let check = |options: &[String]| match options.iter().find(|word| word.starts_with("--bad")) {
        Some(word) => Err(OptionError {
            message: format!("unexpected argument '{word}' found"),
            word: Some(word.clone()),
            hints: vec!["a hint".to_string()],
        }),
        None => Ok(Facts::default()),
    };
    let context = Context {
        backends: &["gpu", "rpu", "rpu-f24"],
        check_options: &check,
        read_scene: &|path| fs::read(path).ok(),
    };
    let mut sources = SourceMap::new();
    List::open(path, backends, &context, &mut sources).map_err(|d| d.render(&sources))
}

/// Name, back end, reference and tolerance of each case.
fn shown(list: &List) -> Vec<String> {
    let one = |case: &Case| {
        let reference = case.reference.display().to_string().replace('\\', "/");
        format!("{} {} {reference} {}", case.name, case.backend, case.criterion)
    };
    list.cases.iter().map(one).collect()
}

/// Reads a list in a folder with the scenes `a.rib` and `b.rib`.
fn read(text: &str) -> Result<List, String> {
    let dir = folder(&[("golden.toml", text), ("a.rib", ""), ("b.rib", ""), ("sub/c.gltf", ""), ("sub/notes.txt", "")]);
    opened(dir.path(), &[]).map_err(|text| text.replace(&dir.path().display().to_string(), "DIR"))
}

#[test]
fn the_scenes_of_a_folder_have_references_in_a_folder_of_that_name() {
    let dir = folder(&[
        ("b.rib", ""),
        ("a.gltf", ""),
        ("c.txt", ""),
        (".d.rib", ""),
        ("sub/e.rib", ""),
        ("references/a.png", ""),
    ]);
    let list = opened(dir.path(), &[]).expect("a folder");
    assert_eq!(shown(&list), ["a rpu references/a.png default", "b rpu references/b.exr default"]);
    let list = opened(dir.path(), &["gpu".to_string(), "rpu".to_string()]).expect("a folder");
    assert_eq!(list.cases.len(), 4);
}

#[test]
fn files_that_other_scenes_read_are_no_scenes() {
    let forest = "# nails of 5\" and\nReadArchive \"trees/oak.rib\"\nProcedural \"DelayedReadArchive\" [\"stone.ply\"] [0 1 0 1 0 1]\n";
    let dir =
        folder(&[("forest.rib", forest), ("oak.rib", ""), ("stone.ply", ""), ("alone.rib", "# \"forest\n\"oak\"")]);
    let list = opened(dir.path(), &[]).expect("a folder");
    assert_eq!(list.cases.iter().map(|case| &*case.name).collect::<Vec<_>>(), ["alone", "forest"]);
    let of = |file: &str| (file.to_string(), "forest.rib".to_string());
    assert_eq!(list.archives, [of("oak.rib"), of("stone.ply")]);
}

#[test]
fn scenes_that_name_each_other_are_rendered() {
    let dir = folder(&[("a.rib", "\"b.rib\""), ("b.rib", "\"a.rib\""), ("c.rib", "\"c.rib\"")]);
    assert_eq!(opened(dir.path(), &[]).expect("a folder").cases.len(), 3);
}

#[test]
fn files_of_one_name_are_called_with_their_extensions() {
    let dir = folder(&[("a.rib", ""), ("a.gltf", ""), ("b.rib", "")]);
    let list = opened(dir.path(), &[]).expect("a folder");
    let names: Vec<&str> = list.cases.iter().map(|case| &*case.name).collect();
    assert_eq!(names, ["a.gltf", "a.rib", "b"]);
    assert_eq!(list.cases[0].reference, Path::new("references/a.gltf.exr"));
}

#[test]
fn a_list_has_defaults_and_scenes_with_their_own() {
    let list = read(
        "backends = [\"rpu\", \"gpu\"]\noptions = [\"--size\", \"8x8\"]\n\
         tolerance = { rpu = \"exact\", gpu = { metric = \"max\", threshold = 1e-3 } }\n\
         [[scene]]\nfile = \"*.rib\"\n\
         [[scene]]\nfile = \"sub/*\"\nname = \"other/{stem}\"\nbackends = \"rpu-f24\"\ntolerance = \"default\"\n\
         reference = \"images/{name}-{backend}.png\"\nframes = \"1..2\"\noptions = []\n",
    );
    let list = list.expect("a list");
    assert_eq!(
        shown(&list),
        [
            "a rpu references/a.exr exact",
            "a gpu references/a.exr max 0.001",
            "b rpu references/b.exr exact",
            "b gpu references/b.exr max 0.001",
            "other/c.0001 rpu-f24 images/other/c.0001-rpu-f24.png default",
            "other/c.0002 rpu-f24 images/other/c.0002-rpu-f24.png default",
        ]
    );
    assert_eq!(list.cases[0].options, ["--size", "8x8"]);
    assert_eq!((list.cases[5].frame, list.cases[5].options.len()), (Some(2), 0));
}

#[test]
fn the_key_machines_and_its_placeholder_are_still_read() {
    let list = |key: &str, placeholder: &str| {
        let list = read(&format!(
            "{key} = [\"rpu\", \"gpu\"]\nreference = \"images/{{name}}-{placeholder}.png\"\n\
             [[scene]]\nfile = \"a.rib\"\n[[scene]]\nfile = \"b.rib\"\n{key} = \"rpu-f24\"\n"
        ));
        shown(&list.expect("a list"))
    };
    let expected =
        ["a rpu images/a-rpu.png default", "a gpu images/a-gpu.png default", "b rpu-f24 images/b-rpu-f24.png default"];
    assert_eq!(list("backends", "{backend}"), expected);
    assert_eq!(list("machines", "{machine}"), expected);
    let both = read("backends = [\"rpu\"]\nmachines = [\"gpu\"]\n").expect_err("two names of one key");
    assert!(both.contains("`machines` is the old name of `backends`"), "{both}");
}

#[test]
fn a_list_without_scenes_is_about_those_of_its_folder() {
    let list = read("tolerance = \"exact\"\n").expect("a list");
    assert_eq!(shown(&list), ["a rpu references/a.exr exact", "b rpu references/b.exr exact"]);
}

#[test]
fn exclude_leaves_scenes_out_of_a_pattern() {
    let list = read("[[scene]]\nfile = \"**/*.*\"\nexclude = [\"a.*\", \"sub/*\"]\n").expect("a list");
    assert_eq!(shown(&list), ["b rpu references/b.exr default"]);
}

#[test]
fn every_metric_is_a_tolerance() {
    for metric in Metric::ALL {
        let list = read(&format!("tolerance = {{ metric = \"{metric}\", threshold = 0.5 }}")).expect("a list");
        assert_eq!(list.cases[0].criterion, Criterion::Metric(metric, 0.5));
        if let Some(threshold) = metric.default_threshold() {
            let list = read(&format!("tolerance = {{ metric = \"{metric}\" }}")).expect("a list");
            assert_eq!(list.cases[0].criterion, Criterion::Metric(metric, threshold));
        }
    }
}

#[test]
fn an_unknown_key_is_reported_with_its_line_and_what_was_meant() {
    assert_eq!(
        read("backends = [\"rpu\"]\n\n[[scene]]\nfile = \"*.rib\"\ntolerence = \"exact\"\n").expect_err("a typo"),
        "error: unknown key `tolerence`\n  --> DIR/golden.toml:5:1\n  |\n5 | tolerence = \"exact\"\n  | ^^^^^^^^^ did you mean `tolerance`?\n  |\n  \
         = hint: a scene has the keys backends, exclude, file, frames, name, options, reference, tolerance\n\n"
    );
}

#[test]
fn mistakes_say_what_is_wrong_and_what_would_be_right() {
    for (text, expected) in [
        ("backends = [", &["this is not TOML", "golden.toml:1"][..]),
        (
            "backends = [\"gpus\"]",
            &["there is no back end `gpus`", "did you mean `gpu`?", "there are gpu, rpu, rpu-f24"],
        ),
        ("backends = []", &["`backends` is empty"]),
        ("backends = [\"rpu\", \"RPU\"]", &["`RPU` is named twice"]),
        ("backends = [1]", &["`backends` must be a string", "this is a number"]),
        ("options = \"--size 8x8\"", &["`options` must be a list of words", "[\"--size\", \"8x8\"]"]),
        (
            "options = [\"--size\", \"8x8\", \"--bad\"]",
            &["unexpected argument '--bad' found", "                     ^^^^^^^", "a hint"],
        ),
        ("tolerance = \"exactly\"", &["there is no tolerance `exactly`", "a tolerance is \"exact\""]),
        ("tolerance = 0.1", &["this is no tolerance", "this is a number"]),
        ("tolerance = { metric = \"rsme\", threshold = 1 }", &["there is no metric `rsme`", "did you mean `rmse`?"]),
        ("tolerance = { metric = \"z\", threshold = 1 }", &["the `threshold` of `z` is a probability"]),
        ("tolerance = { threshold = 1 }", &["`metric` is missing"]),
        ("tolerance = { metric = \"rmse\" }", &["`threshold` is missing"]),
        ("tolerance = { metric = \"rmse\", threshold = \"1\" }", &["`threshold` must be a number"]),
        ("tolerance = { metric = \"rmse\", threshold = nan }", &["`threshold` is missing"]),
        ("tolerance = { metric = \"rmse\", treshold = 1 }", &["unknown key `treshold`", "did you mean `threshold`?"]),
        ("tolerance = { cpu = \"exact\" }", &["there is no back end `cpu`"]),
        ("scene = 3", &["`scene` must be an array of tables"]),
        ("scene = [3]", &["a scene must be a table"]),
        ("[[scene]]\nname = \"x\"", &["a scene without `file`"]),
        ("[[scene]]\nfile = \"\"", &["`file` is empty"]),
        ("[[scene]]\nfile = \"x*.rib\"", &["no scene matches `x*.rib`", "looked for"]),
        ("[[scene]]\nfile = \"aa.rib\"", &["there is no file `aa.rib`", "there is `a.rib`"]),
        ("[[scene]]\nfile = \"[.rib\"", &["`[` without `]`"]),
        ("[[scene]]\nfile = \"*.rib\"\nname = \"x\"", &["two scenes are called `x`: `a.rib` and `b.rib`", "`exclude`"]),
        ("[[scene]]\nfile = \"a.rib\"\nname = \"../x\"", &["`../x` cannot be a name", "a relative path"]),
        ("[[scene]]\nfile = \"a.rib\"\nname = \"x:y\"", &["`x:y` cannot be a name", "some systems have no `:`"]),
        ("[[scene]]\nfile = \"a.rib\"\nname = \"x\\ty\"", &["cannot be a name", "no control characters"]),
        (
            "[[scene]]\nfile = \"a.rib\"\nname = \"x\"\nframes = \"1..1\"\n[[scene]]\nfile = \"b.rib\"\nname = \"x.0001\"",
            &["two scenes are called `x.0001`: `a.rib` and `b.rib`", "golden.toml:7"],
        ),
        (
            "[[scene]]\nfile = \"a.rib\"\nframes = [1, 2]\n[[scene]]\nfile = \"a.rib\"\nframes = \"2..3\"",
            &["`a.0002` is there twice, both times of `a.rib`"],
        ),
        ("[[scene]]\nfile = \"a.rib\"\nframes = [1, 2, 1]", &["frame 1 is named twice"]),
        ("[[scene]]\nfile = \"a.rib\"\nname = \"{name}\"", &["unknown placeholder `{name}`", "there are {stem}"]),
        ("[[scene]]\nfile = \"*.rib\"\nreference = \"x.exr\"", &["`a` and `b` have one reference, `x.exr`"]),
        (
            "[[scene]]\nfile = \"a.rib\"\nframes = \"1..2\"\nreference = \"{stem}.exr\"",
            &["have one reference", "number of the frame"],
        ),
        ("[[scene]]\nfile = \"a.rib\"\nreference = \"{frame}.exr\"", &["unknown placeholder `{frame}`"]),
        ("[[scene]]\nfile = \"a.rib\"\nframes = \"5..1\"", &["these are no frames"]),
        ("[[scene]]\nfile = \"a.rib\"\nframes = \"1..99999999\"", &["more than 20000 frames"]),
        ("[[scene]]\nfile = \"a.rib\"\nframes = []", &["`frames` is empty"]),
    ] {
        let error = read(text).expect_err(text);
        for part in expected {
            assert!(error.contains(part), "{text}:\n{error}");
        }
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let error = read("backend = 1\ntolerance = 2\n[[scene]]\nfil = \"a.rib\"\n[[scene]]\nfile = \"c.rib\"\n")
        .expect_err("four");
    for part in ["unknown key `backend`", "this is no tolerance", "unknown key `fil`", "there is no file `c.rib`"] {
        assert!(error.contains(part), "{part}:\n{error}");
    }
}

#[test]
fn two_references_of_one_image_are_an_error() {
    let dir = folder(&[("a.rib", ""), ("references/a.png", ""), ("references/a.exr", "")]);
    let error = opened(dir.path(), &[]).expect_err("two references");
    assert!(error.contains("`a` has two references: `references/a.exr` and `references/a.png`"), "{error}");
}

#[test]
fn references_without_a_scene_are_left_over() {
    let dir =
        folder(&[("a.rib", ""), ("references/a.exr", ""), ("references/gone.png", ""), ("references/notes.txt", "")]);
    let list = opened(dir.path(), &[]).expect("a folder");
    assert_eq!(leftover(&list), [Path::new("references/gone.png")]);
    // Beside scenes lie textures, too.
    let dir = folder(&[("a.rib", ""), ("a.exr", ""), ("wood.png", ""), ("golden.toml", "reference = \"{name}\"")]);
    let list = opened(dir.path(), &[]).expect("a folder");
    assert_eq!((shown(&list).join(" "), leftover(&list).len()), ("a rpu a.exr default".to_string(), 0));
}

#[test]
fn a_scene_may_have_frames_in_two_parts_of_a_list() {
    let list =
        read("[[scene]]\nfile = \"a.rib\"\nframes = 1\n[[scene]]\nfile = \"a.rib\"\nframes = 2\noptions = [\"-v\"]\n");
    let list = list.expect("other frames");
    assert_eq!(list.cases.iter().map(|case| &*case.name).collect::<Vec<_>>(), ["a.0001", "a.0002"]);
}

#[test]
#[cfg(unix)]
fn a_scene_whose_name_none_can_have_is_an_error_of_its_own() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let dir = folder(&[("a.rib", ""), ("b:c.rib", ""), ("b:c.ply", ""), ("d\t.rib", "")]);
    fs::write(dir.path().join(OsStr::from_bytes(b"e\xff.rib")), "").expect("a file");
    let expected = |list: &List| {
        let mut cases: Vec<(&str, &str)> =
            list.cases.iter().map(|case| (&*case.name, case.fault.as_deref().unwrap_or_default())).collect();
        cases.sort_unstable();
        let names: Vec<&str> = cases.iter().map(|case| case.0).collect();
        assert_eq!(names, ["a", "b:c.ply", "b:c.rib", "d\\t.rib", "e\\xFF.rib"]);
        let reasons = ["", "some systems have no `:`", "some systems have no `:`", "no control", "not Unicode"];
        for ((name, fault), reason) in cases.iter().zip(reasons) {
            assert!(fault.contains(reason) && fault.is_empty() == reason.is_empty(), "{name}: {fault}");
        }
        assert!(leftover(list).is_empty());
    };
    expected(&opened(dir.path(), &[]).expect("a folder"));
    fs::write(dir.path().join(LIST_NAME), "[[scene]]\nfile = \"*.*\"\n").expect("a file");
    expected(&opened(dir.path(), &[]).expect("a list"));
    // A name in the list helps where the file's own cannot be one.
    fs::write(dir.path().join(LIST_NAME), "[[scene]]\nfile = \"b:c.rib\"\nname = \"b\"\n").expect("a file");
    let list = opened(dir.path(), &[]).expect("a list");
    assert_eq!((&*list.cases[0].name, &list.cases[0].fault), ("b", &None));
}

#[test]
fn a_list_of_another_kind_is_refused() {
    let dir = folder(&[]);
    let large = dir.path().join("large.toml");
    fs::File::create(&large).and_then(|file| file.set_len(MAX_BYTES + 1)).expect("a file");
    assert!(opened(&large, &[]).expect_err("too large").contains("is no list: it has more than 4 MiB"));
    fs::write(dir.path().join("golden.toml"), [0xff, 0xfe, 0, 1]).expect("a file");
    assert!(opened(dir.path(), &[]).expect_err("no text").contains("this is not TOML"));
}
