//! The figures of Parker et al. 2007, "RTSL: a Ray Tracing Shading Language", reproduced: the
//! scenes `assets/rtsl/figure-*.rib`.

use super::*;
use shadewright::compare::Metric;
use shadewright::scene::Integrator;

/// The scenes, in the order of the paper.
const NAMES: [&str; 6] = ["ward", "texture", "materials", "filmlight", "masonry", "primitives"];

const INTEGRATORS: [Integrator; 2] = [Integrator::Whitted, Integrator::Path];

/// Two figures in a row, each by both integrators.
const SHEET: Sheet = Sheet { columns: 4, tile: (240, 160) };

/// Each figure by each integrator.
fn all() -> Vec<(&'static str, Integrator)> {
    NAMES.into_iter().flat_map(|name| INTEGRATORS.map(|integrator| (name, integrator))).collect()
}

fn job(name: &str, integrator: Integrator, size: Option<(u32, u32)>, strata: Option<[u32; 2]>) -> Job {
    let options = OpenOptions { size, integrator: Some(integrator), ..OpenOptions::default() };
    job_of(&format!("assets/rtsl/figure-{name}.rib"), &options, strata)
}

/// The scene's first comment, as one line.
fn about(name: &str) -> String {
    let text = fs::read_to_string(repository(&format!("assets/rtsl/figure-{name}.rib"))).expect("a readable scene");
    let comment = text.lines().find_map(|line| line.strip_prefix("# Figure "));
    let comment = comment.unwrap_or_else(|| panic!("{name}.rib does not say which figure it is"));
    let (_, about) = comment.split_once(": ").unwrap_or_else(|| panic!("{name}.rib does not say what it shows"));
    about.to_owned()
}

/// The part of `docs/gallery.md` about figures.
pub fn section() -> String {
    let mut page = String::from(
        "\n## The figures of the RTSL paper\n\n\
        Figures 1 to 6 of Parker et al. 2007, rebuilt with the classes of [assets/rtsl](../assets/rtsl), where their scenes are too (`figure-*.rib`): \
        materials, textures, lights and cameras in [RTSL](rtsl.md), and mostly procedural primitives.\n\
        Each is one scene for both integrators, `whitted` left and `path` right:\n\n\
        ```\n\
        shadewright assets/rtsl/figure-ward.rib --render ward.png\n\
        shadewright assets/rtsl/figure-ward.rib --render ward.png --integrator whitted\n\
        ```\n\n\
        ![Six figures, each by both integrators](figures.png)\n\n\
        | row | figure | scene | what it shows |\n|---|---|---|---|\n",
    );
    for (i, name) in NAMES.into_iter().enumerate() {
        let (row, side) = (i / 2 + 1, if i % 2 == 0 { "left" } else { "right" });
        let scene = format!("[{name}](../assets/rtsl/figure-{name}.rib)");
        writeln!(page, "| {row}, {side} | {} | {scene} | {} |", i + 1, about(name)).unwrap();
    }
    page
}

/// The root mean square by which a figure, as displayed, may differ between the back ends on a software
/// driver: twice what was measured on lavapipe, 4e-6 where no pixel takes another way. One pixel of
/// three figures does, at an edge or where a mirrored ray misses: 2.7e-3, 5.8e-4 and 2.0e-4.
fn bound(name: &str, integrator: Integrator) -> f64 {
    match (name, integrator) {
        ("materials", Integrator::Whitted) => 6e-3,
        ("masonry", Integrator::Whitted) => 1.2e-3,
        ("primitives", Integrator::Whitted) => 4e-4,
        _ => 1e-5,
    }
}

#[test]
fn every_figure_shows_something_by_both_integrators_and_is_one_image_on_both_back_ends() {
    let wrong = for_all(&all(), adapter, |gpu, (name, integrator)| {
        let job = job(name, *integrator, Some((60, 40)), Some([1, 1]));
        let closeness = (Metric::Rmse, bound(name, *integrator));
        faults(&format!("{name}, {integrator:?}"), &job, gpu, closeness)
    });
    assert!(wrong.iter().all(String::is_empty), "{}", wrong.concat());
}

#[test]
fn the_sheet_of_figures_shows_each_by_both_integrators() {
    let path = repository("docs/figures.png");
    if std::env::var_os("SHADEWRIGHT_BLESS").is_some() {
        // One after another: the driver has a thread for each core.
        let mut gpu = adapter();
        let draw = |(name, integrator)| {
            let job = job(name, integrator, None, None);
            gpu.render(&job, &|_| ()).unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let images: Vec<Image> = all().into_iter().map(draw).collect();
        image_file::write(&path, &SHEET.compose(&images)).unwrap();
    }
    SHEET.check(&path, all().len());
}
