//! Whole frames of the interiors: specialized against not, sorted against not, the wavefront
//! against the megakernel.

use super::frames::{Device, Opened, Order, Times, alternate, job};
use super::interiors::Interior;
use super::modes::Mode;
use super::{Plan, speed};
use serde_json::{Value, json};
use shadewright::render::Job;
use shadewright::scene::Shadows;

/// Frames of each interior on each device: a list with an entry for each of both.
pub fn frames(plan: &Plan<'_>) -> anyhow::Result<Value> {
    let mut rows = Vec::new();
    for &interior in &plan.interiors {
        let path = plan.path(interior)?;
        let load = |mode: &Mode| job(&path, plan.size(), plan.options.spp, mode.facts, Shadows::On);
        let jobs = plan.modes.iter().map(load).collect::<anyhow::Result<Vec<Job>>>()?;
        for device in &plan.devices {
            rows.push(scene(plan, interior, device, &jobs)?);
            plan.step();
        }
    }
    Ok(rows.into())
}

/// The orders that are measured after the first: the megakernel is left out where the program has
/// too many sections to compile them as one kernel.
fn orders(plan: &Plan<'_>, device: &Device, sections: Option<u64>) -> Vec<Order> {
    let limit = plan.options.megakernel_sections;
    let fits = sections.is_none_or(|sections| sections <= limit);
    device.orders()[1..].iter().copied().filter(|order| fits || *order != Order::Megakernel).collect()
}

fn scene(plan: &Plan<'_>, interior: &Interior, device: &Device, jobs: &[Job]) -> anyhow::Result<Value> {
    let mut sections = Vec::new();
    let opened = Opened::new(device);
    let mut kinds = Vec::new();
    let mut runners = Vec::new();
    for (mode, job) in jobs.iter().enumerate() {
        // The first order shows how many sections there are.
        let first = opened.runner(device.orders()[0], job)?;
        let others = orders(plan, device, first.sections);
        sections.push(first.sections);
        kinds.push((mode, device.orders()[0]));
        runners.push(first);
        for order in others {
            runners.push(opened.runner(order, job)?);
            kinds.push((mode, order));
        }
    }
    let times = alternate(plan, &mut runners, 1)?;
    let of = |mode: usize, order: Order| {
        kinds.iter().position(|kind| *kind == (mode, order)).map(|i: usize| times[i].median)
    };
    let last = jobs.len() - 1;
    let specialized: serde_json::Map<String, Value> =
        device.orders().iter().map(|&order| (order.name().to_string(), speed(of(0, order), of(last, order)))).collect();
    let for_modes = |ratio: &dyn Fn(usize) -> Value| -> Value {
        plan.modes
            .iter()
            .enumerate()
            .map(|(i, mode)| (mode.name.clone(), ratio(i)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let rows: Vec<Value> =
        kinds.iter().zip(&times).map(|((mode, order), times)| frame(plan, *mode, *order, times)).collect();
    Ok(json!({
        "scene": interior.name,
        "materials": interior.materials,
        "triangles": jobs[0].bvh.primitive_count(),
        "device": device.name(),
        "sections": for_modes(&|mode| json!(sections[mode])),
        "frames": rows,
        "specialized": specialized,
        "sorted": for_modes(&|mode| speed(of(mode, Order::Unsorted), of(mode, Order::Sorted))),
        "wavefront": for_modes(&|mode| speed(of(mode, Order::Megakernel), of(mode, Order::Sorted))),
    }))
}

fn frame(plan: &Plan<'_>, mode: usize, order: Order, times: &Times) -> Value {
    let mut value = times.json();
    value["mode"] = json!(plan.modes[mode].name);
    value["order"] = json!(order.name());
    value
}
