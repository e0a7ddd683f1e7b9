//! The panel as a user meets it, on a simulation of a sphere.

use super::*;
use crate::viewer::array::tests::sphere;
use crate::viewer::model::tests::loaded;
use egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

struct Stage {
    model: Model,
    panel: ArrayPanel,
    asked: Vec<Action>,
}

fn stage(run: Option<ArrayRun>) -> Harness<'static, Stage> {
    let mut model = loaded();
    model.array.run = run.map(Arc::new);
    let stage = Stage { model, panel: ArrayPanel::default(), asked: Vec::new() };
    let mut harness = Harness::builder()
        .with_size([1000.0, 420.0])
        .build_ui_state(|ui, stage: &mut Stage| stage.panel.show(ui, &stage.model, &mut stage.asked), stage);
    harness.run();
    harness
}

fn has(harness: &Harness<'_, Stage>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

fn press(harness: &mut Harness<'_, Stage>, key: Key) {
    harness.key_press(key);
    harness.step();
}

fn time(harness: &Harness<'_, Stage>) -> u64 {
    harness.state().panel.transport.cursor().time()
}

#[test]
fn run_asks_for_a_simulation_and_shows_how_far_it_is_and_why_it_fails() {
    let mut harness = stage(None);
    assert!(has(&harness, "Run simulates the scene"));
    harness.get_by_label("Run").click();
    harness.run();
    let request = ArrayRequest::default();
    assert_eq!(harness.state().asked, [Action::Simulate(request)]);
    harness.state_mut().model.array.asked = Some(request);
    harness.state_mut().model.array.stage = Some(super::Stage::Rays(0.25));
    harness.run_steps(2);
    assert!(has(&harness, "tracing the rays: 25 %"));
    harness.state_mut().model.array = Default::default();
    harness.state_mut().model.array.failure = Some("too many generations".into());
    harness.run();
    assert!(has(&harness, "too many generations"));
}

#[test]
fn a_simulation_is_stepped_played_and_scrubbed() {
    let mut harness = stage(Some(sphere(3, Mapping::Skew, 16)));
    let count = harness.state().panel.run.as_ref().map_or(0, |run| run.playback.events().len());
    assert!(has(&harness, &format!("event 0 of {count}: the start")));
    press(&mut harness, Key::ArrowRight);
    assert!(has(&harness, &format!("event 1 of {count}: new")));
    harness.get_by_label("▶").click();
    harness.run();
    assert!(has(&harness, &format!("event 2 of {count}")));
    press(&mut harness, Key::ArrowLeft);
    assert!(has(&harness, &format!("event 1 of {count}")));
    let before = time(&harness);
    press(&mut harness, Key::Space);
    harness.run_steps(3);
    let playing = time(&harness);
    assert!(playing > before && harness.query_by_label("⏸").is_some());
    press(&mut harness, Key::Space);
    let paused = time(&harness);
    harness.run();
    assert_eq!(time(&harness), paused);
    harness.get_by_label("▶|").click();
    harness.run();
    assert!(has(&harness, &format!("event {count} of {count}")));
    let slider = harness.get_all_by_role(egui::accesskit::Role::Slider).last().expect("a slider for the time");
    slider.focus();
    harness.run();
    let end = time(&harness);
    harness.key_press(Key::ArrowLeft);
    harness.run();
    assert!(time(&harness) < end, "the slider has the focus, and moves the time");
}

#[test]
fn nodes_show_their_numbers_under_the_pointer() {
    let mut harness = stage(Some(sphere(2, Mapping::Plain, 16)));
    harness.get_by_label("▶|").click();
    harness.run();
    assert!(has(&harness, "the end was announced"));
    harness.hover_at(pos2(60.0, 200.0));
    harness.run_steps(8);
    assert!(has(&harness, "Node 0, 0") && has(&harness, "polygons tested"));
}

#[test]
fn another_simulation_begins_at_its_start() {
    let mut harness = stage(Some(sphere(2, Mapping::Plain, 8)));
    harness.get_by_label("▶|").click();
    harness.run();
    assert!(time(&harness) > 0);
    harness.state_mut().model.array.run = Some(Arc::new(sphere(3, Mapping::Plain, 8)));
    harness.run();
    assert_eq!(time(&harness), 0);
}

#[test]
fn shot() {
    use std::collections::HashMap;
    let mut model = loaded();
    model.array.run = Some(Arc::new(sphere(8, Mapping::Plain, 48)));
    let mut panel = ArrayPanel::default();
    let context = egui::Context::default();
    crate::viewer::ui::set_style(&context);
    let (w, h) = (1280usize, 400usize);
    let mut textures: HashMap<egui::TextureId, egui::ColorImage> = HashMap::new();
    let mut buffer = vec![[30f32, 30.0, 30.0]; w * h];
    for frame in 0..40 {
        let mut input = egui::RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(w as f32, h as f32))),
            ..Default::default()
        };
        input.time = Some(frame as f64);
        if (1..34).contains(&frame) {
            {
                input.events.push(egui::Event::Key {
                    key: Key::ArrowRight,
                    physical_key: None,
                    pressed: true,
                    repeat: false,
                    modifiers: egui::Modifiers::SHIFT,
                });
            }
        }
        if std::env::var("HOVER").is_ok() {
            input.events.push(egui::Event::PointerMoved(pos2(150.0, 200.0)));
        }
        let output = context.run_ui(input, |ui| {
            egui::CentralPanel::default().show(ui, |ui| panel.show(ui, &model, &mut Vec::new()));
        });
        for (id, deltas) in &output.textures_delta.set {
            for delta in deltas {
                let egui::ImageData::Color(image) = &delta.image;
                match delta.pos {
                    None => {
                        textures.insert(*id, image.as_ref().clone());
                    }
                    Some([x0, y0]) => {
                        let t = textures.get_mut(id).unwrap();
                        for y in 0..image.size[1] {
                            for x in 0..image.size[0] {
                                t.pixels[(y0 + y) * t.size[0] + x0 + x] = image.pixels[y * image.size[0] + x];
                            }
                        }
                    }
                }
            }
        }
        if frame < 39 {
            continue;
        }
        let jobs = context.tessellate(output.shapes, 1.0);
        buffer.fill([30.0; 3]);
        for job in jobs {
            let egui::epaint::Primitive::Mesh(mesh) = job.primitive else { continue };
            let Some(texture) = textures.get(&mesh.texture_id) else { continue };
            for tri in mesh.indices.chunks(3) {
                let v = [0, 1, 2].map(|i| mesh.vertices[tri[i] as usize]);
                let [a, b, c] = v.map(|v| v.pos);
                let area = (b - a).x * (c - a).y - (b - a).y * (c - a).x;
                if area == 0.0 {
                    continue;
                }
                let min = a.min(b).min(c).max(job.clip_rect.min).max(pos2(0.0, 0.0));
                let max = a.max(b).max(c).min(job.clip_rect.max).min(pos2(w as f32, h as f32));
                for y in min.y.floor() as i32..max.y.ceil() as i32 {
                    for x in min.x.floor() as i32..max.x.ceil() as i32 {
                        let p = pos2(x as f32 + 0.5, y as f32 + 0.5);
                        if !job.clip_rect.contains(p) || x < 0 || y < 0 || x as usize >= w || y as usize >= h {
                            continue;
                        }
                        let cross =
                            |p: egui::Pos2, q: egui::Pos2, r: egui::Pos2| (q - p).x * (r - p).y - (q - p).y * (r - p).x;
                        let l = [cross(b, c, p) / area, cross(c, a, p) / area, cross(a, b, p) / area];
                        if l.iter().any(|&x| x < 0.0) {
                            continue;
                        }
                        let uv = [0, 1, 2].iter().fold(vec2(0.0, 0.0), |s, &i| s + v[i].uv.to_vec2() * l[i]);
                        let [tw, th] = texture.size;
                        let (tx, ty) =
                            (((uv.x * tw as f32) as usize).min(tw - 1), ((uv.y * th as f32) as usize).min(th - 1));
                        let t = texture.pixels[ty * tw + tx].to_array();
                        let col = [0, 1, 2, 3].map(|k| {
                            (0..3).map(|i| f32::from(v[i].color.to_array()[k]) * l[i]).sum::<f32>() * f32::from(t[k])
                                / 255.0
                        });
                        let dst = &mut buffer[y as usize * w + x as usize];
                        for k in 0..3 {
                            dst[k] = col[k] + dst[k] * (1.0 - col[3] / 255.0);
                        }
                    }
                }
            }
        }
    }
    let mut out = format!("P6 {w} {h} 255\n").into_bytes();
    out.extend(buffer.iter().flatten().map(|x| x.clamp(0.0, 255.0) as u8));
    std::fs::write("/tmp/shot.ppm", out).unwrap();
}
