//! Lengths of shader parameters that are arrays declared without one, `float a[]` (RSL 2.0): as
//! many elements as a scene gives, else as many as the default has.
//!
//! Takes a parsed syntax tree and gives every such parameter of a shader a length. A parameter of a
//! function stays open: its callers decide. It knows no scene: the lengths that one gives are
//! [`Lengths`].

use super::ast::{Ast, Decl, ExprKind};
use crate::language::Lengths;
use crate::types::SourceType;
use shadewright_base::text::diagnostics::{Diagnostic, Diagnostics};
use std::sync::Arc;

/// Gives the parameters of a file's shaders their lengths, and those of its functions that have a
/// list of values by default the length of that.
pub fn settle(ast: &mut Ast, lengths: &Lengths, diags: &mut Diagnostics) {
    let mut definitions = std::mem::take(&mut ast.definitions);
    let mut classes = std::mem::take(&mut ast.classes);
    for d in definitions.iter_mut().chain(classes.iter_mut().flat_map(|c| &mut c.methods)) {
        let shader = d.shader.map(|_| &d.name.name);
        d.params.iter_mut().for_each(|p| parameter(ast, p, shader, lengths, diags));
    }
    for class in &mut classes {
        class.params.iter_mut().for_each(|p| parameter(ast, p, Some(&class.name.name), lengths, diags));
    }
    (ast.definitions, ast.classes) = (definitions, classes);
}

/// Settles a parameter of a shader, or of a function, which has no name here.
fn parameter(ast: &Ast, p: &mut Decl, shader: Option<&Arc<str>>, lengths: &Lengths, diags: &mut Diagnostics) {
    let SourceType::Array(element, _) = p.ty else { return };
    if !p.ty.is_unsized() {
        return;
    }
    let listed = match p.init.map(|e| ast.expr(e)) {
        None => 0,
        Some(e) => match &e.kind {
            ExprKind::Array(list) => list.len() as u32,
            _ => {
                let d = Diagnostic::error(format!(
                    "the default of `{}`, an array without a length, must be a list",
                    p.name.name
                ));
                diags.push(d.at(e.span, "not a list in braces").hint("declare the array with a length"));
                0
            }
        },
    };
    let Some(shader) = shader else {
        if listed > 0 {
            p.ty = SourceType::Array(element, listed);
        }
        return;
    };
    p.open = true;
    match lengths.get(&(shader.clone(), p.name.name.clone())) {
        // The values are the scene's then.
        Some(&given) => (p.ty, p.init) = (SourceType::Array(element, given), None),
        None => p.ty = SourceType::Array(element, listed),
    }
    p.init = p.init.filter(|_| listed > 0 && p.ty.capacity() > 0);
}

#[cfg(test)]
mod tests {
    use super::super::{FrontEndOptions, ShaderParam, compile};
    use super::*;
    use shadewright_base::text::source::SourceMap;

    fn params(source: &str, lengths: &Lengths) -> Vec<ShaderParam> {
        let mut sources = SourceMap::new();
        let file = sources.add("test.sl", None, source);
        let options = FrontEndOptions { lengths: lengths.clone(), ..FrontEndOptions::default() };
        let unit = compile(&mut sources, file, &options).unwrap_or_else(|e| panic!("{}", e.render(&sources)));
        assert!(unit.warnings.iter().next().is_none(), "{}", unit.warnings.render(&sources));
        unit.shaders[0].params.clone()
    }

    #[test]
    fn an_array_without_a_length_is_as_long_as_its_default() {
        let source = "surface s(float a[] = {1, 2, 3}; color b[] = {}; string c[]; float d[2]) { Ci = a[2] * b[4]; }";
        let params = params(source, &Lengths::new());
        let types: Vec<String> = params.iter().map(|p| p.ty.to_string()).collect();
        assert_eq!(types, ["float[3]", "color[0]", "string[0]", "float[2]"]);
        assert_eq!(params.iter().map(|p| p.open).collect::<Vec<_>>(), [true, true, true, false]);
    }

    #[test]
    fn what_a_scene_gives_decides_and_takes_the_place_of_the_default() {
        let key = |shader: &str, p: &str| (Arc::from(shader), Arc::from(p));
        let lengths = Lengths::from([(key("s", "a"), 2), (key("other", "b"), 7), (key("s", "d"), 9)]);
        let source = "surface s(float a[] = {1, 2, 3}; color b[] = {}; float d[2]) { Ci = a[1] * b[0]; }";
        let types: Vec<String> = params(source, &lengths).iter().map(|p| p.ty.to_string()).collect();
        assert_eq!(types, ["float[2]", "color[0]", "float[2]"]);
        let class = "class s(float a[] = {};) { public void surface(output color Ci, Oi) { Ci = arraylength(a); } }";
        assert_eq!(params(class, &lengths)[0].ty.to_string(), "float[2]");
    }
}
