//! Whole simulations of a scene of cubes with a light and mirrors.

use super::config::Config;
use super::engine::{Simulation, simulate};
use super::message::MessageKind;
use super::space::Space;
use super::statistics::Ending;
use super::workload::{Ray, Sample, Way, Workload, generations};
use crate::rays::arithmetic::Custom;
use crate::rays::model::Model;
use crate::rays::polygon::{Polygon, Sides};
use crate::rays::ray::{RayKind, Request};
use crate::rays::recording::Finder;
use glam::{Mat3, Quat, Vec3};
use shadewright_base::random::{hash, unit};

/// So many cubes of one size, turned at random, in the unit cube.
pub fn cubes(count: usize, edge: f32) -> Model {
    let mut seed = 7u32;
    let mut random = move || {
        seed = seed.wrapping_add(0x9e37_79b9);
        unit(hash(seed))
    };
    let mut scene = Model::default();
    for _ in 0..count {
        let [a, b, c, d] = [(); 4].map(|()| random() * 2.0 - 1.0);
        let axes = Mat3::from_quat(Quat::from_xyzw(a, b, c, d + 0.01).normalize()) * (0.5 * edge);
        let center = Vec3::new(random(), random(), random());
        for face in 0..6 {
            let (axis, sign) = (face / 2, if face % 2 == 0 { 1.0 } else { -1.0 });
            let (n, p, q) = (axes.col(axis) * sign, axes.col((axis + 1) % 3), axes.col((axis + 2) % 3));
            let corners = [n - p - q, n + p - q, n + p + q, n - p + q].map(|x| center + x);
            scene.add_polygon(Polygon::from_quad(corners, Sides::Two).expect("a square"), corners);
        }
    }
    scene
}

/// The rays of an image of `side` pixels, seen along an axis: at each hit a color, a shadow ray to a
/// light, and at the first hits of cubes with even numbers a reflected ray.
pub fn workload(scene: &Model, config: &Config, side: u32, eye: Vec3, depth: u16) -> Workload {
    let space = Space::new(config.layout(), config.array.depth, Custom, scene).expect("cells");
    let (middle, light) = (Vec3::splat(0.5), Vec3::new(0.9, 1.6, -0.4));
    let forward = (middle - eye).normalize();
    let right = forward.any_orthonormal_vector();
    let up = forward.cross(right);
    let (mut samples, mut rays) = (Vec::new(), Vec::<Ray>::new());
    for pixel in 0..side * side {
        let [x, y] = [pixel % side, pixel / side];
        let [u, v] = [x, y].map(|i| ((i as f32 + 0.5) / side as f32 - 0.5) * 1.1);
        let request = Request {
            origin: eye,
            direction: middle + right * u + up * v - eye,
            limit: f32::INFINITY,
            kind: RayKind::Nearest,
        };
        samples.push(Sample { pixel: [x, y], root: Some(pixel), direct: [0.0; 4], rays: 1 });
        rays.push(ray(request, MessageKind::Vision, pixel, [1.0; 3]));
    }
    let (mut level, mut next) = (0, 0);
    while next < rays.len() {
        let end = rays.len();
        for index in next..end {
            let Request { origin, direction, .. } = rays[index].request;
            let hit = space.find(&rays[index].request).0;
            let (color, kind, sample) = (Vec3::from(rays[index].color), rays[index].kind, rays[index].sample);
            rays[index].hit = hit;
            let first = rays.len() as u32;
            match hit {
                None if kind == MessageKind::Shadow => rays[index].direct = color.extend(0.0).to_array(),
                None => rays[index].direct = (color * 0.1).extend(0.0).to_array(),
                Some(_) if kind == MessageKind::Shadow => {}
                Some(found) => {
                    let normal = Vec3::from(scene.polygons[found.index as usize].n_p);
                    let normal = if normal.dot(direction) > 0.0 { -normal } else { normal };
                    let point = origin + direction * found.t + normal * 1e-4;
                    rays[index].direct = (color * 0.2).extend(1.0).to_array();
                    let lit = normal.dot((light - point).normalize()).max(0.0) * 0.5;
                    if lit > 0.0 {
                        let to_light =
                            Request { origin: point, direction: light - point, limit: 1.0, kind: RayKind::Any };
                        rays.push(ray(to_light, MessageKind::Shadow, sample, (color * lit).to_array()));
                    }
                    if level + 1 < depth && found.index / 6 % 2 == 0 {
                        let direction = direction - 2.0 * direction.dot(normal) * normal;
                        let mirror = Request { origin: point, direction, limit: f32::INFINITY, kind: RayKind::Nearest };
                        rays.push(ray(mirror, MessageKind::Vision, sample, (color * 0.4).to_array()));
                    }
                }
            }
            rays[index].children = first..rays.len() as u32;
        }
        (next, level) = (end, level + 1);
    }
    let generations = generations(&rays);
    Workload { way: Way::Results, size: [side; 2], samples, rays, look_ups: Vec::new(), generations }
}

fn ray(request: Request, kind: MessageKind, sample: u32, color: [f32; 3]) -> Ray {
    Ray { request, kind, sample, color, direct: [0.0; 4], hit: None, children: 0..0, look_ups: 0..0 }
}

pub const FRONT: Vec3 = Vec3::new(0.5, 0.5, -2.0);
pub const SIDE: Vec3 = Vec3::new(-2.0, 0.5, 0.5);
pub const ABOVE: Vec3 = Vec3::new(0.5, -2.0, 0.5);

fn config(text: &str) -> Config {
    Config::parse(text).expect("numbers")
}

fn run(scene: &Model, load: &Workload, config: &Config) -> Simulation {
    simulate(load, scene, config).expect("it runs")
}

/// The colors that the tree of rays adds up to.
fn expected(load: &Workload) -> Vec<[f32; 4]> {
    let mut colors: Vec<[f32; 4]> = load.samples.iter().map(|s| s.direct).collect();
    for ray in &load.rays {
        colors[ray.sample as usize].iter_mut().zip(ray.direct).for_each(|(sum, part)| *sum += part);
    }
    colors
}

fn differences(load: &Workload, simulation: &Simulation) -> usize {
    let close = |a: &[f32; 4], b: &[f32; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
    expected(load).iter().zip(&simulation.colors).filter(|(a, b)| !close(a, b)).count()
}

#[test]
fn every_mapping_makes_the_image_and_announces_the_end() {
    let scene = cubes(30, 0.15);
    for mapping in ["plain", "skew", "torus"] {
        for size in ["columns = 1, rows = 1", "columns = 2, rows = 3", "columns = 5, rows = 4, cells = [5, 8, 12]"] {
            let config = config(&format!("array = {{ {size}, mapping = \"{mapping}\" }}"));
            let load = workload(&scene, &config, 20, FRONT, 3);
            let simulation = run(&scene, &load, &config);
            let statistics = &simulation.statistics;
            assert_eq!((statistics.ending, statistics.left), (Ending::Announced, 0), "{mapping} {size}");
            assert_eq!((differences(&load, &simulation), statistics.mismatches), (0, 0), "{mapping} {size}");
            assert_eq!(statistics.rays, load.rays.len() as u64);
            assert!(statistics.last_result < statistics.total);
        }
    }
}

#[test]
fn buffers_for_whoever_comes_first_deadlock_and_by_rank_do_not() {
    let scene = cubes(30, 0.15);
    let text = |admission: &str| {
        format!("array = {{ columns = 3, rows = 3 }}\nnode = {{ admission = \"{admission}\", buffers = 25 }}")
    };
    let config = config(&text("ranked"));
    let load = workload(&scene, &config, 24, FRONT, 2);
    let ranked = run(&scene, &load, &config);
    assert_eq!(ranked.statistics.ranks, 25);
    assert_eq!((ranked.statistics.ending, differences(&load, &ranked)), (Ending::Announced, 0));
    let first = run(&scene, &load, &Config::parse(&text("first-come").replace("25", "4")).expect("numbers"));
    assert_eq!(first.statistics.ending, Ending::Deadlock);
    assert!(first.statistics.left > 0 && differences(&load, &first) > 0);
    let few = Config::parse(&text("ranked").replace("25", "24")).expect("numbers");
    let error = simulate(&load, &scene, &few).expect_err("too few");
    assert!(error.to_string().contains("node.buffers"), "{error}");
}

#[test]
fn rays_of_an_eye_at_the_side_enter_at_all_nodes_where_layers_are_shifted() {
    let scene = cubes(30, 0.15);
    let spread = |mapping: &str, eye: Vec3| {
        let array = format!("columns = 6, rows = 6, cells = [0, 0, 12], mapping = \"{mapping}\"");
        let config = config(&format!("array = {{ {array} }}"));
        let load = workload(&scene, &config, 24, eye, 1);
        let statistics = run(&scene, &load, &config).statistics;
        // How many nodes rays enter at, and how busy the nodes are on average.
        (statistics.nodes.iter().filter(|node| node.entered > 0).count(), statistics.busy())
    };
    let [front, side, above] = [FRONT, SIDE, ABOVE].map(|eye| spread("plain", eye));
    assert!(front.0 >= 25 && side.0 <= 6 && above.0 <= 6, "{front:?} {side:?} {above:?}");
    assert!(side.1 < front.1 && above.1 < front.1);
    let [skew, skew_above] = [SIDE, ABOVE].map(|eye| spread("skew", eye));
    // Skewed to the right, the top row still has all the rays from above.
    assert!(skew.0 >= 30 && skew_above.0 <= 6, "{skew:?} {skew_above:?}");
    assert!(skew.1 > side.1);
    for eye in [SIDE, ABOVE] {
        let torus = spread("torus", eye);
        assert!(torus.0 >= 30 && torus.1 > side.1.max(above.1), "{torus:?}");
    }
}

#[test]
fn links_that_lose_and_repeat_spoil_the_image_unless_messages_are_acknowledged() {
    let scene = cubes(30, 0.15);
    let array = "array = { columns = 3, rows = 3 }\n";
    let load = workload(&scene, &config(array), 24, FRONT, 2);
    let lossy = |faults: &str, links: &str| {
        run(&scene, &load, &config(&format!("{array}faults = {{ {faults} }}\nreliability = {{ links = \"{links}\" }}")))
    };
    let lost = lossy("drop = 0.01", "bare");
    let counts = lost.statistics.faults;
    assert!(counts.lost_on_links > 0 && counts.lost_on_links == counts.dropped);
    assert_eq!(lost.statistics.ending, Ending::Unnoticed);
    assert!(differences(&load, &lost) > 0);
    let twice = lossy("repeat = 0.01", "bare");
    assert!(twice.statistics.faults.taken_twice > 0 && differences(&load, &twice) > 0);
    let both = lossy("drop = 0.05, repeat = 0.05", "acknowledged");
    let counts = both.statistics.faults;
    assert!(counts.sent_again > 0 && counts.repeated > 0 && counts.lost_on_links + counts.taken_twice == 0);
    assert_eq!((both.statistics.ending, differences(&load, &both)), (Ending::Announced, 0));
}

#[test]
fn a_dead_node_takes_part_of_the_image_with_it_unless_its_work_is_done_again() {
    let scene = cubes(30, 0.15);
    for mapping in ["plain", "torus"] {
        let array = format!("array = {{ columns = 4, rows = 3, mapping = \"{mapping}\" }}\n");
        let load = workload(&scene, &config(&array), 24, FRONT, 2);
        let whole = run(&scene, &load, &config(&array)).statistics.total;
        for (deaths, recovery) in [
            (format!("[[1, 1, {}]]", whole / 2.0), "off"),
            (format!("[[1, 1, {}]]", whole / 2.0), "on"),
            (format!("[[0, 0, {}], [3, 2, {whole}]]", whole / 9.0), "on"),
        ] {
            let text =
                format!("{array}faults = {{ deaths = {deaths} }}\nreliability = {{ recovery = \"{recovery}\" }}");
            let simulation = run(&scene, &load, &config(&text));
            let (statistics, wrong) = (&simulation.statistics, differences(&load, &simulation));
            let faults = statistics.faults;
            if recovery == "on" {
                assert_eq!((statistics.ending, wrong), (Ending::Announced, 0), "{mapping} {deaths}: {faults:?}");
                assert!(faults.deaths > 0 && faults.samples_again > 0 && faults.polygons_lost == 0);
            } else {
                assert!(faults.lost_in_nodes + faults.lost_at_nodes > 0 && faults.samples_lost == 48);
                assert!(wrong >= 48 && statistics.ending != Ending::Announced);
            }
        }
    }
}

#[test]
fn without_faults_recovery_changes_only_the_cost() {
    let scene = cubes(30, 0.15);
    let array = "array = { columns = 3, rows = 3 }\n";
    let load = workload(&scene, &config(array), 20, FRONT, 3);
    let plain = run(&scene, &load, &config(array));
    let safe =
        run(&scene, &load, &config(&format!("{array}reliability = {{ recovery = \"on\", links = \"acknowledged\" }}")));
    assert_eq!((safe.statistics.ending, differences(&load, &safe)), (Ending::Announced, 0));
    assert_eq!(safe.statistics.kind(MessageKind::Copy).made, 400);
    assert!(safe.statistics.kind(MessageKind::Result).made > plain.statistics.kind(MessageKind::Result).made);
}

#[test]
fn hits_wait_for_maps_that_other_nodes_have() {
    let scene = cubes(30, 0.15);
    let config = config("array = { columns = 3, rows = 3 }");
    let mut load = workload(&scene, &config, 20, FRONT, 2);
    for ray in load.rays.iter_mut().filter(|ray| ray.hit.is_some() && ray.kind == MessageKind::Vision) {
        let first = load.look_ups.len() as u32;
        load.look_ups.extend(ray.hit.map(|hit| [hit.point[0], hit.point[1]].map(|x| x.rem_euclid(1.0))));
        load.look_ups.push([0.1, 0.9]);
        ray.look_ups = first..load.look_ups.len() as u32;
    }
    let simulation = run(&scene, &load, &config);
    let statistics = &simulation.statistics;
    assert_eq!((statistics.ending, differences(&load, &simulation)), (Ending::Announced, 0));
    assert_eq!(statistics.kind(MessageKind::MapRequest).made, load.look_ups.len() as u64);
    assert!(statistics.kind(MessageKind::MapReply).hops > 0);
}

#[test]
fn rays_that_return_to_their_pixels_come_one_after_the_other() {
    let scene = cubes(30, 0.15);
    for text in ["", "reliability = { recovery = \"on\" }\nfaults = { deaths = [[1, 1, 20000]] }"] {
        let config = config(&format!("array = {{ columns = 3, rows = 3 }}\nimage = {{ samples = 3 }}\n{text}"));
        let mut load = workload(&scene, &config, 20, FRONT, 2);
        // The rays of each sample together, as shaders ask for them.
        load.rays.sort_by_key(|ray| ray.sample);
        load.rays.iter_mut().for_each(|ray| ray.children = 0..0);
        for (index, sample) in load.samples.iter_mut().enumerate() {
            let of_sample = |ray: &&Ray| ray.sample == index as u32;
            sample.root = load.rays.iter().position(|ray| of_sample(&ray)).map(|i| i as u32);
            sample.rays = load.rays.iter().filter(of_sample).count() as u32;
        }
        (load.way, load.generations) = (Way::Answers, 1);
        let statistics = run(&scene, &load, &config).statistics;
        assert_eq!((statistics.ending, statistics.mismatches), (Ending::Announced, 0));
        let rays = load.rays.len() as u64;
        if text.is_empty() {
            assert_eq!((statistics.rays, statistics.kind(MessageKind::Result).made), (rays, rays));
        } else {
            assert!(statistics.rays > rays && statistics.faults.samples_again > 0);
        }
    }
}

#[test]
fn rays_that_are_too_dark_are_not_made() {
    let scene = cubes(30, 0.15);
    let array = "array = { columns = 3, rows = 3 }\n";
    let load = workload(&scene, &config(array), 20, FRONT, 3);
    let all = run(&scene, &load, &config(array)).statistics;
    let cut = run(&scene, &load, &config(&format!("{array}image = {{ threshold = 0.3 }}")));
    let statistics = &cut.statistics;
    assert!(all.dark == 0 && statistics.dark > 0 && statistics.rays < all.rays);
    assert_eq!(statistics.ending, Ending::Announced);
    assert!(differences(&load, &cut) > 0);
}

#[test]
fn the_same_inputs_give_the_same_course() {
    let scene = cubes(20, 0.2);
    let config = config("array = { columns = 3, rows = 2, mapping = \"torus\" }\ntrace = { events = 100000 }");
    let load = workload(&scene, &config, 16, SIDE, 3);
    let [a, b] = [(); 2].map(|()| run(&scene, &load, &config));
    assert_eq!(a.trace.events, b.trace.events);
    assert_eq!((a.colors, format!("{:?}", a.statistics)), (b.colors, format!("{:?}", b.statistics)));
    assert!(a.trace.left_out == 0 && a.trace.events.is_sorted_by_key(|event| event.time));
}

#[test]
fn forty_nodes_fetch_as_fast_as_a_peripheral_when_all_are_busy_and_early_ends_save_fetches() {
    let scene = cubes(40, 0.15);
    // Memory is all that counts: no processor, no arithmetic, no pointers.
    let only_memory = "array = { columns = 8, rows = 5, mapping = \"torus\" }\n\
        node = { route = 0, cell = 0, emit = 0, shade = 0, make = 0, deliver = 0, memory_share = 0 }\n\
        link = { handshake = 0 }\n";
    let of = |kill: &str| {
        let unit = "interval = 0, operation = 0, pointer_words = 0, next_ray = \"behind\"";
        let config = config(&format!("{only_memory}unit = {{ {unit}, kill = \"{kill}\" }}"));
        let load = workload(&scene, &config, 32, FRONT, 2);
        let statistics = run(&scene, &load, &config).statistics;
        let unit: f64 = statistics.nodes.iter().map(|node| node.time.both + node.time.unit).sum();
        let tests = statistics.unit.tests as f64;
        // Peripherals that the nodes would be if none waited, and what they are.
        let full = 40.0 * tests / (3.0 * unit);
        assert!(statistics.peripherals() <= full);
        assert!((statistics.peripherals() - full * unit / 40.0 / statistics.total).abs() < 1e-6);
        (full, statistics.unit.accesses as f64 / tests)
    };
    let [never, early] = ["never", "early"].map(of);
    assert_eq!(never.1, 40.0);
    // The messages take the rest of the memory's time.
    assert!((0.6..=1.0).contains(&never.0), "{never:?}");
    assert!(early.1 < 30.0 && early.0 > 1.2 * never.0, "{early:?}");
}
