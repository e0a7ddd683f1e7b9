//! Lights, in the order of the scene.
//!
//! A light is declared in an attribute block, so that its attributes are its own, and switched on
//! after it. An area light is declared where its first emitter stands, as RIB has it; objects
//! elsewhere say by an attribute that they are emitters, too.

use super::Writer;
use super::text::quoted;
use std::collections::BTreeSet;

/// The state of the lights in the text so far.
#[derive(Debug, Default)]
pub struct Lights {
    /// Their handles; each is different from all others.
    handles: Vec<String>,
    /// The lights that are declared: those before this one.
    declared: usize,
    /// The lights that are on outside of all blocks.
    on: BTreeSet<u32>,
}

impl Lights {
    /// The state of a scene's lights, none of which is declared.
    pub fn new(writer: &Writer<'_>) -> Self {
        let mut taken = BTreeSet::new();
        let handle = |wanted: &str| {
            let others = (2..).map(|number| format!("{wanted}-{number}"));
            let free = std::iter::once(wanted.to_string()).chain(others).find(|name| !taken.contains(name));
            let free = free.unwrap_or_default();
            taken.insert(free.clone());
            free
        };
        let handles = writer.scene.lights.iter().map(|light| light.handle.as_str()).map(handle).collect();
        Self { handles, ..Self::default() }
    }

    /// Declares the lights before one with this number.
    pub fn declare_before(&mut self, writer: &mut Writer<'_>, end: usize) {
        while self.declared < end {
            let light = self.declared;
            self.declare(writer, light);
        }
    }

    /// Declares a light in a block of its own, and switches it on.
    fn declare(&mut self, writer: &mut Writer<'_>, light: usize) {
        writer.block(|w| self.request(w, light));
        self.illuminate(writer, light, true);
        self.on.insert(light as u32);
        self.declared = light + 1;
    }

    /// Declares a light where the text stands.
    fn request(&self, writer: &mut Writer<'_>, number: usize) {
        let light = &writer.scene.lights[number];
        if let Some(shadows) = light.shadows {
            let word = if shadows { "on" } else { "off" };
            writer.text.line(&format!("Attribute \"light\" \"string shadows\" [\"{word}\"]"));
        }
        let request = if light.area { "AreaLightSource" } else { "LightSource" };
        writer.shader(request, Some(&self.handles[number]), light.shader);
    }

    fn illuminate(&self, writer: &mut Writer<'_>, number: usize, on: bool) {
        writer.text.line(&format!("Illuminate {} {}", quoted(&self.handles[number]), u8::from(on)));
    }

    /// Within the block of an object: makes it an emitter of an area light, and has the lights of
    /// the list on and no others.
    pub fn write_object(&mut self, writer: &mut Writer<'_>, emits: Option<u32>, lights: &[u32]) {
        let mut on = self.on.clone();
        match emits.map(|light| light as usize) {
            Some(light) if light >= self.declared => {
                self.request(writer, light);
                self.declared = light + 1;
                on.insert(light as u32);
            }
            Some(light) => {
                let handle = quoted(&self.handles[light]);
                writer.text.line(&format!("Attribute {} \"string emits\" [{handle}]", quoted(super::GROUP)));
            }
            None => {}
        }
        for light in on.iter().filter(|light| !lights.contains(light)) {
            self.illuminate(writer, *light as usize, false);
        }
        for light in lights.iter().filter(|light| !on.contains(light)) {
            self.illuminate(writer, *light as usize, true);
        }
    }

    /// The lights that must be declared outside of an object's block before it: those of its list,
    /// unless it is itself the first emitter of one before them.
    pub fn before_object(&self, emits: Option<u32>, lights: &[u32]) -> usize {
        let own = emits.map(|light| light as usize).filter(|&light| light >= self.declared);
        let last = lights.iter().max().map_or(0, |&light| light as usize + 1);
        match own {
            // A light after its own has to be declared first, and its own with it.
            Some(own) if last > own + 1 => last,
            Some(own) => own,
            None => last,
        }
    }
}
