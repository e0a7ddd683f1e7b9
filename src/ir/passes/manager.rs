//! Which passes run, in which order, how often; what each did and how long it took.

use super::inline::{InlinePhase, InlinePolicy};
use super::known_data::{self, KnownData};
use super::unroll::{self, UnrollPolicy};
use super::variants::{self, VariantPolicy};
use super::{
    calls, copy, dce, derivatives, fold, gvn, inline, lanes, licm, matrices, pre, range_analysis, renumber, sccp,
    simplify_cfg, slots, strength, strip, unit_vectors, visible,
};
use crate::verify::{VerifyError, verify};
use crate::{Function, Inlining, Loc, Module, TargetInfo};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A pass of the pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The name by which it is switched off and reported.
    pub name: &'static str,
    /// The description, in one line.
    pub description: &'static str,
    work: Work,
}

/// How a pass is run; it returns the number of its changes.
#[derive(Clone, Copy, Debug)]
enum Work {
    Function(fn(&mut Function) -> usize),
    /// It depends on the pipeline's settings.
    Configured(fn(&mut Function, &Pipeline) -> usize),
    Module(fn(&mut Module, &Pipeline, InlinePhase) -> usize),
    /// It makes variants of functions.
    Specializer(fn(&mut Module, &Pipeline, &mut variants::Log) -> usize),
    /// The linker runs it, on each shader.
    Linker,
}

/// All passes, in the order in which they run.
pub const PASSES: [Pass; 19] = [
    Pass {
        name: "uniform",
        description: "moves what depends on a shader's parameters alone to the host, which runs it once an instance",
        work: Work::Linker,
    },
    Pass {
        name: "known",
        description: "folds loads of memory and program constants that a scene fixes, where it is specialized",
        work: Work::Configured(|f, pipeline| known_data::run(f, &pipeline.known)),
    },
    Pass {
        name: "copy",
        description: "propagates copies through vector construction, bitcasts and selects",
        work: Work::Function(copy::run),
    },
    Pass {
        name: "fold",
        description: "folds constants, simplifies algebraically, folds branches",
        work: Work::Function(fold::run),
    },
    Pass {
        name: "sccp",
        description: "propagates constants sparsely and conditionally, through loops too",
        work: Work::Function(sccp::run),
    },
    Pass {
        name: "ranges",
        description: "removes clamps and absolute values, and folds comparisons, by range analysis of floats",
        work: Work::Function(range_analysis::run),
    },
    Pass {
        name: "gvn",
        description: "hoists constants, merges congruent values, through loops too, and folds dominated conditions",
        work: Work::Function(gvn::run),
    },
    Pass {
        name: "pre",
        description: "eliminates partial redundancies: inserts computations in predecessors that lack them",
        work: Work::Function(pre::run),
    },
    Pass {
        name: "licm",
        description: "hoists loop-invariant computations into the preheader",
        work: Work::Configured(|f, pipeline| licm::run(f, &pipeline.target)),
    },
    Pass {
        name: "strength",
        description: "reduces products of induction variables to sums",
        work: Work::Configured(|f, pipeline| strength::run(f, &pipeline.target)),
    },
    Pass {
        name: "cfg",
        description: "threads jumps through empty blocks and merges straight-line blocks",
        work: Work::Function(simplify_cfg::run),
    },
    Pass {
        name: "unroll",
        description: "unrolls loops with a small constant trip count",
        work: Work::Configured(|f, pipeline| unroll::run(f, &pipeline.unroll)),
    },
    Pass {
        name: "slots",
        description: "promotes arrays with constant indices to values",
        work: Work::Configured(|f, pipeline| slots::run(f, &pipeline.target)),
    },
    Pass {
        name: "dce",
        description: "removes dead instructions, block parameters, arrays and blocks",
        work: Work::Function(dce::run),
    },
    Pass {
        name: "calls",
        description: "evaluates, merges and removes calls of pure functions",
        work: Work::Module(|m, _, _| calls::run(m)),
    },
    Pass { name: "visible", description: "merges equal batches of shadow rays", work: Work::Function(visible::run) },
    Pass {
        name: "variants",
        description: "calls variants of functions for constant arguments, as filters and the scene's specialization say",
        work: Work::Specializer(|m, pipeline, log| variants::run(m, &pipeline.variants, log)),
    },
    Pass {
        name: "inline",
        description: "inlines small functions, and those with one call site",
        work: Work::Module(|m, pipeline, stage| inline::run(m, &pipeline.inline, &pipeline.target, stage)),
    },
    Pass {
        name: "strip",
        description: "removes functions unreachable from entry points",
        work: Work::Module(|m, _, _| strip::run(m)),
    },
];

/// A choice of passes and their settings. The default is all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// True if each pass of [`PASSES`] runs.
    enabled: [bool; PASSES.len()],
    /// The rules of the inliner: which calls are inlined.
    pub inline: InlinePolicy,
    /// Which variants of functions are made.
    pub variants: VariantPolicy,
    /// Which loops are unrolled.
    pub unroll: UnrollPolicy,
    /// Data that never change.
    pub known: Arc<KnownData>,
    /// The back end that the program is for.
    pub target: TargetInfo,
    /// The passes are repeated until none changes anything, but not more often than this.
    pub max_rounds: usize,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self {
            enabled: [true; PASSES.len()],
            inline: InlinePolicy::default(),
            variants: VariantPolicy::FILTERS,
            unroll: UnrollPolicy::default(),
            known: Arc::default(),
            target: TargetInfo::DEFAULT,
            max_rounds: 16,
        }
    }
}

/// A name in a list of passes is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no pass `{name}`; the passes are {}, and `all` and `none` stand for themselves", list())]
pub struct UnknownPass {
    /// The name.
    pub name: String,
}

fn list() -> String {
    PASSES.map(|p| format!("`{}`", p.name)).join(", ")
}

/// A pass broke the rules of the IR: an error in the compiler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pass `{pass}` broke the program: {}", errors.first().map_or(String::new(), VerifyError::to_string))]
pub struct BrokenByPass {
    /// The pass.
    pub pass: &'static str,
    /// The rules it broke.
    pub errors: Vec<VerifyError>,
}

/// Looks at the program between passes.
pub trait Observer {
    /// Before a pass runs in a round (counted from 0).
    fn before(&mut self, _pass: &Pass, _round: usize, _module: &Module) {}
    /// After it ran and made that many changes.
    fn after(&mut self, _pass: &Pass, _round: usize, _module: &Module, _changes: usize) {}
}

/// Looks at nothing.
impl Observer for () {}

/// The report on one pass in all rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassReport {
    /// The name of the pass.
    pub name: &'static str,
    /// How often it ran.
    pub runs: usize,
    /// Things it changed; what is counted depends on the pass.
    pub changes: usize,
    /// Time it took.
    pub time: Duration,
}

/// The report on the run of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Report {
    /// The passes that ran, in order.
    pub passes: Vec<PassReport>,
    /// Number of rounds, the last of which changed nothing (unless the bound was met).
    pub rounds: usize,
    /// Where rays bring back what derivatives are asked for.
    pub rays: Vec<Loc>,
    /// Which variants of functions were made.
    pub variants: variants::Log,
}

impl Pipeline {
    /// No passes at all.
    pub fn none() -> Self {
        Self { enabled: [false; PASSES.len()], ..Self::default() }
    }

    /// No passes over the linked module. Shaders are split as before, so that data lie as before.
    pub fn only_of_linker(mut self) -> Self {
        for (pass, enabled) in PASSES.iter().zip(&mut self.enabled) {
            *enabled &= matches!(pass.work, Work::Linker);
        }
        self
    }

    /// Reads a list of names, separated by commas: `fold,dce` runs only those, `-gvn,-inline` all
    /// but those. `all` and `none` start from there. The order is always that of [`PASSES`].
    ///
    /// # Errors
    /// [`UnknownPass`] for a name that is no pass.
    pub fn parse(text: &str) -> Result<Self, UnknownPass> {
        let names: Vec<&str> = text.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
        let only_these = names.iter().any(|n| !n.starts_with('-'));
        let mut pipeline = if only_these { Self::none() } else { Self::default() };
        for name in names {
            let (word, on) = name.strip_prefix('-').map_or((name, true), |n| (n, false));
            match (word, PASSES.iter().position(|p| p.name == word)) {
                (_, Some(i)) => pipeline.enabled[i] = on,
                ("all", None) => pipeline.enabled = [on; PASSES.len()],
                ("none", None) if on => pipeline.enabled = [false; PASSES.len()],
                _ => return Err(UnknownPass { name: word.to_string() }),
            }
        }
        Ok(pipeline)
    }

    /// The same passes for a target.
    pub fn for_target(self, target: TargetInfo) -> Self {
        Self { target, ..self }
    }

    /// The passes that run.
    pub fn passes(&self) -> impl Iterator<Item = &'static Pass> {
        static ALL: [Pass; PASSES.len()] = PASSES;
        ALL.iter().zip(self.enabled).filter(|(_, on)| *on).map(|(p, _)| p)
    }

    /// True if the linker splits shaders ([`super::uniform`]).
    pub fn splits_uniform_code(&self) -> bool {
        self.passes().any(|p| matches!(p.work, Work::Linker))
    }

    /// Makes forced calls plain ones (see [`variants::force`]), defines operations between lanes for
    /// one lane (see [`lanes`]), settles what is not normalized again (see
    /// [`super::unit_vectors`]), replaces matrices by
    /// their rows (see [`matrices`]) and derivatives by what computes them (see [`derivatives`]),
    /// whatever passes are chosen; then runs the passes on a verified module, round after round
    /// until nothing changes, and renumbers values at the end.
    ///
    /// # Errors
    /// In debug builds, [`BrokenByPass`] when the program breaks a rule of the IR after a pass.
    pub fn run(&self, module: &mut Module, observer: &mut dyn Observer) -> Result<Report, BrokenByPass> {
        variants::force(module);
        lanes::define(module);
        unit_vectors::propagate(module);
        if matrices::lower(module) > 0 && cfg!(debug_assertions) {
            verify(module).map_err(|errors| BrokenByPass { pass: "matrices", errors })?;
        }
        let expansion = derivatives::expand(module);
        if expansion.changes > 0 && cfg!(debug_assertions) {
            verify(module).map_err(|errors| BrokenByPass { pass: "derivatives", errors })?;
        }
        let of_module = || self.passes().filter(|p| !matches!(p.work, Work::Linker));
        let passes = of_module().map(|p| PassReport { name: p.name, runs: 0, changes: 0, time: Duration::ZERO });
        let mut report =
            Report { passes: passes.collect(), rounds: 0, rays: expansion.rays, variants: Default::default() };
        // Functions that the last round did not change need no other one, until inlining changes
        // them.
        let mut dirty = vec![true; module.functions.len()];
        let mut stage = InlinePhase::Early;
        let has_late = module.functions.iter().any(|f| f.inlining == Inlining::Late);
        while report.rounds < self.max_rounds {
            if !dirty.contains(&true) {
                if stage == InlinePhase::Late || !has_late {
                    break;
                }
                stage = InlinePhase::Late;
                dirty = vec![true; module.functions.len()];
            }
            let mut changed = vec![false; module.functions.len()];
            for (number, pass) in of_module().enumerate() {
                observer.before(pass, report.rounds, module);
                let start = Instant::now();
                let mut each_function = |run: &(dyn Fn(&mut Function) -> usize + Sync)| {
                    let functions = module.functions.par_iter_mut().zip(&dirty).zip(&mut changed);
                    let changes = functions.map(|((func, dirty), changed)| {
                        let here = if *dirty { run(func) } else { 0 };
                        *changed |= here > 0;
                        here
                    });
                    changes.sum()
                };
                let changes = match pass.work {
                    Work::Function(run) => each_function(&run),
                    Work::Configured(run) => each_function(&|func| run(func, self)),
                    Work::Module(run) => run(module, self, stage),
                    Work::Specializer(run) => run(module, self, &mut report.variants),
                    Work::Linker => 0,
                };
                if changes > 0 && matches!(pass.work, Work::Module(_) | Work::Specializer(_)) {
                    changed = vec![true; module.functions.len()];
                    dirty = changed.clone();
                }
                let pass_report = &mut report.passes[number];
                pass_report.time += start.elapsed();
                pass_report.runs += 1;
                pass_report.changes += changes;
                observer.after(pass, report.rounds, module, changes);
                if cfg!(debug_assertions) && changes > 0 {
                    verify(module).map_err(|errors| BrokenByPass { pass: pass.name, errors })?;
                }
            }
            dirty = changed;
            report.rounds += 1;
        }
        if report.passes.iter().any(|p| p.changes > 0) {
            module.functions.iter_mut().for_each(renumber::renumber);
        }
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::module;
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        Pipeline::parse(text).expect("passes").passes().map(|p| p.name).collect()
    }

    #[test]
    fn passes_are_named_or_switched_off() {
        assert_eq!(names("").len(), PASSES.len());
        assert_eq!(names("dce, fold"), ["fold", "dce"]);
        let others = PASSES.map(|p| p.name).into_iter().filter(|n| !["gvn", "inline"].contains(n));
        assert_eq!(names("-gvn,-inline"), others.collect::<Vec<_>>());
        assert_eq!(names("none"), [""; 0]);
        assert_eq!(names("all,-fold").len(), PASSES.len() - 1);
        let error = Pipeline::parse("fold,-fodl").expect_err("no such pass").to_string();
        assert!(error.starts_with("there is no pass `fodl`; the passes are `uniform`, `known`, `copy`, "), "{error}");
    }

    const PROGRAM: &str = "fn square(v0 x: f32) -> (return: f32) {
  slot s0 t: f32[1]
b0:
  v1: u32 = const 0
  v2: f32 = mul v0, v0
  slot_store s0, v1, v2
  v3: f32 = slot_load s0, v1
  ret v3
}
entry main(v0 x: f32, v1 y: f32) -> (return: f32) {
b0:
  v2: f32 = const 2.0
  v3: f32 = call square(v2)
  v4: bool = lt v2, v3
  br v4, b1, b2
b1:
  v5: f32 = call square(v0)
  jump b3(v5)
b2:
  jump b3(v1)
b3(v6: f32):
  v7: f32 = const 0.0
  v8: f32 = add v6, v7
  ret v8
}";

    #[test]
    fn the_default_pipeline_reduces_a_program_to_what_it_computes() {
        let mut m = module(PROGRAM);
        let report = Pipeline::default().run(&mut m, &mut ()).expect("the passes keep the rules");
        assert_eq!(
            m.to_string(),
            "entry main(v0 x: f32, v1 y: f32) -> (return: f32) {\nb0:\n  v2: f32 = mul v0, v0\n  ret v2\n}\n"
        );
        assert!(report.rounds < Pipeline::default().max_rounds);
        // The call of a constant is worked out, the other copied.
        for name in ["calls", "inline"] {
            assert_eq!(report.passes.iter().find(|p| p.name == name).map(|p| p.changes), Some(1), "{name}");
        }
    }

    #[test]
    fn blocks_that_choose_between_constants_become_a_selection() {
        let mut m = module(
            "entry main(v0 c: bool) -> (return: f32) {
b0:
  br v0, b1, b2
b1:
  v1: f32 = const 1.0
  jump b3(v1)
b2:
  v2: f32 = const 2.0
  jump b3(v2)
b3(v3: f32):
  ret v3
}",
        );
        Pipeline::default().run(&mut m, &mut ()).expect("the passes keep the rules");
        assert_eq!(
            m.to_string(),
            "entry main(v0 c: bool) -> (return: f32) {
b0:
  v1: f32 = const 2.0
  v2: f32 = const 1.0
  v3: f32 = select v0, v2, v1
  ret v3
}
"
        );
    }

    #[test]
    fn no_passes_change_nothing() {
        let mut m = module(PROGRAM);
        let before = m.clone();
        Pipeline::none().run(&mut m, &mut ()).expect("nothing happens");
        assert_eq!(m, before);
    }

    #[test]
    fn an_observer_sees_the_program_before_and_after_each_pass() {
        #[derive(Default)]
        struct Seen(Vec<String>);
        impl Observer for Seen {
            fn before(&mut self, pass: &Pass, round: usize, module: &Module) {
                self.0.push(format!("{round} before {} {}", pass.name, module.functions.len()));
            }
            fn after(&mut self, pass: &Pass, round: usize, module: &Module, changes: usize) {
                self.0.push(format!("{round} after {} {} {changes}", pass.name, module.functions.len()));
            }
        }
        let mut seen = Seen::default();
        let mut m = module("fn f() {\nb0:\n  ret\n}\nentry e() {\nb0:\n  ret\n}");
        Pipeline::parse("strip").expect("a pass").run(&mut m, &mut seen).expect("it keeps the rules");
        assert_eq!(seen.0, ["0 before strip 2", "0 after strip 1 1", "1 before strip 1", "1 after strip 1 0"]);
    }
}
