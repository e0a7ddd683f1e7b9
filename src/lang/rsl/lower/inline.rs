//! Calls of functions that ask for what only a shader's instance knows: their bodies become part of
//! the shader.
//!
//! A function that makes a string of its parameters, or asks for an attribute, an option, or the
//! parameter of another shader ([`Program::is_inlined`]), has no named inputs of its own. Where a
//! shader calls it, its statements are lowered in place, with what is known of the arguments.

use super::arrays::NO_VALUE;
use super::calls::Given;
use super::*;
use shadewright_ir::BlockId;

/// How deep such calls nest.
const MAX_DEPTH: usize = 16;

/// How many of them a shader has.
const MAX_CALLS: usize = 256;

/// A function whose statements are being lowered in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inlined {
    /// The function.
    function: usize,
    /// Where `return` goes.
    pub end: BlockId,
    /// The variable that `return` sets.
    pub result: Option<Variable>,
}

impl Body<'_, '_> {
    /// True if a call here is replaced by the function's statements.
    pub(super) fn is_inlined_here(&mut self, function: usize, f: &Ident) -> bool {
        if self.shader.is_none() || !self.cx.program.is_inlined(function) {
            return false;
        }
        let is_recursive = self.inlined.iter().any(|i| i.function == function);
        if is_recursive || self.inlined.len() == MAX_DEPTH || self.inlined_calls == MAX_CALLS {
            let message = format!("this call of `{}` finds no strings, attributes, options and messages", f.name);
            let label = if is_recursive { "a recursive call" } else { "one call too many" };
            self.cx.report(Diagnostic::warning(message).at(f.span, label));
            return false;
        }
        true
    }

    /// Lowers the statements of a function in place of a call. `given` are the arguments.
    pub(super) fn inline(&mut self, function: usize, f: &Ident, args: &[ExprId], given: Given) -> Lower<Typed> {
        let program = self.cx.program;
        let d = program.definition(function);
        let Given { mut values, mut written, class, .. } = given;
        let known: Vec<Option<StringExpr>> = args.iter().map(|a| self.known_string(*a)).collect();
        let of_arguments = written.len();
        for variable in d.captured() {
            let place = self.captured(variable, f)?;
            values.extend(self.read_all_of(&place));
            if variable.output {
                written.push((place.ty, Some(place)));
            }
        }
        self.inlined_calls += 1;
        let checker = std::mem::replace(&mut self.checker, Checker::new(program, false));
        let changed = std::mem::replace(&mut self.changed, strings::changed(program, &d.body));
        let result_type = std::mem::replace(&mut self.result, d.result);
        let (declared, loops) = (std::mem::take(&mut self.scopes.declared), std::mem::take(&mut self.loops));
        // Editors have noted the function's variables where it is defined.
        let symbols = self.cx.symbols.take();

        let mut scope = HashMap::new();
        let mut values = values.into_iter();
        for (i, p) in d.params.iter().enumerate() {
            let mut var = self.declared_var(p.ty, p.class.unwrap_or(class), &p.name);
            let own: Vec<Value> = values.by_ref().take(p.ty.values().count()).collect();
            self.assign_all(&p.name.name, &var, &own);
            if matches!(p.ty, SourceType::String | SourceType::Float) && !self.changed.contains(&p.name.name) {
                var.text = known.get(i).cloned().flatten();
            }
            scope.insert(p.name.name.clone(), var);
        }
        self.scopes.declared = vec![scope, HashMap::new()];
        let end = self.b.block();
        let result = d.result.ir().map(|ty| {
            let (variable, zero) = (self.b.variable(ty), self.b.constant(Const::zero(ty)));
            self.b.write(variable, zero);
            variable
        });
        self.inlined.push(Inlined { function, end, result });
        self.statements(&d.body);
        self.b.join(end);
        self.inlined.pop();
        let outputs = d.params.iter().filter(|p| p.output).filter_map(|p| self.scopes.declared[0].get(&p.name.name));
        let outputs: Vec<Var> = outputs.cloned().collect();
        let changes: Vec<Vec<Value>> = outputs.iter().map(|var| self.read_all(var)).collect();
        let value = result.map_or(NO_VALUE, |variable| self.b.read(variable));

        self.cx.symbols = symbols;
        (self.scopes.declared, self.loops) = (declared, loops);
        (self.checker, self.changed, self.result) = (checker, changed, result_type);
        self.at(f.span);
        for (i, ((_, place), values)) in written.into_iter().zip(changes).enumerate() {
            let Some(place) = place else { continue };
            if i < of_arguments {
                self.widen_class(&place.name.name, &place.var, class, place.name.span);
            }
            self.write_all(&place, &values);
        }
        Ok(Typed { value, ty: d.result, class: StorageClass::Varying })
    }
}
