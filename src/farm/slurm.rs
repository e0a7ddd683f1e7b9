//! Jobs as scripts for Slurm: `submit.sh` submits arrays of tasks that render, and for each an array
//! that merges; `task.sh` is a task; `settings.sh` has the job's values.

use super::{File, Job, JobError, shell};
use shadewright_base::text::shell::word;
use std::fmt::Write as _;

/// The script that submits.
pub const SUBMIT: &str = "submit.sh";

const TASK: &str = include_str!("scripts/slurm-task.sh");
const SUBMIT_TEXT: &str = include_str!("scripts/slurm-submit.sh");
const PARTS: &str = include_str!("scripts/parts.sh");

/// The options of Slurm itself.
#[derive(Clone, Debug, Default)]
pub struct SlurmOptions {
    /// Options of `sbatch` for all tasks.
    pub sbatch: Vec<String>,
    /// Tasks of an array that run at once at most.
    pub at_once: Option<u32>,
}

/// The files of a job.
///
/// # Errors
/// When the job is none.
pub fn scripts(job: &Job, options: &SlurmOptions) -> Result<Vec<File>, JobError> {
    job.check()?;
    let task = TASK.replace("@PARTS@\n", PARTS);
    Ok(vec![
        File { name: "settings.sh", text: settings(job, options), is_executable: false },
        File { name: "task.sh", text: task, is_executable: true },
        // Last: without it nothing can be submitted.
        File { name: SUBMIT, text: SUBMIT_TEXT.to_string(), is_executable: true },
    ])
}

fn settings(job: &Job, options: &SlurmOptions) -> String {
    let Job { grid, settings, .. } = job;
    let chunk = job.chunk.get();
    let (frames, of_frames, of_columns) = match &job.frames {
        Some(frames) => (shell::frames(frames), chunk, 1),
        None => ("('')".to_string(), 1, chunk),
    };
    let shaders = job.scene.shaders.iter().map(|folder| format!("-I{}/{folder}", job.scene.folder));
    let more: Vec<_> = shaders.chain(settings.options.iter().cloned()).collect();
    let text = |value: &str| if value.is_empty() { String::new() } else { word(value) };
    let number = |n: Option<u32>| n.map(|n| n.to_string()).unwrap_or_default();
    let size = settings.size.map(|[width, height]| format!("{width}x{height}"));
    let entries = [
        ("The job, as it is called in the queue", "name", word(&job.name)),
        ("The program on the nodes: a path, or a name in PATH", "program", word(&job.program)),
        (
            "Compiled programs that the nodes share; each node's own if empty",
            "cache",
            text(job.cache.as_deref().unwrap_or("")),
        ),
        ("The scene", "scene", word(&format!("{}/{}", job.scene.folder, job.scene.file))),
        ("Where parts and images go, and the name of the images", "parts", "parts".to_string()),
        ("", "images", "images".to_string()),
        ("", "image", word(&job.image)),
        ("The frames, and how many a task takes; a still has an empty one", "frames", frames),
        ("", "frames_of_task", of_frames.to_string()),
        ("Tiles of an image, and how many of a row a task takes", "columns", grid.columns.to_string()),
        ("", "rows", grid.rows.to_string()),
        ("", "columns_of_task", of_columns.to_string()),
        ("Shares of the samples of each pixel", "shares", job.shares.to_string()),
        ("Samples a pixel, and width x height; the scene's own if empty", "samples", number(settings.samples)),
        ("", "size", text(size.as_deref().unwrap_or_default())),
        ("The same for all parts of an image: rpu or gpu", "backend", word(&settings.backend)),
        ("More options of `shadewright render`", "options", shell::words(&more)),
        ("Options of sbatch, and tasks of an array that run at once", "slurm_options", shell::words(&options.sbatch)),
        ("", "at_once", number(options.at_once)),
    ];
    let mut out = "# The values of the job: read by submit.sh and task.sh, in the folder of this file.\n".to_string();
    for (comment, name, value) in entries {
        if !comment.is_empty() {
            _ = write!(out, "\n# {comment}\n");
        }
        _ = writeln!(out, "{name}={value}");
    }
    out
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::job::tests::job;
    use super::super::shell::tests::bash;
    use super::*;
    use crate::FrameSet;
    use std::collections::BTreeSet;

    /// The lines that a stand-in for `shadewright` gets as its arguments, over all tasks of a job.
    fn commands(job: &Job, verb: &str, tasks: u64) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let mut job = job.clone();
        job.program = "./program".to_string();
        for file in scripts(&job, &SlurmOptions::default()).unwrap() {
            std::fs::write(folder.path().join(file.name), file.text).unwrap();
        }
        let folder = folder.path().to_str().unwrap();
        let lines = bash(&format!(
            "cd {folder}; printf '#!/bin/sh\\necho \"$*\"\\n' >program; chmod +x program; export SLURM_CPUS_ON_NODE=2
            for ((i = 0; i < {tasks}; i++)); do SLURM_ARRAY_TASK_ID=$i bash task.sh {verb} 0; done"
        ));
        lines
            .lines()
            .filter(|line| line.starts_with("render ") || line.starts_with("merge "))
            .map(String::from)
            .collect()
    }

    #[test]
    fn the_tasks_render_each_part_once() {
        let lines = commands(&job(), "render", job().tasks());
        let parts: BTreeSet<_> = lines.iter().collect();
        assert_eq!((lines.len(), parts.len()), (120, 120));
        for expected in [
            "render scene/box.rib -o parts/3x2-2/0001/tile-1.share-1.exr --reuse --backend rpu --part tiles:1/3x2,samples:1/2 --frames 1 -Iscene/shaders --threads 2",
            "render scene/box.rib -o parts/3x2-2/0010/tile-6.share-2.exr --reuse --backend rpu --part tiles:6/3x2,samples:2/2 --frames 10 -Iscene/shaders --threads 2",
        ] {
            assert!(parts.contains(&expected.to_string()), "{expected}: {parts:#?}");
        }
    }

    #[test]
    fn the_tasks_of_a_still_take_tiles_of_a_row() {
        let mut still = Job { frames: None, chunk: 2.try_into().unwrap(), ..job() };
        still.settings.options = vec!["--threads=1".to_string(), "-I".to_string(), "a b".to_string()];
        let lines = commands(&still, "render", still.tasks());
        assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), 12);
        let expected = "render scene/box.rib -o parts/3x2-2/image/tile-6.share-1.exr --reuse --backend rpu --part tiles:6/3x2,samples:1/2 -Iscene/shaders --threads=1 -I a b";
        assert!(lines.contains(&expected.to_string()), "{lines:#?}");
        assert_eq!(commands(&still, "merge", 1), ["merge parts/3x2-2/image -o images/box.exr --scene scene/box.rib"]);
    }

    #[test]
    fn the_tasks_merge_each_frame_once() {
        let mut job = job();
        job.frames = FrameSet::new(vec![-1, 3, 20000]);
        job.chunk = 2.try_into().unwrap();
        let expected = [
            "merge parts/3x2-2/-001 -o images/box.-001.exr --scene scene/box.rib",
            "merge parts/3x2-2/0003 -o images/box.0003.exr --scene scene/box.rib",
            "merge parts/3x2-2/20000 -o images/box.20000.exr --scene scene/box.rib",
        ];
        assert_eq!(commands(&job, "merge", 2), expected);
    }
}
