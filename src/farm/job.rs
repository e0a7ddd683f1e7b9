//! A job, and how it is divided into tasks.

use serde::Serialize;
use shadewright_render::part::Grid;
use std::num::NonZeroU32;
use thiserror::Error;

/// The most tasks of a job: scripts count them in numbers of 32 bits, and no engine takes more.
pub const MAX_TASKS: u64 = 100_000_000;

/// The images that a farm renders, and how that work is divided.
///
/// Strings that are paths are those of the nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Job {
    /// The name in lists of jobs.
    pub name: String,
    /// The scene.
    pub scene: Scene,
    /// The frames; `None` for a still, which is rendered without `--frames`.
    pub frames: Option<FrameSet>,
    /// The tiles of an image.
    pub grid: Grid,
    /// The shares that the samples of each pixel are divided into, 1 to
    /// [`MAX_BATCHES`](shadewright_render::batches::MAX_BATCHES).
    pub shares: u32,
    /// Frames of a task; tiles of a row, where there are no frames.
    pub chunk: NonZeroU32,
    /// The name of an image, with its extension; that of a frame has a number before that.
    pub image: String,
    /// The program on the nodes: a path, or a name to be found in `PATH`.
    pub program: String,
    /// The folder of compiled programs that the nodes share.
    pub cache: Option<String>,
    /// The options that every task renders with.
    pub settings: Settings,
}

/// Where a scene is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scene {
    /// The folder: absolute, or relative to the folder of the job.
    pub folder: String,
    /// The scene's file in that folder.
    pub file: String,
    /// Folders there that are searched for shaders first.
    pub shaders: Vec<String>,
}

/// Options of `render` that all tasks have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Samples a pixel; those of the scene where it is `None`.
    pub samples: Option<u32>,
    /// Width and height in pixels; those of the scene where it is `None`.
    pub size: Option<[u32; 2]>,
    /// The back end: the same for all parts of an image, since they have to make the same bits.
    pub backend: String,
    /// More options, as they are written on the command line.
    pub options: Vec<String>,
}

/// Why there is no such job.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum JobError {
    /// More tasks than [`MAX_TASKS`].
    #[error("these are {tasks} tasks; a job has {MAX_TASKS} at most: render fewer frames, tiles or shares of samples")]
    TooManyTasks {
        /// How many there would be.
        tasks: u128,
    },
    /// An image's name that is no name of a file.
    #[error("the name of the images, `{name}`, {problem}")]
    ImageName {
        /// The name.
        name: String,
        /// The problem with the name.
        problem: &'static str,
    },
    /// A string that the files of an engine cannot hold.
    #[error("{what} `{value}` {problem}")]
    String {
        /// The meaning of the string.
        what: &'static str,
        /// The string.
        value: String,
        /// The problem with the string.
        problem: &'static str,
    },
}

impl Job {
    /// Checks sizes and names.
    ///
    /// # Errors
    /// When there are too many tasks, or the image's name is none.
    pub fn check(&self) -> Result<(), JobError> {
        let problem = match self.image.rsplit_once('.') {
            _ if self.image.contains(['/', '\\']) => {
                Some("is a path: the images go to `images` in the folder of the job")
            }
            None | Some(("" | "." | "..", _) | (_, "")) => Some("needs an extension, for example .exr"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(JobError::ImageName { name: self.image.clone(), problem });
        }
        let tasks = u128::from(self.images()) * u128::from(self.grid.count()) * u128::from(self.shares);
        if tasks > u128::from(MAX_TASKS) { Err(JobError::TooManyTasks { tasks }) } else { Ok(()) }
    }

    /// The images that it renders.
    #[must_use]
    pub fn images(&self) -> u64 {
        self.frames.as_ref().map_or(1, |frames| frames.numbers().len() as u64)
    }

    /// The parts of one image.
    #[must_use]
    pub fn parts_of_image(&self) -> u64 {
        u64::from(self.grid.count()) * u64::from(self.shares)
    }

    /// The tasks that render: each takes a chunk of frames of one tile and one share of the samples,
    /// or for a still a chunk of a row of tiles.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        let chunk = u64::from(self.chunk.get());
        match &self.frames {
            Some(_) => self.images().div_ceil(chunk) * self.parts_of_image(),
            None => {
                let row = u64::from(self.grid.columns).div_ceil(chunk);
                row * u64::from(self.grid.rows) * u64::from(self.shares)
            }
        }
    }
}

/// Numbers of frames, ascending, without duplicates; at least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameSet(Vec<i32>);

/// Frames at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first.
    pub first: i32,
    /// The last.
    pub last: i32,
    /// From each to the next, at least 1.
    pub step: u32,
}

impl FrameSet {
    /// These frames; `None` where there are none.
    #[must_use]
    pub fn new(mut frames: Vec<i32>) -> Option<Self> {
        frames.sort_unstable();
        frames.dedup();
        if frames.is_empty() { None } else { Some(Self(frames)) }
    }

    /// The numbers.
    #[must_use]
    pub fn numbers(&self) -> &[i32] {
        &self.0
    }

    /// The numbers as few runs: of consecutive frames, or of three at least at equal distances.
    #[must_use]
    pub fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut rest = &self.0[..];
        while let [first, ..] = *rest {
            let step = rest.get(1).map_or(1, |second| second.abs_diff(first));
            let equal = rest.windows(2).take_while(|pair| pair[1].abs_diff(pair[0]) == step).count();
            let (step, length) = if equal > 1 || step == 1 { (step, equal + 1) } else { (1, 1) };
            runs.push(Run { first, last: rest[length - 1], step });
            rest = &rest[length..];
        }
        runs
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A job of 10 frames in tasks of 4 frames, 3 × 2 tiles, 2 shares.
    pub fn job() -> Job {
        Job {
            name: "box".to_string(),
            scene: Scene {
                folder: "scene".to_string(),
                file: "box.rib".to_string(),
                shaders: vec!["shaders".to_string()],
            },
            frames: FrameSet::new((1..=10).collect()),
            grid: Grid { columns: 3, rows: 2 },
            shares: 2,
            chunk: NonZeroU32::new(4).unwrap(),
            image: "box.exr".to_string(),
            program: "shadewright".to_string(),
            cache: None,
            settings: Settings { backend: "rpu".to_string(), ..Settings::default() },
        }
    }

    fn runs(frames: &[i32]) -> Vec<(i32, i32, u32)> {
        let set = FrameSet::new(frames.to_vec()).unwrap();
        set.runs().into_iter().map(|run| (run.first, run.last, run.step)).collect()
    }

    #[test]
    fn frames_become_few_runs() {
        assert_eq!(runs(&[7]), [(7, 7, 1)]);
        assert_eq!(runs(&[3, 1, 2, 2]), [(1, 3, 1)]);
        assert_eq!(runs(&[1, 2]), [(1, 2, 1)]);
        assert_eq!(runs(&[-4, -2, 0, 2, 3, 4, 9]), [(-4, 2, 2), (3, 4, 1), (9, 9, 1)]);
        assert_eq!(runs(&[1, 2, 3, 10, 20, 30]), [(1, 3, 1), (10, 30, 10)]);
        assert_eq!(runs(&[i32::MIN, 0, i32::MAX]), [(i32::MIN, i32::MIN, 1), (0, 0, 1), (i32::MAX, i32::MAX, 1)]);
        assert_eq!(FrameSet::new(Vec::new()), None);
    }

    #[test]
    fn runs_hold_the_frames() {
        for frames in [vec![1, 2, 3, 5, 7, 9, 11, 12], vec![0, 5, 6, 7, 8, 100], vec![i32::MIN, i32::MAX]] {
            let set = FrameSet::new(frames.clone()).unwrap();
            let all = set.runs().into_iter().flat_map(|run| (run.first..=run.last).step_by(run.step as usize));
            assert_eq!(all.collect::<Vec<_>>(), frames);
        }
    }

    #[test]
    fn tasks_take_chunks_of_frames_or_of_a_row() {
        assert_eq!((job().images(), job().parts_of_image(), job().tasks()), (10, 12, 3 * 12));
        let still = Job { frames: None, chunk: NonZeroU32::new(2).unwrap(), ..job() };
        assert_eq!((still.images(), still.parts_of_image(), still.tasks()), (1, 12, 2 * 2 * 2));
    }

    #[test]
    fn a_job_has_a_bounded_number_of_tasks() {
        let big = Job { grid: Grid { columns: 4096, rows: 4096 }, ..job() };
        assert_eq!(big.check(), Err(JobError::TooManyTasks { tasks: (10 * 2) << 24 }));
        assert_eq!(job().check(), Ok(()));
    }

    #[test]
    fn images_have_names_of_files() {
        for (image, is_name) in
            [("a.exr", true), ("a.b.png", true), ("a", false), (".exr", false), ("a.", false), ("b/a.exr", false)]
        {
            assert_eq!(Job { image: image.to_string(), ..job() }.check().is_ok(), is_name, "{image}");
        }
    }
}
