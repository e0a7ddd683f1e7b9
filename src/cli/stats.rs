//! The statistics of `--stats`: lines for people, JSON for scripts.

use super::device::Device;
use serde::Serialize;
use shadewright::program::UniformCounts;
use shadewright::project::ProjectState;
use shadewright::render::Job;
use shadewright::render::adaptive::Statistics;
use shadewright::render::report::{KernelTime, KernelTimes, Phase, Report, milliseconds};
use std::fmt;
use std::time::Duration;

/// Kernels in the table; the JSON has all.
const KERNELS_SHOWN: usize = 20;

/// Times and memory of a render.
#[derive(Debug, Serialize)]
pub struct RenderStats {
    backend: String,
    triangles: u64,
    displaced_triangles: usize,
    scene_bytes: usize,
    uniform: UniformCounts,
    phases: Vec<Phase>,
    render: Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampler: Option<SamplerStats>,
    #[serde(flatten)]
    images: Images,
}

/// The statistics of the adaptive sampler.
#[derive(Clone, Copy, Debug, Serialize)]
struct SamplerStats {
    samples: u64,
    mean_samples_per_pixel: f64,
    most_samples_per_pixel: u32,
    subdivided_pixels: u64,
    forced_pixels: u64,
}

/// Times from the start of the command to the image files.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Images {
    /// That of `--preview`; without it the full one.
    #[serde(rename = "first_image_ms", serialize_with = "milliseconds")]
    pub first: Duration,
    /// The complete image.
    #[serde(rename = "full_image_ms", serialize_with = "milliseconds")]
    pub full: Duration,
}

impl RenderStats {
    /// Statistics of an image of a project's state that `device` rendered in `render`, as its
    /// report has it, and that was written in `write`.
    pub fn new(
        job: &Job,
        device: &Device,
        report: Report,
        state: &ProjectState,
        render: Duration,
        write: Duration,
        images: Images,
    ) -> Self {
        let times = state.times;
        let displace = Some(("displace", times.displace)).filter(|_| state.displaced_triangles > 0);
        let phases = [("open", times.open)].into_iter().chain(displace).chain([
            ("compile", times.link),
            ("tree", times.tree),
            ("render", render),
            ("write", write),
        ]);
        Self {
            backend: match device {
                Device::Rpu { .. } => format!("{device}, {} threads", rayon::current_num_threads()),
                Device::Gpu(_) => device.to_string(),
            },
            triangles: job.bvh.primitive_count(),
            displaced_triangles: state.displaced_triangles,
            scene_bytes: job.program.memory.bytes() + job.bvh.bytes(),
            uniform: job.program.uniform,
            phases: phases.map(|(name, time)| Phase { name, time }).collect(),
            render: report,
            sampler: None,
            images,
        }
    }

    /// The same with what the adaptive sampler did, where that was used.
    pub fn with_sampler(self, statistics: Option<Statistics>) -> Self {
        let sampler = statistics.map(|statistics| SamplerStats {
            samples: statistics.samples,
            mean_samples_per_pixel: statistics.mean(),
            most_samples_per_pixel: statistics.most,
            subdivided_pixels: statistics.subdivided,
            forced_pixels: statistics.forced,
        });
        Self { sampler, ..self }
    }
}

impl fmt::Display for RenderStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "backend        {}", self.backend)?;
        writeln!(f, "triangles      {}", self.triangles)?;
        if self.displaced_triangles > 0 {
            writeln!(f, "  displaced    {}", self.displaced_triangles)?;
        }
        writeln!(f, "scene data     {:.1} MiB", self.scene_bytes as f64 / (1 << 20) as f64)?;
        writeln!(f, "uniform code   {}", self.uniform)?;
        for Phase { name, time } in &self.phases {
            writeln!(f, "{name:<14} {:.1} ms", ms(*time))?;
            if *name == "render" {
                for Phase { name, time } in &self.render.phases {
                    writeln!(f, "  {name:<22} {:.1} ms", ms(*time))?;
                }
                for count in &self.render.counts {
                    writeln!(f, "  {:<22} {}", count.name, count.count)?;
                }
            }
        }
        if let Some(sampler) = &self.sampler {
            let SamplerStats { samples, mean_samples_per_pixel: mean, most_samples_per_pixel: most, .. } = sampler;
            writeln!(f, "samples        {samples}: {mean:.2} a pixel, at most {most}")?;
            let SamplerStats { subdivided_pixels, forced_pixels, .. } = sampler;
            writeln!(f, "subdivided     {subdivided_pixels} pixels, {forced_pixels} of them for small objects alone")?;
        }
        writeln!(f, "first image  {:.1} ms after the start", ms(self.images.first))?;
        writeln!(f, "full image   {:.1} ms after the start", ms(self.images.full))?;
        match &self.render.kernels {
            KernelTimes::None => Ok(()),
            KernelTimes::Unavailable => writeln!(f, "kernels        no times: this device has no timestamp queries"),
            KernelTimes::Measured { kernels, idle } => write_kernels(f, kernels, *idle),
        }
    }
}

/// A table of the kernels' times.
fn write_kernels(f: &mut fmt::Formatter<'_>, kernels: &[KernelTime], idle: Duration) -> fmt::Result {
    let all: Duration = kernels.iter().map(|kernel| kernel.time).sum();
    let share = |time: Duration| 100.0 * time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
    writeln!(f, "{:>10} {:>7} {:>10} {:>10}  kernel", "time", "share", "longest", "dispatches")?;
    let line = |f: &mut fmt::Formatter<'_>, time: Duration, longest: Duration, dispatches: u64, name: &str| {
        let (time, share, longest) = (ms(time), share(time), ms(longest));
        writeln!(f, "{time:>7.1} ms {share:>6.1}% {longest:>7.2} ms {dispatches:>10}  {name}")
    };
    for kernel in kernels.iter().take(KERNELS_SHOWN) {
        line(f, kernel.time, kernel.longest, kernel.dispatches, &kernel.name)?;
    }
    if let [_, ..] = kernels.get(KERNELS_SHOWN..).unwrap_or_default() {
        let rest = &kernels[KERNELS_SHOWN..];
        let longest = rest.iter().map(|kernel| kernel.longest).max().unwrap_or_default();
        let dispatches = rest.iter().map(|kernel| kernel.dispatches).sum();
        let name = format!("{} others", rest.len());
        line(f, rest.iter().map(|kernel| kernel.time).sum(), longest, dispatches, &name)?;
    }
    writeln!(f, "{:>7.1} ms in all, {:.1} ms idle between submissions", ms(all), ms(idle))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &str, time: u64, dispatches: u64) -> KernelTime {
        let (time, longest) = (Duration::from_millis(time), Duration::from_micros(250));
        KernelTime { name: name.to_string(), time, longest, dispatches }
    }

    fn stats(kernels: KernelTimes) -> RenderStats {
        let phases = vec![Phase { name: "render", time: Duration::from_micros(1500) }];
        let render = Report { phases: vec![], counts: vec![], kernels };
        RenderStats {
            backend: "M".to_string(),
            triangles: 7,
            displaced_triangles: 0,
            scene_bytes: 1 << 20,
            uniform: UniformCounts { shaders: 2, stages: 3, values: 5, runs: 4, reuses: 1 },
            phases,
            render,
            sampler: None,
            images: Images::default(),
        }
    }

    const HEAD: &str = "backend        M\ntriangles      7\nscene data     1.0 MiB\n\
uniform code   4 runs, 1 reused (5 numbers in 3 stages of 2 shaders)\nrender         1.5 ms\n\
first image  0.0 ms after the start\nfull image   0.0 ms after the start\n";

    #[test]
    fn kernels_are_a_table_with_their_shares() {
        let kernels = vec![kernel("traversal", 30, 4), kernel("sort", 10, 8)];
        let shown = stats(KernelTimes::Measured { kernels, idle: Duration::from_millis(2) }).to_string();
        let table = "      time   share    longest dispatches  kernel
   30.0 ms   75.0%    0.25 ms          4  traversal
   10.0 ms   25.0%    0.25 ms          8  sort
   40.0 ms in all, 2.0 ms idle between submissions
";
        assert_eq!(shown, format!("{HEAD}{table}"));
    }

    #[test]
    fn many_short_kernels_are_one_line() {
        let kernels = (0..25).map(|i| kernel(&format!("k{i}"), 1, 2)).collect();
        let shown = stats(KernelTimes::Measured { kernels, idle: Duration::ZERO }).to_string();
        assert!(shown.contains("    5.0 ms   20.0%    0.25 ms         10  5 others\n"), "{shown}");
        assert!(!shown.contains("k20"), "{shown}");
    }

    #[test]
    fn a_device_without_timestamps_says_so() {
        let shown = stats(KernelTimes::Unavailable).to_string();
        assert_eq!(shown, format!("{HEAD}kernels        no times: this device has no timestamp queries\n"));
        assert_eq!(stats(KernelTimes::None).to_string(), HEAD);
    }

    #[test]
    fn the_json_has_milliseconds_by_name() {
        let kernels = KernelTimes::Measured { kernels: vec![kernel("sort", 10, 8)], idle: Duration::from_millis(2) };
        let json = serde_json::to_value(stats(kernels)).unwrap();
        assert_eq!(json["phases"][0], serde_json::json!({ "name": "render", "ms": 1.5 }));
        let found = &json["render"]["kernels"];
        assert_eq!([&found["state"], &found["idle_ms"]], [&serde_json::json!("measured"), &serde_json::json!(2.0)]);
        let sort = serde_json::json!({ "name": "sort", "ms": 10.0, "longest_ms": 0.25, "dispatches": 8 });
        assert_eq!(found["kernels"][0], sort);
    }
}
