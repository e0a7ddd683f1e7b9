//! Simulations of the programs.

use super::words::{number, word};
use crate::rays::intersector::{Intersection, Outcome};
use crate::rays::polygon::{Case, Polygon, WORDS};
use shadewright_base::bits::Bits;
use shadewright_base::text::source::SourceMap;
use shadewright_silicon::circuit::Circuit;
use shadewright_silicon::circuit::functional::{self, Limits, Outcome as End};
use shadewright_silicon::circuit::graph::PortId;
use shadewright_silicon::circuit::passes;
use shadewright_silicon::circuit::stimuli::Stimuli;
use shadewright_silicon::language;

/// Words that go through a port, in order, by the port's name.
pub type Streams = Vec<(String, Vec<u128>)>;

/// A polygon and a ray for the intersector's chip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayTest<'a> {
    /// The polygon.
    pub polygon: &'a Polygon,
    /// Two points on the ray, `r₀` and `r₁`.
    pub points: [[f32; 3]; 2],
    /// Distance of the nearest hit so far; infinite if there is none.
    pub best: f32,
}

/// The results of the chip for a test. Numbers that are not valid are NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChipHit {
    /// Distance in units of the ray's direction.
    pub t: f32,
    /// `p_r`.
    pub point: [f32; 3],
    /// Position on the polygon, 0 to 1.
    pub u: f32,
    /// Position on the polygon, 0 to 1.
    pub v: f32,
    /// True if a hit at `t` counts.
    pub counts: bool,
}

impl ChipHit {
    /// As the intersector of the simulators says it, which stops at the first step that rejects the polygon.
    pub fn outcome(&self) -> Outcome {
        if !self.counts {
            return Outcome::NoDistance;
        }
        if self.u.is_nan() {
            return Outcome::OutsideU;
        }
        if self.v.is_nan() {
            return Outcome::OutsideV;
        }
        Outcome::Hit(Intersection { t: self.t, point: self.point, u: self.u, v: self.v })
    }
}

/// The chip's ports for the words of a polygon, in the order of [`Polygon::words`].
const POLYGON: [&str; WORDS] = [
    "npX", "npY", "npZ", "dp", "unX", "unY", "unZ", "ud1", "umX", "umY", "umZ", "ud0", "vnX", "vnY", "vnZ", "vd1",
    "vmX", "vmY", "vmZ", "vd0",
];

/// The chip's ports for the two points of a ray.
const RAY: [[&str; 3]; 2] = [["r0X", "r0Y", "r0Z"], ["r1X", "r1Y", "r1Z"]];

/// The ports that the results come from, but for the one-bit port `counts`.
const RESULTS: [&str; 6] = ["tOut", "pX", "pY", "pZ", "uOut", "vOut"];

/// The longest simulation, in cycles of the [ideal dataflow machine](functional).
const CYCLES: u64 = 1 << 32;

/// The words that the host and the memories send to the intersector's chip.
pub fn streams(tests: &[RayTest]) -> Streams {
    let stream = |name: &str, of: &dyn Fn(&RayTest) -> u128| (name.to_string(), tests.iter().map(of).collect());
    let mut streams = Vec::new();
    for (i, name) in POLYGON.into_iter().enumerate() {
        streams.push(stream(name, &|e| word(e.polygon.words()[i])));
    }
    for (point, names) in RAY.into_iter().enumerate() {
        for (axis, name) in names.into_iter().enumerate() {
            streams.push(stream(name, &|e| word(e.points[point][axis])));
        }
    }
    streams.push(stream("best", &|e| word(e.best)));
    streams.push(stream("uParallel", &|e| (e.polygon.u.case == Case::Parallel).into()));
    streams.push(stream("vParallel", &|e| (e.polygon.v.case == Case::Parallel).into()));
    streams.push(stream("oneSided", &|e| e.polygon.one_sided.into()));
    streams
}

/// The results of the chip, for the tests for which all ports gave a word.
pub fn found(outputs: &Streams) -> Vec<ChipHit> {
    let words = |name: &str| outputs.iter().find(|(port, _)| port == name).map_or(&[][..], |(_, words)| words);
    let (results, counts) = (RESULTS.map(words), words("counts"));
    let complete = results.iter().map(|words| words.len()).min().unwrap_or(0);
    let of = |(i, counts): (usize, &u128)| {
        let [t, x, y, z, u, v] = results.map(|words| number(words[i]));
        ChipHit { t, point: [x, y, z], u, v, counts: *counts == 1 }
    };
    counts.iter().enumerate().take(complete).map(of).collect()
}

/// The circuit of a program as it is written: only what no port depends on is left out.
///
/// # Errors
///
/// The errors in the program, as text.
pub fn compiled(text: &str) -> Result<Circuit, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("intersector.si", None, text);
    language::compile(&sources, file).map_err(|errors| errors.render(&sources))
}

/// The circuit after all passes.
pub fn optimized(mut circuit: Circuit) -> Circuit {
    passes::run(&mut circuit, passes::PassOptions::default());
    circuit
}

/// The words of streams for the inputs of a circuit, of at most 128 bits. Words for ports that it
/// does not have are left out.
pub fn stimuli(circuit: &Circuit, streams: &Streams) -> Stimuli {
    let mut stimuli = Stimuli::new(circuit);
    for (name, words) in streams {
        let Some(id) = circuit.ports.iter().position(|port| *port.name == **name) else { continue };
        for &word in words {
            stimuli.push(PortId(id as u32), Bits::from_u128(word, circuit.ports[id].width));
        }
    }
    stimuli
}

/// The words that a simulation put to the ports of its circuit.
pub fn outputs(circuit: &Circuit, stimuli: &Stimuli) -> Streams {
    let outputs = circuit.ports.iter().enumerate().filter(|(_, port)| port.kind.has_put());
    let words = |id: usize| stimuli.outputs(PortId(id as u32)).iter().filter_map(Bits::to_u128).collect();
    outputs.map(|(id, port)| (port.name.to_string(), words(id))).collect()
}

/// The words that a circuit puts to its ports, given those [words](stimuli) for its inputs.
///
/// # Errors
///
/// How the simulation ended, if not by waiting for words that do not come.
pub fn simulated(circuit: &Circuit, streams: &Streams) -> Result<Streams, End> {
    let mut stimuli = stimuli(circuit, streams);
    let run = functional::run(circuit, &mut stimuli, Limits { cycles: CYCLES, ..Limits::default() });
    match run.outcome {
        End::Complete | End::Starved => Ok(outputs(circuit, &stimuli)),
        other => Err(other),
    }
}
