//! The states of a real simulation, against one that plays its events one after the other.

use super::frame::Contributions;
use super::run::simulate;
use super::snapshots::SPACING;
use super::*;
use crate::model::tests::{SPHERE, state};
use shadewright_image::Image;
use shadewright_machines::array::config::Config;
use shadewright_machines::array::mapping::{Direction, Layout, Mapping};
use shadewright_machines::array::message::MessageKind;
use shadewright_machines::array::render;
use shadewright_machines::array::trace::{Happening, Trace, TraceEvent};
use shadewright_machines::rays::model::Model as Polygons;
use shadewright_project::View;
use shadewright_render::DEFAULT_BUDGET;
use shadewright_render::rpu::Loaded;
use shadewright_render::sampling::Sampling;
use shadewright_scene::Format;
use std::collections::BTreeMap;

/// A simulation of a sphere.
pub fn sphere(side: u16, mapping: Mapping, width: u32) -> ArrayRun {
    let state = state(SPHERE);
    let view = View { camera: state.scene.camera.clone(), format: state.scene.format };
    let request = ArrayRequest { side, mapping, width };
    let run = simulate(&state, &view, request, DEFAULT_BUDGET, &|_| true);
    run.expect("it can be simulated").expect("nobody stops it")
}

/// Where each message is, by playing the first `position` events one after the other. What ends
/// without an event is not noticed.
fn played(playback: &Playback, position: usize) -> BTreeMap<(u32, usize), TraceEvent> {
    let mut messages = BTreeMap::new();
    for event in &playback.events()[..position] {
        let kind = match event.kind {
            MessageKind::New | MessageKind::Vision | MessageKind::Shadow => 0,
            other => other as usize,
        };
        match event.happening {
            Happening::Hit | Happening::Ended | Happening::Shown | Happening::Lost => {
                messages.remove(&(event.ray, kind));
            }
            _ => {
                messages.insert((event.ray, kind), *event);
            }
        }
    }
    messages
}

#[test]
fn a_state_is_that_of_playing_all_events_until_then() {
    let run = sphere(4, Mapping::Torus, 128);
    let playback = &run.playback;
    let count = playback.events().len();
    assert!(count > 3 * SPACING && playback.left_out() == 0, "{count}");
    let near = [SPACING - 1, SPACING, SPACING + 1, 2 * SPACING, count - 1, count];
    for position in (0..count).step_by(997).chain(near) {
        let time = playback.events()[..position].last().map_or(0, |event| event.time);
        let found = playback.state(position, time);
        let expected = played(playback, position);
        let mut places = BTreeMap::new();
        for message in &found.messages {
            let kind = if message.kind == MessageKind::Result { message.kind as usize } else { 0 };
            let node = match message.place {
                MessageLocation::Node(node) => (node, None),
                MessageLocation::Link { from, direction, .. } => (from, Some(direction)),
            };
            assert!(places.insert((message.ray, kind), node).is_none(), "a message is in one place");
        }
        for (key, node) in &places {
            let event = expected[key];
            let direction = if let Happening::Left(direction) = event.happening { Some(direction) } else { None };
            assert_eq!(*node, (event.node, direction), "{key:?} after {position} events");
        }
        // Rays that pass space by end without an event.
        let unnoticed = expected.iter().filter(|(key, _)| !places.contains_key(key));
        assert!(unnoticed.clone().all(|(_, event)| event.happening == Happening::Emitted), "after {position} events");
        let counted: u32 = found.nodes.iter().map(|n| n.left + n.arrived + n.made + n.emitted + n.tested).sum();
        let ended: u32 = found.nodes.iter().map(|n| n.hits + n.ended + n.shown + n.lost).sum();
        assert_eq!((counted + ended) as usize, position);
    }
    assert!(playback.state(count, playback.end()).messages.is_empty(), "nothing is left in the end");
}

#[test]
fn scrubbing_to_a_time_by_any_way_gives_what_playing_to_it_gives() {
    let run = sphere(3, Mapping::Plain, 24);
    let playback = &run.playback;
    let mut frame = FrameBuffer::default();
    let (mut steady, mut playing) = (FrameBuffer::default(), Cursor::default());
    let end = playback.end();
    for step in 1..=40u64 {
        let time = end * step / 40;
        playing.play(playback, time - playing.time());
        let mut scrubbed = Cursor::default();
        for detour in [end, 0, end / 2 + step, time] {
            scrubbed.seek(playback, detour);
            frame.seek(&run.contributions, scrubbed.position());
        }
        steady.seek(&run.contributions, playing.position());
        assert_eq!(scrubbed, playing);
        assert_eq!(scrubbed.state(playback), playing.state(playback));
        assert_eq!(frame, steady, "the sums are the same to the last bit");
    }
}

#[test]
fn steps_go_from_event_to_event_and_back() {
    let run = sphere(2, Mapping::Plain, 40);
    let playback = &run.playback;
    let mut cursor = Cursor::default();
    let mut states = vec![cursor];
    for _ in 0..300 {
        cursor.step(playback);
        assert_eq!(playback.events()[cursor.position() - 1].time, cursor.time());
        states.push(cursor);
    }
    for expected in states.iter().rev().skip(1) {
        cursor.step_back(playback);
        assert_eq!(cursor, *expected);
    }
    cursor.step_back(playback);
    assert_eq!(cursor, Cursor::default());
    assert!(!cursor.play(playback, u64::MAX), "there is an end");
    let at_end = cursor;
    cursor.step(playback);
    assert_eq!((cursor, cursor.position()), (at_end, playback.events().len()));
}

#[test]
fn every_message_that_leaves_arrives_at_the_other_end_of_its_link() {
    for mapping in [Mapping::Plain, Mapping::Skew, Mapping::Torus] {
        let run = sphere(3, mapping, 16);
        let playback = &run.playback;
        let layout = playback.layout();
        let mut on_links = BTreeMap::new();
        for event in playback.events() {
            match event.happening {
                Happening::Left(direction) => {
                    let to = layout.neighbor(event.node, direction).expect("a link");
                    assert_eq!(on_links.insert((event.ray, event.kind), to), None);
                }
                Happening::Arrived => {
                    assert_eq!(on_links.remove(&(event.ray, event.kind)), Some(event.node));
                }
                _ => {}
            }
        }
        assert!(on_links.is_empty(), "{mapping:?}");
        let sent: u32 = playback.state(usize::MAX, playback.end()).nodes.iter().map(|node| node.left).sum();
        let hops: u64 = run.statistics.kinds.iter().map(|kind| kind.hops).sum();
        assert_eq!(u64::from(sent), hops);
    }
}

#[test]
fn a_message_moves_along_its_link_while_it_is_sent() {
    let layout = Layout { mapping: Mapping::Plain, sides: [2, 1], cells: [2, 1, 1] };
    let mut trace = Trace::new(10);
    let event = |time, node, happening| TraceEvent { time, ray: 0, node, kind: MessageKind::New, happening };
    for event in [
        event(10, 0, Happening::Emitted),
        event(100, 0, Happening::Left(Direction::East)),
        event(300, 1, Happening::Arrived),
        event(400, 1, Happening::Tested),
        event(700, 1, Happening::Hit),
    ] {
        trace.add(event);
    }
    let playback = Playback::new(layout, trace);
    let place = |time| {
        let state = playback.state(playback.position(time), time);
        state.messages.first().map(|message| message.place)
    };
    let link = |done| Some(MessageLocation::Link { from: 0, direction: Direction::East, done });
    assert_eq!([5, 10, 99].map(place), [None, Some(MessageLocation::Node(0)), Some(MessageLocation::Node(0))]);
    assert_eq!([100, 150, 299].map(place), [link(0.0), link(0.25), link(0.995)]);
    assert_eq!([300, 699, 700].map(place), [Some(MessageLocation::Node(1)), Some(MessageLocation::Node(1)), None]);
    let busy = playback.busy();
    assert_eq!([399, 400, 500, 700, 900].map(|time| busy.until(1, time)), [0, 0, 100, 300, 300]);
    assert_eq!((busy.share(1, 300, 500), busy.until(0, 700)), (0.5, 0));
}

#[test]
fn what_a_cut_off_trace_does_not_show_any_more_stays_where_it_was() {
    let layout = Layout { mapping: Mapping::Plain, sides: [2, 1], cells: [2, 1, 1] };
    let mut trace = Trace::new(2);
    let event = |ray, time, happening| TraceEvent { time, ray, node: 0, kind: MessageKind::New, happening };
    trace.add(event(0, 10, Happening::Emitted));
    trace.add(event(1, 20, Happening::Left(Direction::East)));
    trace.add(event(0, 30, Happening::Left(Direction::East)));
    let playback = Playback::new(layout, trace);
    let state = playback.state(2, 20);
    assert_eq!((state.messages.len(), state.on_links()[0], state.waiting()[0][0]), (2, 1, 1));
}

#[test]
fn units_are_busy_for_about_the_time_that_the_simulation_counts() {
    let run = sphere(4, Mapping::Plain, 32);
    let end = run.playback.end();
    for (node, counts) in run.statistics.nodes.iter().enumerate() {
        let unit = counts.time.unit + counts.time.both;
        let found = run.playback.busy().until(node as u16, end) as f64 * 1e-6;
        let most = unit + counts.time.processor + counts.time.waiting + 1e-3;
        assert!(found >= 0.95 * unit && found <= most, "node {node}: {found} µs, {unit} µs, {most} µs");
    }
}

#[test]
fn the_frame_buffer_ends_with_the_image_that_the_array_makes() {
    let state = state(SPHERE);
    let format = Format { width: 48, height: 24, pixel_aspect: 1.0 };
    let view = View { camera: state.scene.camera.clone(), format };
    let job = state.job(&view, Sampling { strata: [1, 1], seed: 0 }, DEFAULT_BUDGET);
    let program = &job.program;
    let loaded = Loaded::new(&program.module, program.constants.vectors(), program.surface_entries).expect("a program");
    let polygons = Polygons::from_job(&state.scene, &job, &loaded).expect("polygons");
    let config = Config::parse("trace = { events = 1000000 }").expect("numbers");
    let rays = render::rays(&job, &loaded, &polygons, &config, &|_| {}).expect("rays");
    let rendered = render::render(&job, &loaded, &polygons, &rays, &config).expect("an image");
    let events = &rendered.simulation.trace.events;
    let contributions = Contributions::new(&rays.workload, events, &rendered.image);
    let mut frame = FrameBuffer::default();
    assert!(frame.seek(&contributions, 0));
    let mean = |image: &Image| image.rgba.iter().map(|pixel| pixel[0]).sum::<f32>();
    let first = mean(&frame.image(&contributions));
    assert!(frame.seek(&contributions, events.len()));
    assert!(!frame.seek(&contributions, usize::MAX), "nothing comes after the end");
    let image = frame.image(&contributions);
    assert!(mean(&image) > first && frame.results() > 0);
    let differs = |(a, b): &(&[f32; 4], &[f32; 4])| a.iter().zip(*b).any(|(a, b)| (a - b).abs() > 1e-4);
    assert_eq!(image.rgba.iter().zip(&rendered.image.rgba).filter(differs).count(), 0);
}

#[test]
fn a_simulation_whose_scene_is_gone_is_given_up() {
    let state = state(SPHERE);
    let view = View { camera: state.scene.camera.clone(), format: state.scene.format };
    let request = ArrayRequest::default();
    let goes_on = |stage: ArrayPhase| stage != ArrayPhase::Array;
    let run = simulate(&state, &view, request, DEFAULT_BUDGET, &goes_on);
    assert!(matches!(run, Ok(None)));
}
