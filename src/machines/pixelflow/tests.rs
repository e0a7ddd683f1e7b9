//! Programs on the simulated pixels compute what the evaluator computes, and no two values that
//! live at once share a byte.

use super::compile::{Compiled, Compiler};
use super::memory::{Address, Memory};
use super::prepare::prepare;
use super::task::{Fault, Holder, Step, Task, World};
use super::times::Times;
use super::widths::for_type;
use shadewright_base::text::source::FileId;
use shadewright_ir::eval::{EmptyWorld, Limits, eval};
use shadewright_ir::random::{self, Random, Shape};
use shadewright_ir::{Const, Module, Terminator, Value, parse};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

/// The components of constants, as words.
fn words(constants: &[Const]) -> Vec<u32> {
    constants.iter().flat_map(Const::bits).collect()
}

/// Runs `f` for some pixels, with arguments that vary as `varying` says of each component; those
/// that do not are taken from the first pixel.
fn run(module: &Module, args: &[Vec<Const>], varying: &[bool], budget: u32) -> Result<Vec<Vec<u32>>, Fault> {
    let compiler = Compiler::new(module);
    let code = compiler.function(&Arc::from("f"), varying, false).expect("a function");
    let world = World { compiler: &compiler, constants: &[], image: &[], hits: &[], times: &Times::default(), budget };
    let mut memory = Memory::new(args.len());
    let lanes: Rc<Vec<u32>> = Rc::new((0..args.len() as u32).collect());
    let mut top = 0;
    let mut place = |ty| {
        let address = Address { first: top, width: for_type(ty) };
        top += 4;
        address
    };
    let rows: Vec<Vec<u32>> = args.iter().map(|a| words(a)).collect();
    let mut holders = Vec::new();
    let mut stores = Vec::new();
    for (k, param) in code.function.params.iter().enumerate() {
        if !varying[k] {
            holders.push(Holder::Uniform(rows[0][k]));
            continue;
        }
        let address = place(param.ty);
        stores.push((address, rows.iter().map(|r| r[k]).collect::<Vec<u32>>()));
        holders.push(Holder::Memory(address));
    }
    let results: Vec<Option<Address>> =
        code.function.results.iter().zip(&code.results).map(|(r, varies)| varies.then(|| place(r.ty))).collect();
    memory.reserve(top + code.allocation.frame).map_err(|_| Fault::Memory(shadewright_ir::Loc::NONE))?;
    stores.into_iter().for_each(|(address, row)| memory.store(address, &lanes, &row));
    let mut task = Task::new(code.clone(), holders, results.clone(), lanes.clone(), top, budget);
    assert!(matches!(task.run(&world, &mut memory, &|_, _| false)?, Step::Done));
    let word = |lane: u32, k: usize| match results[k] {
        Some(address) => memory.get(address, lane),
        None => task.returned[k],
    };
    Ok(lanes.iter().map(|&lane| (0..results.len()).map(|k| word(lane, k)).collect()).collect())
}

/// True if a value is alive at the start of each block, found path by path: an independent
/// computation of what the allocator takes from `Lifetimes`.
fn alive_after(c: &Compiled, v: Value) -> HashSet<(u32, usize)> {
    // Walks from each use backwards to the definition.
    let f = &c.function;
    let preds = f.predecessors();
    let mut points = HashSet::new();
    let mut work: Vec<(u32, usize)> = Vec::new();
    let reads = |args: &[Value]| {
        // A virtual value reads what it is computed from.
        let mut all = args.to_vec();
        let mut at = 0;
        while at < all.len() {
            if c.homes[all[at].0 as usize] == super::homes::Home::Virtual
                && let Some(inst) = c.definitions.get(&all[at])
            {
                all.extend(&inst.args);
            }
            at += 1;
        }
        all.contains(&v)
    };
    for id in &c.flow.order {
        let block = f.block(*id);
        for (i, inst) in block.insts.iter().enumerate() {
            let is_virtual = inst.results.iter().any(|r| c.homes[r.0 as usize] == super::homes::Home::Virtual);
            if !is_virtual && reads(&inst.args) {
                work.push((id.0, i));
            }
        }
        let mut args = Vec::new();
        match &block.term {
            Terminator::Branch(cond, ..) => args.push(*cond),
            Terminator::Return(values) => args.extend(values),
            Terminator::Jump(_) => {}
        }
        args.extend(block.term.targets().flat_map(|t| &t.args));
        if reads(&args) {
            work.push((id.0, block.insts.len()));
        }
    }
    // (block, i): it is alive before instruction i.
    while let Some((b, i)) = work.pop() {
        if !points.insert((b, i)) {
            continue;
        }
        let block = &f.blocks[b as usize];
        match i {
            0 if block.params.contains(&v) => {}
            0 => work.extend(
                preds[b as usize].iter().filter(|p| c.flow.order.contains(p)).map(|p| (p.0, f.block(*p).insts.len())),
            ),
            _ if block.insts[i - 1].results.contains(&v) => {}
            _ => work.push((b, i - 1)),
        }
    }
    points
}

fn check_interference(c: &Compiled) {
    let kept: Vec<Value> = (0..c.function.values.len() as u32).map(Value).filter(|v| c.place(*v).is_some()).collect();
    let alive: Vec<HashSet<(u32, usize)>> = kept.iter().map(|v| alive_after(c, *v)).collect();
    for (i, a) in kept.iter().enumerate() {
        for (j, b) in kept.iter().enumerate().skip(i + 1) {
            let (Some(x), Some(y)) = (c.place(*a), c.place(*b)) else { continue };
            let apart =
                x.offset + u32::from(x.width.bytes) <= y.offset || y.offset + u32::from(y.width.bytes) <= x.offset;
            let both = alive[i].intersection(&alive[j]).min();
            assert!(
                apart || both.is_none(),
                "{a:?} at {x:?} and {b:?} at {y:?} live at {both:?} in {}",
                c.function.name
            );
        }
        let place = c.place(*a).expect("it is kept");
        assert!(place.offset + u32::from(place.width.bytes) <= c.allocation.frame);
    }
    assert!(c.allocation.live <= c.allocation.frame);
}

#[test]
fn random_programs_compute_the_same_from_pixel_memory_and_values_alive_at_once_share_no_byte() {
    let mut random = Random::new(5);
    for number in 0..120 {
        let shape = Shape { statements: 10 + number % 40, ..Shape::default() };
        let module = random::module(&mut random, shape);
        // Calls of helpers stay calls in half of the programs.
        let keep: &[&str] = if number % 2 == 0 { &["f", "g", "h"] } else { &["f"] };
        let prepared = prepare(module.clone(), keep).expect("the passes keep the rules");
        let args: Vec<Vec<Const>> = (0..5).map(|_| random::arguments(&mut random)).collect();
        let count = words(&args[0]).len();
        let varying: Vec<bool> = (0..count).map(|_| random.below(4) > 0).collect();
        // What is uniform is what the first pixel has.
        let mut module_args = args.clone();
        for pixel in &mut module_args {
            let mut k = 0;
            for (value, first) in pixel.iter_mut().zip(&args[0]) {
                let ty = value.ty();
                let (own, common) = (value.bits(), first.bits());
                let bits: Vec<u32> = (0..own.len()).map(|i| if varying[k + i] { own[i] } else { common[i] }).collect();
                k += own.len();
                *value = match ty {
                    shadewright_ir::Type::Bool => Const::Bool(bits[0] != 0),
                    shadewright_ir::Type::I32 => Const::I32(bits[0] as i32),
                    shadewright_ir::Type::U32 => Const::U32(bits[0]),
                    _ => {
                        let floats: Vec<f32> = bits.iter().map(|b| f32::from_bits(*b)).collect();
                        Const::from_floats(&floats).expect("a vector")
                    }
                };
            }
        }
        let got = run(&prepared.module, &module_args, &varying, 100_000).expect("it ends");
        for (pixel, got) in module_args.iter().zip(got) {
            let expected = eval(&module, "f", pixel, &mut EmptyWorld, Limits::default()).expect("it ends");
            let same = |(a, b): (&u32, &u32)| {
                let zeros = (a | b) << 1 == 0;
                a == b || zeros
            };
            let expected = words(&expected);
            assert!(expected.iter().zip(&got).all(same), "program {number}: {expected:x?} {got:x?}\n{module}");
        }
        let compiler = Compiler::new(&prepared.module);
        check_interference(&compiler.function(&Arc::from("f"), &varying, false).expect("a function"));
    }
}

#[test]
fn loops_that_pixels_leave_at_different_times_give_each_pixel_its_own_count() {
    let module = parse(
        "entry f(v0 n: u32, v1 x: u32) -> (r: u32, s: u32) {
b0:
  v2: u32 = const 0
  v3: u32 = const 1
  jump b1(v2, v1)
b1(v4: u32, v5: u32):
  v6: bool = ilt v4, v0
  br v6, b2, b3
b2:
  v7: u32 = iadd v4, v3
  v8: u32 = iadd v5, v5
  jump b1(v7, v8)
b3:
  ret v4, v5
}",
        FileId(0),
    )
    .expect("IR");
    let args: Vec<Vec<Const>> = [3, 0, 7, 1].map(|n| vec![Const::U32(n), Const::U32(1)]).into();
    let prepared = prepare(module, &["f"]).expect("valid");
    let got = run(&prepared.module, &args, &[true, false], 1000).expect("it ends");
    assert_eq!(got, [[3, 8], [0, 1], [7, 128], [1, 2]]);
    assert!(matches!(run(&prepared.module, &args, &[true, false], 5), Err(Fault::Budget(_))));
}

#[test]
fn a_shader_with_thousands_of_values_is_compiled_and_its_bytes_are_counted() {
    // All sums are needed at the end.
    let mut text = "entry f(v0 x: f32) -> (r: f32) {\nb0:\n".to_string();
    let count = 1500;
    for i in 1..=count {
        text += &format!("  v{i}: f32 = mul v{}, v{}\n", i - 1, i - 1);
    }
    let mut sum = count;
    for i in (1..count).rev() {
        text += &format!("  v{}: f32 = add v{sum}, v{i}\n", sum.max(count) + 1);
        sum = sum.max(count) + 1;
    }
    text += &format!("  ret v{sum}\n}}");
    let prepared = prepare(parse(&text, FileId(0)).expect("IR"), &["f"]).expect("valid");
    let compiler = Compiler::new(&prepared.module);
    let code = compiler.function(&Arc::from("f"), &[true], false).expect("a function");
    assert!(code.allocation.frame > 4000, "{}", code.allocation.frame);
    assert!(code.allocation.live <= code.allocation.frame);
}
