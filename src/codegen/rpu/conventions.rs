//! Calling conventions: who keeps what across a call (Węgrzanowski 2006, §7.2 and §7.3).
//!
//! [`super::calls`] says where arguments and results are; that is the same in all conventions. What
//! differs is which registers a called function may change ([`Clobbers`]) and which it has to leave
//! as they were ([`Preserved`]). A [`Plan`] answers both for every function of a module while they
//! are compiled one after the other. It knows functions by their index and signature, and nothing
//! of their code but what it changes.

use super::calls;
use super::vcode::{ALLOCATABLE, Callee, MFunc, RegisterOperand};
use super::{Abi, Error};
use shadewright_base::named::{Named, Row};
use shadewright_ir::abi::EntryPoint;
use shadewright_ir::cycles::Components;
use shadewright_ir::{Function, FunctionKind, Module, Op};
use shadewright_rpu::isa::{Mask, Reg};

/// Which registers a called function may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Convention {
    /// All of them: the caller keeps what it needs on the stack (§7.2).
    #[default]
    Simple,
    /// `R8`–`R14` come back as they were, but for arguments and results: a function that uses them
    /// saves them first (§7.3). Programs that are linked must all be compiled so.
    Mixed,
    /// The registers that the called function, with all that it calls, was seen to change (§7.3).
    /// `call_shader` may reach every entry of the module that is called like a surface, and no
    /// other; recursion changes everything.
    Interprocedural,
}

impl Named for Convention {
    const TABLE: &'static [Row<Self>] = &[
        ("simple", "Caller-saved registers only", Self::Simple),
        ("mixed", "Some registers are callee-saved", Self::Mixed),
        ("interprocedural", "Callers save only registers that the callee changes", Self::Interprocedural),
    ];
}

/// The first general register that a called function preserves under [`Convention::Mixed`]: about
/// half of them, as on the Alpha that §7.3 names.
const FIRST_PRESERVED: u8 = 8;

/// General registers that a function may use freely though its callers know what it changes: with
/// fewer, scalars would stand in each other's way in the schedule, and the others suffice for what
/// lives across its calls.
pub const FREE: u8 = 4;

/// For each general register, components that a function must leave as they were.
pub type Preserved = [Mask; ALLOCATABLE as usize];

/// Nothing has to be preserved.
pub const NOTHING: Preserved = [Mask::NONE; ALLOCATABLE as usize];

/// The registers that a call may change, besides memory, the stack above the pushed part and the
/// junk register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clobbers {
    general: [Mask; ALLOCATABLE as usize],
    inputs: [bool; 4],
    special: Mask,
    address: Mask,
    hit: bool,
}

impl Clobbers {
    /// Everything but `A.w`, the base of the thread's scratch memory, which every function
    /// restores.
    pub const ALL: Clobbers = Clobbers {
        general: [Mask::XYZW; ALLOCATABLE as usize],
        inputs: [true; 4],
        special: Mask::XYZW,
        address: Mask::XYZ,
        hit: true,
    };

    /// Everything that a function's instructions write, its calls included.
    pub fn new(f: &MFunc) -> Clobbers {
        let mut c =
            Clobbers { general: NOTHING, inputs: [false; 4], special: Mask::NONE, address: Mask::NONE, hit: false };
        for inst in f.blocks.iter().flat_map(|b| &b.insts) {
            inst.for_each_def(|place, mask| match place {
                RegisterOperand::P(Reg::R(n)) => c.change(n, mask),
                RegisterOperand::P(Reg::I(n)) => c.inputs[usize::from(n)] = true,
                RegisterOperand::P(Reg::Special) => c.special = c.special.union(mask),
                RegisterOperand::P(Reg::A) => {
                    c.address = c.address.union(Mask::from_bits(mask.bits() & Mask::XYZ.bits()))
                }
                RegisterOperand::P(Reg::Hit | Reg::HitTri | Reg::HitObj) => c.hit = true,
                RegisterOperand::P(Reg::Stack(_) | Reg::C(_)) | RegisterOperand::V(_) => {}
            });
        }
        c
    }

    fn change(&mut self, n: u8, mask: Mask) {
        if let Some(m) = self.general.get_mut(usize::from(n)) {
            *m = m.union(mask);
        }
    }

    /// These and what the other may change.
    fn union(mut self, other: &Clobbers) -> Clobbers {
        (0..ALLOCATABLE).for_each(|n| self.change(n, other.general[usize::from(n)]));
        (0..4).for_each(|n| self.inputs[n] |= other.inputs[n]);
        self.special = self.special.union(other.special);
        self.address = self.address.union(other.address);
        self.hit |= other.hit;
        self
    }

    /// Calls `f` with each place and its components.
    pub fn for_each(&self, mut f: impl FnMut(RegisterOperand, Mask)) {
        let general = self.general.iter().zip(0..).map(|(&mask, n)| (Reg::R(n), mask));
        let inputs = self.inputs.iter().zip(0..).map(|(&on, n)| (Reg::I(n), if on { Mask::XYZW } else { Mask::NONE }));
        let hit = if self.hit { Mask::XYZW } else { Mask::NONE };
        let rest = [(Reg::Special, self.special), (Reg::A, self.address), (Reg::Hit, hit)];
        for (reg, mask) in general.chain(inputs).chain(rest) {
            if !mask.is_empty() {
                f(RegisterOperand::P(reg), mask);
            }
        }
    }
}

/// The places of a function's arguments and of its results.
#[derive(Debug)]
struct Signature {
    params: Vec<(u8, Mask)>,
    results: Vec<(u8, Mask)>,
}

/// The conventions that the functions of a module may expect of each other.
#[derive(Debug)]
pub struct Plan {
    convention: Convention,
    signatures: Vec<Signature>,
    /// Functions that other functions of the module call, by name or as shaders.
    called: Vec<bool>,
    /// The functions that `call_shader` may reach, where they are known.
    shaders: Option<Vec<usize>>,
    order: Vec<usize>,
    /// The registers that functions change, once they are compiled.
    known: Vec<Option<Clobbers>>,
}

impl Plan {
    /// Looks at the signatures and calls of a module.
    ///
    /// # Errors
    /// [`Error::TooManyArguments`].
    pub fn new(module: &Module, convention: Convention, abi: Abi) -> Result<Plan, Error> {
        let signature = |f: &Function| -> Result<Signature, Error> {
            let params = calls::assign(f.params.iter().map(|p| p.ty), &f.name)?;
            let results = calls::assign(f.results.iter().map(|r| r.ty), &f.name)?;
            Ok(Signature { params, results })
        };
        let signatures = module.functions.iter().map(signature).collect::<Result<_, _>>()?;
        let surfaces: Vec<usize> = (0..module.functions.len()).filter(|&n| is_surface(&module.functions[n])).collect();
        let index = module.index();
        let callees = |f: &Function| -> Vec<u32> {
            let mut callees = Vec::new();
            for inst in f.blocks.iter().flat_map(|b| &b.insts) {
                match &inst.op {
                    Op::Call(name) => callees.extend(index.get(name).map(|&n| n as u32)),
                    Op::CallShader(_) => callees.extend(surfaces.iter().map(|&n| n as u32)),
                    _ => {}
                }
            }
            callees.sort_unstable();
            callees.dedup();
            callees
        };
        let edges: Vec<Vec<u32>> = module.functions.iter().map(callees).collect();
        let mut called = vec![false; module.functions.len()];
        edges.iter().flatten().for_each(|&n| called[n as usize] = true);
        let order = match convention {
            Convention::Interprocedural => {
                Components::new(&edges).members.into_iter().flatten().map(|n| n as usize).collect()
            }
            Convention::Simple | Convention::Mixed => (0..module.functions.len()).collect(),
        };
        // The shaders of the thesis take other arguments, so which entries they are is not known.
        let shaders = (abi == Abi::Native).then_some(surfaces);
        Ok(Plan { convention, signatures, called, shaders, order, known: vec![None; module.functions.len()] })
    }

    /// The functions in the order in which they are to be compiled.
    pub fn order(&self) -> Vec<usize> {
        self.order.clone()
    }

    /// The registers that a call may change. Results always count as changed.
    pub fn clobbers(&self, callee: Callee) -> Clobbers {
        match (self.convention, callee, &self.shaders) {
            (Convention::Simple, ..) | (_, Callee::HitShader, None) => Clobbers::ALL,
            (Convention::Mixed, Callee::Function(n), _) => mixed(&self.signatures[n]),
            (Convention::Mixed, Callee::HitShader, Some(_)) => mixed(&Signature::surface()),
            (Convention::Interprocedural, Callee::Function(n), _) => self.known[n].unwrap_or(Clobbers::ALL),
            (Convention::Interprocedural, Callee::HitShader, Some(surfaces)) => {
                let known = surfaces.iter().map(|&n| self.known[n].unwrap_or(Clobbers::ALL));
                known.reduce(|a, b| a.union(&b)).unwrap_or(Clobbers::ALL)
            }
        }
    }

    /// The components of registers that a function must leave as they were: none, if it is called
    /// from outside only.
    pub fn preserved(&self, function: usize) -> Preserved {
        if self.convention == Convention::Mixed && self.called[function] {
            let changed = mixed(&self.signatures[function]).general;
            changed.map(|m| Mask::from_bits(Mask::XYZW.bits() & !m.bits()))
        } else {
            NOTHING
        }
    }

    /// True if callers of a function profit from registers that it does not use.
    pub fn is_frugal(&self, function: usize) -> bool {
        self.convention == Convention::Interprocedural && self.called[function]
    }

    /// Notes what the finished code of a function changes.
    pub fn compiled(&mut self, function: usize, mut clobbers: Clobbers) {
        self.signatures[function].results.iter().for_each(|&(n, mask)| clobbers.change(n, mask));
        self.known[function] = Some(clobbers);
    }
}

impl Signature {
    /// That of surfaces, or the wider one of those that scatter light.
    fn surface() -> Signature {
        Signature {
            params: vec![(0, Mask::XYZ), (1, Mask::XYZ), (0, Mask::W), (2, Mask::XYZW), (3, Mask::XYZW)],
            results: vec![(0, Mask::XYZ), (1, Mask::XYZ), (2, Mask::XYZW)],
        }
    }
}

/// The registers that a function may change under [`Convention::Mixed`].
fn mixed(signature: &Signature) -> Clobbers {
    let mut c = Clobbers::ALL;
    c.general[usize::from(FIRST_PRESERVED)..].fill(Mask::NONE);
    signature.params.iter().chain(&signature.results).for_each(|&(n, mask)| c.change(n, mask));
    c
}

/// True if `call_shader` may reach a function.
fn is_surface(f: &Function) -> bool {
    matches!(f.kind, FunctionKind::Entry(EntryPoint::Surface(_)))
}
