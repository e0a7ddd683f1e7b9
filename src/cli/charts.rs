//! The charts of a report, in a folder that `--charts` names.

use super::failure::Failure;
use shadewright::image::file as image_file;
use shadewright::machines::report::Report;
use std::path::Path;

/// Makes the folder, before anything is computed.
pub fn make_folder(folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|e| Failure::input(format!("error: {}: {e}", folder.display())))
}

/// Writes the charts of a report as SVG, if there is a folder for them.
pub fn write(folder: Option<&Path>, report: &Report) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    for chart in &report.charts {
        image_file::write_bytes(&folder.join(format!("{}.svg", chart.name)), chart.svg.as_bytes())?;
    }
    Ok(())
}
