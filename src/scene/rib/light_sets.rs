//! The sets of lights that illuminate objects. A scene may switch one of thousands of lights before
//! each object: equal sets are one, and together they have a bounded number of lights.

use super::args::Args;
use super::reader::Reader;
use std::collections::HashSet;
use std::sync::Arc;

/// Most lights of all different sets together.
const MAX_ENTRIES: usize = 1 << 22;

/// The sets of the objects so far.
#[derive(Default)]
pub struct LightSets {
    known: HashSet<Arc<[u32]>>,
    /// The set of the last object.
    last: Option<Arc<[u32]>>,
    entries: usize,
}

impl LightSets {
    /// The set that equal ones share; `None` where there are too many.
    fn shared(&mut self, lights: &Arc<[u32]>) -> Option<Arc<[u32]>> {
        if let Some(last) = self.last.as_ref().filter(|last| Arc::ptr_eq(last, lights)) {
            return Some(last.clone());
        }
        if !self.known.contains(lights) {
            let entries = self.entries + lights.len();
            if entries > MAX_ENTRIES {
                return None;
            }
            self.entries = entries;
            self.known.insert(lights.clone());
        }
        self.last = self.known.get(lights).cloned();
        self.last.clone()
    }
}

/// The lights of an object that a request adds; `None`, with an error, where it is to be left out.
pub fn object_lights(r: &mut Reader<'_>, args: &Args<'_, '_>) -> Option<Arc<[u32]>> {
    let shared = r.lights.sets.shared(&r.state.attributes.lights);
    match &shared {
        // What follows finds it by its address.
        Some(shared) => r.state.attributes.lights = shared.clone(),
        None => {
            let message =
                format!("the different sets of lights of objects have more than {MAX_ENTRIES} lights together");
            r.error_once("light sets", args.error(message).hint("it is left out, and all objects with other sets"));
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_are_one_and_all_together_are_bounded() {
        let mut sets = LightSets::default();
        let two: fn() -> Arc<[u32]> = || Arc::from([1, 2]);
        let first = sets.shared(&two()).expect("room");
        assert!(Arc::ptr_eq(&first, &sets.shared(&two()).expect("room")));
        let set = |i: u32| -> Arc<[u32]> { (0..4096).map(|k| if k == 0 { i } else { k + 100_000 }).collect() };
        let fitting = (0..5000).take_while(|&i| sets.shared(&set(i)).is_some()).count();
        assert_eq!(fitting, MAX_ENTRIES / 4096 - 1);
        assert!(sets.shared(&two()).is_some(), "one that is known takes no room");
    }
}
