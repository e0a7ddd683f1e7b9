//! The facts of a scene that a program is specialized for: modes and lists of facts, as
//! `--specialize` of a render takes them.

use shadewright::program::{Fact, Specialize};

/// A set of facts and its name in tables.
#[derive(Clone, Debug)]
pub struct Mode {
    /// The name in tables.
    pub name: String,
    /// The facts.
    pub facts: Specialize,
}

/// The modes of whole scenes; the first is the baseline, the last is what specialized means.
const OF_SCENES: [Specialize; 4] = [Specialize::NONE, Specialize::TYPES, Specialize::CONSTANTS, Specialize::ALL];

/// The modes of `--specialize`, or all.
pub fn scene_modes(asked: &[Specialize]) -> Vec<Mode> {
    let asked = if asked.is_empty() { &OF_SCENES[..] } else { asked };
    asked.iter().map(|&facts| Mode { name: facts.to_string(), facts }).collect()
}

/// The facts of the microbenchmark of interfaces: of textures (T), with the parameters that name
/// them, and of the layout of vertex attributes (A).
pub fn interface_modes() -> Vec<Mode> {
    let textures = |facts: Specialize| facts.with(Fact::Textures).with(Fact::Parameters);
    let attributes = |facts: Specialize| facts.with(Fact::Layouts);
    let none = Specialize::NONE;
    let facts = [("none", none), ("T", textures(none)), ("A", attributes(none)), ("T+A", textures(attributes(none)))];
    facts.map(|(name, facts)| Mode { name: name.to_string(), facts }).to_vec()
}
