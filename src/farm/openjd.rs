//! Jobs as bundles of Open Job Description, specification 2023-09 with the extension
//! `TASK_CHUNKING`: a template whose parameters have the job's values as their defaults.
//!
//! Source: Open Job Description, *Template Schemas [Version: 2023-09]* and *How Jobs Are Run*
//! (<https://github.com/OpenJobDescription/openjd-specifications/wiki>). A bundle is a folder with
//! `template.yaml`, as AWS Deadline Cloud reads it. The data flow of the template's path parameters
//! says which folders are inputs and outputs, so that no list of assets is needed.

use super::yaml::Yaml;
use super::{File, FrameSet, Job, JobError};
use shadewright_render::batches::MAX_BATCHES;

/// The template's file.
pub const TEMPLATE: &str = "template.yaml";

/// Longest name of a job (§1.1.1).
const MAX_NAME: usize = 128;
/// Longest value of a parameter (§2.5).
const MAX_VALUE: usize = 1024;
/// Seconds between SIGTERM and SIGKILL when a task is canceled: the program ends within one, unless
/// it waits for a file system.
const NOTIFY_SECONDS: u32 = 30;

const SCRIPT: &str = include_str!("scripts/openjd.sh");
const RENDER: &str = include_str!("scripts/openjd-render.sh");
const MERGE: &str = include_str!("scripts/openjd-merge.sh");
const PARTS: &str = include_str!("scripts/parts.sh");

/// The files of a job's bundle.
///
/// # Errors
/// When a string of the job is too long for a parameter, or has characters that a template cannot
/// hold.
pub fn bundle(job: &Job) -> Result<Vec<File>, JobError> {
    job.check()?;
    for folder in &job.scene.shaders {
        check_argument("the folder", folder)?;
    }
    for option in &job.settings.options {
        check_argument("the option", option)?;
    }
    let text = format!("{HEAD}{}", template(job)?.document());
    Ok(vec![File { name: TEMPLATE, text, is_executable: false }])
}

/// The start of the template.
const HEAD: &str = "\
# A job of Shadewright for Open Job Description, written by `shadewright farm`.
#
#     openjd check template.yaml                       validates it
#     openjd run template.yaml                         runs it on this machine
#     deadline bundle submit FOLDER_OF_THIS_FILE       submits it to AWS Deadline Cloud
#
# `parameterDefinitions` has the job's values, which each of these commands can replace: -p Frames=1-10
";

fn template(job: &Job) -> Result<Yaml, JobError> {
    Ok([
        ("specificationVersion", "jobtemplate-2023-09".into()),
        ("extensions", vec!["TASK_CHUNKING"].into()),
        ("name", name(&job.name).into()),
        ("parameterDefinitions", Yaml::List(parameters(job)?)),
        ("steps", vec![render_step(job), merge_step(job)].into()),
    ]
    .into())
}

/// A name that is no format string and short enough.
fn name(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.replace("{{", "{ {").replace("}}", "} }").chars().take(MAX_NAME).collect()
}

/// The groups of the parameters in user interfaces.
const FILES: &str = "Files";
const DIVISION: &str = "Division";
const IMAGE: &str = "Image";
const FARM: &str = "Farm";

fn parameters(job: &Job) -> Result<Vec<Yaml>, JobError> {
    let settings = &job.settings;
    let size = settings.size.map(|[width, height]| format!("{width}x{height}")).unwrap_or_default();
    let mut all = vec![
        folder("SceneDir", "Folder of the scene", "IN", &job.scene.folder, "The scene and the files that it reads")?,
        string("SceneFile", FILES, "Scene", &job.scene.file, "The scene's file in that folder")?,
        folder(
            "PartsDir",
            "Folder of the parts",
            "OUT",
            "parts",
            "Parts of images, which may be deleted after merging, and files that shaders bake",
        )?,
        folder("ImagesDir", "Folder of the images", "OUT", "images", "The finished images")?,
        string("ImageName", FILES, "Name of the images", &job.image, "A frame's number stands before the extension")?,
    ];
    let chunk = job.chunk.get();
    match &job.frames {
        Some(frames) => {
            all.push(string("Frames", DIVISION, "Frames", &ranges(frames), "For example 1-240, or 1-10,20-40:5")?);
            all.push(number("FramesPerTask", DIVISION, "Frames of a task", (1, None), chunk, "One after the other"));
        }
        None => all.push(number("TilesPerTask", DIVISION, "Tiles of a task", (1, None), chunk, "Tiles of one row")),
    }
    let shares = "Each share renders the whole tile with a part of the samples; at most as many as there are samples";
    all.extend([
        number(
            "TaskSeconds",
            DIVISION,
            "Seconds of a task",
            (0, None),
            0,
            "Where it is not 0, a scheduler may change how much a task takes, to come near to it",
        ),
        number("TileColumns", DIVISION, "Tiles of a row", (1, None), job.grid.columns, "Columns of tiles in an image"),
        number("TileRows", DIVISION, "Rows of tiles", (1, None), job.grid.rows, "Rows of tiles in an image"),
        number("SampleShares", DIVISION, "Shares of samples", (1, Some(MAX_BATCHES)), job.shares, shares),
        number(
            "Samples",
            IMAGE,
            "Samples a pixel",
            (0, Some(65536)),
            settings.samples.unwrap_or(0),
            "0: as the scene asks for",
        ),
        string("Size", IMAGE, "Width and height", &size, "For example 1920x1080; empty: as the scene asks for")?,
        backend(&settings.backend),
        string("Program", FARM, "Shadewright", &job.program, "The program on the workers: a path, or a name in PATH")?,
        string(
            "CacheDir",
            FARM,
            "Cache",
            job.cache.as_deref().unwrap_or_default(),
            "A folder of compiled programs that the workers share; empty: the worker's own",
        )?,
    ]);
    Ok(all)
}

/// Frames as a range expression (§3.4.1.1.1).
fn ranges(frames: &FrameSet) -> String {
    let runs = frames.runs().into_iter().map(|run| match run.step {
        _ if run.first == run.last => run.first.to_string(),
        1 => format!("{}-{}", run.first, run.last),
        step => format!("{}-{}:{step}", run.first, run.last),
    });
    runs.collect::<Vec<_>>().join(",")
}

fn folder(
    name: &'static str,
    label: &'static str,
    flow: &'static str,
    value: &str,
    description: &'static str,
) -> Result<Yaml, JobError> {
    check_value("the folder", value)?;
    Ok([
        ("name", name.into()),
        ("type", "PATH".into()),
        ("objectType", "DIRECTORY".into()),
        ("dataFlow", flow.into()),
        ("default", value.into()),
        ("description", description.into()),
        ("userInterface", interface("CHOOSE_DIRECTORY", label, FILES)),
    ]
    .into())
}

fn string(
    name: &'static str,
    group: &'static str,
    label: &'static str,
    value: &str,
    description: &'static str,
) -> Result<Yaml, JobError> {
    check_value(label, value)?;
    Ok([
        ("name", name.into()),
        ("type", "STRING".into()),
        ("default", value.into()),
        ("description", description.into()),
        ("userInterface", interface("LINE_EDIT", label, group)),
    ]
    .into())
}

/// The back ends that a farm chooses among: `auto` would give parts that do not belong together.
fn backend(value: &str) -> Yaml {
    [
        ("name", "Backend".into()),
        ("type", "STRING".into()),
        ("allowedValues", vec!["rpu", "gpu"].into()),
        ("default", value.into()),
        ("description", "rpu: the same bits on all processors; gpu: the workers need GPUs of one kind".into()),
        ("userInterface", interface("DROPDOWN_LIST", "Backend", IMAGE)),
    ]
    .into()
}

fn number(
    name: &'static str,
    group: &'static str,
    label: &'static str,
    (least, most): (u32, Option<u32>),
    value: u32,
    description: &'static str,
) -> Yaml {
    let mut entries = vec![("name", name.into()), ("type", "INT".into()), ("minValue", least.into())];
    entries.extend(most.map(|most| ("maxValue", most.into())));
    entries.extend([
        ("default", value.into()),
        ("description", description.into()),
        ("userInterface", interface("SPIN_BOX", label, group)),
    ]);
    Yaml::Map(entries)
}

fn interface(control: &'static str, label: &'static str, group: &'static str) -> Yaml {
    [("control", control.into()), ("label", label.into()), ("groupLabel", group.into())].into()
}

/// A value of a parameter.
fn check_value(what: &'static str, value: &str) -> Result<(), JobError> {
    let problem = if value.chars().count() > MAX_VALUE {
        "is longer than the 1024 characters of a parameter of Open Job Description"
    } else if value.chars().any(char::is_control) {
        "has control characters"
    } else {
        return Ok(());
    };
    Err(JobError::String { what, value: value.to_string(), problem })
}

/// An argument of a command, which is a format string.
fn check_argument(what: &'static str, value: &str) -> Result<(), JobError> {
    check_value(what, value)?;
    if value.contains("{{") || value.contains("}}") {
        let problem = "has the braces of a reference in Open Job Description";
        return Err(JobError::String { what, value: value.to_string(), problem });
    }
    Ok(())
}

fn render_step(job: &Job) -> Yaml {
    let chunked = |name: &'static str, range: &str, count: &str| {
        Yaml::from([
            ("name", name.into()),
            ("type", "CHUNK[INT]".into()),
            ("range", range.into()),
            (
                "chunks",
                [
                    ("defaultTaskCount", count.into()),
                    ("targetRuntimeSeconds", "{{Param.TaskSeconds}}".into()),
                    ("rangeConstraint", "CONTIGUOUS".into()),
                ]
                .into(),
            ),
        ])
    };
    let counted = |name: &'static str, range: &str| {
        Yaml::from([("name", name.into()), ("type", "INT".into()), ("range", range.into())])
    };
    let columns = "1-{{Param.TileColumns}}";
    let mut space = match &job.frames {
        Some(_) => vec![
            chunked("Frame", "{{Param.Frames}}", "{{Param.FramesPerTask}}"),
            counted("TileRow", "1-{{Param.TileRows}}"),
            counted("TileColumn", columns),
        ],
        None => {
            vec![counted("TileRow", "1-{{Param.TileRows}}"), chunked("TileColumn", columns, "{{Param.TilesPerTask}}")]
        }
    };
    space.push(counted("SampleShare", "1-{{Param.SampleShares}}"));
    let mut arguments = settings_of_all(job);
    arguments.extend(
        [
            "samples={{Param.Samples}}",
            "size={{Param.Size}}",
            "backend={{Param.Backend}}",
            "row={{Task.Param.TileRow}}",
            "column={{Task.Param.TileColumn}}",
            "share={{Task.Param.SampleShare}}",
            "--",
        ]
        .map(String::from),
    );
    arguments.extend(job.scene.shaders.iter().map(|folder| format!("-I{{{{Param.SceneDir}}}}/{folder}")));
    arguments.extend(job.settings.options.iter().cloned());
    Yaml::from([
        ("name", "Render".into()),
        ("description", "Renders a tile of frames with a share of the samples, each to a part".into()),
        ("hostRequirements", host(job)),
        ("parameterSpace", [("taskParameterDefinitions", space.into())].into()),
        ("script", script(RENDER, arguments)),
    ])
}

fn merge_step(job: &Job) -> Yaml {
    let mut arguments = settings_of_all(job);
    arguments.extend(["images={{Param.ImagesDir}}", "image={{Param.ImageName}}", "samples=0", "--"].map(String::from));
    let mut entries = vec![
        ("name", "Merge".into()),
        ("description", "Joins the parts of frames to images with the bits of a render at once".into()),
        ("dependencies", vec![Yaml::from([("dependsOn", "Render".into())])].into()),
        // A scene's imager shader runs when images are joined, on the backend of the parts.
        ("hostRequirements", host(job)),
    ];
    if job.frames.is_some() {
        let frame = Yaml::from([
            ("name", "Frame".into()),
            ("type", "CHUNK[INT]".into()),
            ("range", "{{Param.Frames}}".into()),
            (
                "chunks",
                [("defaultTaskCount", "{{Param.FramesPerTask}}".into()), ("rangeConstraint", "CONTIGUOUS".into())]
                    .into(),
            ),
        ]);
        entries.push(("parameterSpace", [("taskParameterDefinitions", vec![frame].into())].into()));
    }
    entries.push(("script", script(MERGE, arguments)));
    Yaml::Map(entries)
}

/// The properties that workers of both steps must have.
fn host(job: &Job) -> Yaml {
    let mut requirements = vec![("attributes", vec![os_family()].into())];
    if job.settings.backend == "gpu" {
        let gpu = Yaml::from([("name", "amount.worker.gpu".into()), ("min", 1.into())]);
        requirements.insert(0, ("amounts", vec![gpu].into()));
    }
    Yaml::Map(requirements)
}

/// The scripts are for bash.
fn os_family() -> Yaml {
    [("name", "attr.worker.os.family".into()), ("anyOf", vec!["linux", "macos"].into())].into()
}

/// The settings that both steps have. They come as arguments, which no shell reads.
fn settings_of_all(job: &Job) -> Vec<String> {
    let frame = if job.frames.is_some() { "frame={{Task.Param.Frame}}" } else { "frame=" };
    [
        "{{Task.File.Run}}",
        "session={{Session.WorkingDirectory}}",
        "program={{Param.Program}}",
        "cache={{Param.CacheDir}}",
        "scene={{Param.SceneDir}}/{{Param.SceneFile}}",
        "parts={{Param.PartsDir}}",
        "columns={{Param.TileColumns}}",
        "rows={{Param.TileRows}}",
        "shares={{Param.SampleShares}}",
        frame,
    ]
    .map(String::from)
    .into()
}

fn script(main: &str, arguments: Vec<String>) -> Yaml {
    let text = format!("{}\n{main}", SCRIPT.replace("@PARTS@\n", PARTS));
    let cancelation = [("mode", "NOTIFY_THEN_TERMINATE".into()), ("notifyPeriodInSeconds", NOTIFY_SECONDS.into())];
    let run = [("command", "bash".into()), ("args", arguments.into()), ("cancelation", cancelation.into())];
    let file = Yaml::from([("name", "Run".into()), ("type", "TEXT".into()), ("data", Yaml::Text(text))]);
    [("actions", [("onRun", run.into())].into()), ("embeddedFiles", vec![file].into())].into()
}

#[cfg(test)]
mod tests {
    use super::super::job::tests::job;
    use super::*;

    fn text(job: &Job) -> String {
        bundle(job).unwrap().remove(0).text
    }

    #[test]
    fn frames_are_range_expressions() {
        let set = FrameSet::new(vec![-3, -2, -1, 5, 10, 12, 14]).unwrap();
        assert_eq!(ranges(&set), "-3--1,5,10-14:2");
    }

    #[test]
    fn frames_are_chunked_and_tiles_of_a_still() {
        let of = |job: &Job| {
            let text = text(job);
            let (_, rest) = text.split_once("type: \"CHUNK[INT]\"\n").unwrap();
            rest.lines().next().unwrap().trim().to_string()
        };
        assert_eq!(of(&job()), "range: \"{{Param.Frames}}\"");
        assert_eq!(of(&Job { frames: None, ..job() }), "range: \"1-{{Param.TileColumns}}\"");
    }

    #[test]
    fn scripts_have_no_format_strings_of_their_own() {
        for script in [SCRIPT, RENDER, MERGE, PARTS] {
            assert!(!script.contains("{{") && !script.contains("}}"), "{script}");
        }
    }

    #[test]
    fn strings_that_a_template_cannot_hold_are_refused() {
        let with = |change: fn(&mut Job)| {
            let mut job = job();
            change(&mut job);
            bundle(&job).unwrap_err().to_string()
        };
        assert!(with(|job| job.settings.options = vec!["-I{{x}}".to_string()]).contains("has the braces"));
        assert!(with(|job| job.scene.folder = "a\nb".to_string()).contains("control characters"));
        assert!(with(|job| job.program = "x".repeat(1025)).contains("1024 characters"));
    }

    #[test]
    fn any_name_is_the_name_of_a_job() {
        assert_eq!(name("a{{b}}\n"), "a{ {b} } ");
        assert_eq!(name(&"ä".repeat(200)).chars().count(), MAX_NAME);
    }
}
