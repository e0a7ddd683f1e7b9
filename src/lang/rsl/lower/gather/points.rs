//! `gather ("pointcloud:FILE", P, dir, angle, count, …) found [else missing]` (PRMan): runs one
//! statement for each point of a cloud near a position, nearest first, and another where there is
//! none.
//!
//! The library's `__points_near` finds the places of up to [`BATCH`] points in one walk through the
//! cloud's tree; the next walk continues after the last of them. So a loop over any number of points
//! needs one small array.

use super::super::*;
use super::{FLOATS_AND_TRIPLES, IGNORED, TRIPLES};

/// Points that one walk finds: `NEAR_BATCH` of the library.
const BATCH: u32 = 16;

/// Most points of a loop.
const MAX_POINTS: f32 = 1024.0;

/// Further options that are known, and that change nothing here.
const ALSO_IGNORED: [&str; 8] =
    ["bias", "distribution", "filterradius", "filterscale", "hitsides", "interpolate", "lerp", "subset"];

/// The part of a point that a variable receives.
enum Part {
    Position,
    Normal,
    Radius,
    /// A channel: where its values are in each point, or −1.
    Channel(Value),
}

/// The options that the pairs of a call give.
#[derive(Default)]
struct PointOptions {
    radius: Option<Value>,
    maxdist: Option<Value>,
    space: Option<ExprId>,
    parts: Vec<(Part, Ident)>,
}

impl Body<'_, '_> {
    /// The loop over points of `file`, with the statement for each and the one where there is none.
    pub(super) fn gather_points(
        &mut self,
        file: Value,
        [position, direction, angle, count]: [ExprId; 4],
        pairs: &[ExprId],
        (found, missing): (&Stmt, Option<&Stmt>),
        span: Span,
    ) -> Lower<()> {
        let f = Ident { name: "gather".into(), span };
        let position = self.value_as(position, SourceType::Point)?;
        let direction = self.value_as(direction, SourceType::Vector)?;
        let angle = self.value_as(angle, SourceType::Float)?.value;
        let count = self.value_as(count, SourceType::Float)?.value;
        let options = self.near_options(file, pairs, &f)?;
        let position = self.in_named_space(position, options.space, span)?;
        let direction = self.in_named_space(direction, options.space, span)?;
        self.at(span);
        let count = self.library_call("__count", vec![count], &f)?[0];
        let most = self.b.f32(MAX_POINTS);
        let count = self.b.min(count, most);
        let count = self.b.to_int(count, Type::U32);
        let [zero, minus_one, everywhere] = [0.0, -1.0, f32::MAX].map(|x| self.b.f32(x));
        // Where a distance is all that is given, the points' own radii do not matter.
        let radius = options.radius.unwrap_or(if options.maxdist.is_some() { everywhere } else { minus_one });
        let maxdist = options.maxdist.unwrap_or(everywhere);
        let places = self.b.slot("near_points", Type::F32, BATCH);
        let last = self.b.variable_with(minus_one);

        let batches = CountedLoop::begin(&mut self.b, count);
        let (first, end) = (batches.iteration, batches.end());
        let after = self.b.read(last);
        let mut args = vec![file, position, direction, angle, radius, maxdist, after];
        args.extend(vec![zero; BATCH as usize]);
        let near = self.library_call("__points_near", args, &f)?;
        let number = self.b.to_int(near[0], Type::U32);
        for (i, &place) in near[1..].iter().enumerate() {
            let i = self.b.u32(i as u32);
            self.b.slot_store(places, i, place);
        }
        self.b.write(last, near[BATCH as usize]);
        let (some, none, next_batch) = (self.b.block(), self.b.block(), self.b.block());
        let [nothing, full] = [0, BATCH].map(|x| self.b.u32(x));
        let is_empty = self.b.ieq(number, nothing);
        self.b.branch(is_empty, none, some);
        self.b.enter(none);
        if let Some(missing) = missing {
            let is_first = self.b.ieq(first, nothing);
            self.b.jump_unless(is_first, end);
            self.looped(LoopExits { break_to: end, continue_to: end }, missing);
        }
        self.b.jump_unless_terminated(end);

        self.b.enter(some);
        self.at(span);
        let left = self.b.isub(count, first);
        let is_less = self.b.ilt(left, number);
        let iterations = self.b.select(is_less, left, number);
        let points = CountedLoop::begin(&mut self.b, iterations);
        let place = self.b.slot_load(places, points.iteration);
        for (part, variable) in &options.parts {
            self.receive(part, variable, [file, place], options.space)?;
        }
        let next = self.b.block();
        self.looped(LoopExits { break_to: end, continue_to: next }, found);
        self.b.join(next);
        self.at(span);
        points.finish(&mut self.b, 1);
        let is_full = self.b.ieq(number, full);
        self.b.branch(is_full, next_batch, end);
        self.b.enter(next_batch);
        batches.finish(&mut self.b, BATCH);
        Ok(())
    }

    /// Gives a variable its part of the point at a place of a file.
    fn receive(
        &mut self,
        part: &Part,
        variable: &Ident,
        [file, place]: [Value; 2],
        space: Option<ExprId>,
    ) -> Lower<()> {
        let Some(var) = self.scopes.find(&variable.name).cloned() else { return Ok(()) };
        self.widen_class(&variable.name, &var, StorageClass::Varying, variable.span);
        let one = self.b.f32(1.0);
        let second = self.b.add(place, one);
        let value = match part {
            Part::Position => {
                let value = self.library_call("__points_triple", vec![file, place], variable)?[0];
                let value = Typed { value, ty: SourceType::Point, class: StorageClass::Varying };
                self.out_of_named_space(value, space, variable.span)?
            }
            Part::Normal => {
                let value = self.library_call("__points_triple", vec![file, second], variable)?[0];
                let value = Typed { value, ty: SourceType::Normal, class: StorageClass::Varying };
                self.out_of_named_space(value, space, variable.span)?
            }
            Part::Radius => self.library_call("__points_number", vec![file, second], variable)?[0],
            Part::Channel(channel) => {
                let zero = self.b.f32(0.0);
                let is_there = self.b.lt(zero, *channel);
                let offset = self.b.select(is_there, *channel, zero);
                let values = self.b.add(place, offset);
                let value = self.library_call("__points_triple", vec![file, values], variable)?[0];
                let value = if var.ty == SourceType::Float { self.b.extract(value, 0) } else { value };
                let before = self.b.read(var.storage);
                self.b.select(is_there, value, before)
            }
        };
        self.assign(&variable.name, var.storage, value);
        Ok(())
    }

    /// Sorts the pairs of a name and a value: options, and variables that receive something.
    fn near_options(&mut self, file: Value, pairs: &[ExprId], f: &Ident) -> Lower<PointOptions> {
        let mut options = PointOptions::default();
        for pair in pairs.chunks(2) {
            let (name, value) = self.gather_option(pair)?;
            let (part, types) = match &*name {
                "radius" => {
                    let (radius, zero) = (self.value_as(value, SourceType::Float)?.value, self.b.f32(0.0));
                    options.radius = Some(self.b.max(radius, zero));
                    continue;
                }
                "maxdist" => {
                    options.maxdist = Some(self.value_as(value, SourceType::Float)?.value);
                    continue;
                }
                "coordsystem" => {
                    options.space = Some(value);
                    continue;
                }
                name if IGNORED.contains(&name) || ALSO_IGNORED.contains(&name) => continue,
                "point:position" => (Part::Position, TRIPLES),
                "point:normal" => (Part::Normal, TRIPLES),
                "point:radius" => (Part::Radius, &[SourceType::Float][..]),
                name => {
                    let channel = name.strip_prefix("point:").unwrap_or(name);
                    if channel.contains(':') {
                        let message = format!("`gather` has no option \"{name}\" for point clouds: it is ignored");
                        let d = Diagnostic::warning(message).at(self.span(pair[0]), "not known");
                        self.cx.report(d.hint(
                            "it has \"radius\", \"maxdist\", \"coordsystem\", \"point:position\", \"point:normal\", \"point:radius\" and \"point:CHANNEL\"",
                        ));
                        continue;
                    }
                    let channel = self.b.constant(Const::String(channel.into()));
                    let channel = self.library_call("__points_channel", vec![file, channel], f)?[0];
                    (Part::Channel(channel), FLOATS_AND_TRIPLES)
                }
            };
            let variable = self.receiver(value, &name, types)?;
            options.parts.push((part, variable));
        }
        Ok(options)
    }
}
