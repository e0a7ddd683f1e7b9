//! Writes a syntax tree for people: one definition after another, statements indented, expressions
//! fully parenthesized.

use super::ast::*;
use crate::types::{OPEN, RESIZABLE, SourceType};

/// The tree as text.
pub fn dump(ast: &Ast) -> String {
    let mut out = String::new();
    for d in &ast.definitions {
        let kind = d.shader.map_or(d.result.name(), |k| k.name());
        let params: Vec<String> = d.params.iter().map(|p| declaration(ast, p)).collect();
        out += &format!("{kind} {}({}) {{\n", d.name.name, params.join("; "));
        d.body.iter().for_each(|s| statement(ast, s, 1, &mut out));
        out += "}\n";
    }
    out
}

fn declaration(ast: &Ast, d: &Decl) -> String {
    let mut text = String::new();
    for (word, present) in [("extern ", d.external), ("output ", d.output)] {
        if present {
            text += word;
        }
    }
    if let Some(class) = d.class {
        text += if class == crate::types::StorageClass::Uniform { "uniform " } else { "varying " };
    }
    text += &format!("{} {}", d.ty.element(), d.name.name);
    match d.ty {
        SourceType::Array(..) if d.open => text += "[]",
        SourceType::Array(_, OPEN | RESIZABLE) => text += "[]",
        SourceType::Array(_, len) => text += &format!("[{len}]"),
        SourceType::Rows(_, OPEN, each) => text += &format!("[][{each}]"),
        SourceType::Rows(_, rows, each) => text += &format!("[{rows}][{each}]"),
        _ => {}
    }
    if let Some(init) = d.init {
        text += &format!(" = {}", expression(ast, init));
    }
    text
}

fn statement(ast: &Ast, s: &Stmt, level: usize, out: &mut String) {
    let pad = "  ".repeat(level);
    let show = |e: &ExprId| expression(ast, *e);
    let body = |s: &Stmt, out: &mut String| statement(ast, s, level + 1, out);
    let lights = |word: &str, args: &[ExprId], s: &Stmt, out: &mut String| {
        let args: Vec<String> = args.iter().map(show).collect();
        *out += &format!("{pad}{word} ({})\n", args.join(", "));
        body(s, out);
    };
    match &s.kind {
        StmtKind::Declare(decls) => decls.iter().for_each(|d| *out += &format!("{pad}{};\n", declaration(ast, d))),
        StmtKind::Expr(e) => *out += &format!("{pad}{};\n", show(e)),
        StmtKind::Block(stmts) => {
            *out += &format!("{pad}{{\n");
            stmts.iter().for_each(|s| body(s, out));
            *out += &format!("{pad}}}\n");
        }
        StmtKind::If(arms, last) => {
            for (i, (condition, s)) in arms.iter().enumerate() {
                *out += &format!("{pad}{}if {}\n", if i == 0 { "" } else { "else " }, show(condition));
                body(s, out);
            }
            if let Some(s) = last {
                *out += &format!("{pad}else\n");
                body(s, out);
            }
        }
        StmtKind::While(condition, s) => {
            *out += &format!("{pad}while {}\n", show(condition));
            body(s, out);
        }
        StmtKind::For { init, condition, step, body: s } => {
            if let Some(init) = init {
                statement(ast, init, level, out);
            }
            let part = |e: &Option<ExprId>| e.as_ref().map(show).unwrap_or_default();
            *out += &format!("{pad}for (; {}; {})\n", part(condition), part(step));
            body(s, out);
        }
        StmtKind::Break(n) => *out += &format!("{pad}break {n};\n"),
        StmtKind::Continue(n) => *out += &format!("{pad}continue {n};\n"),
        StmtKind::Return(e) => *out += &format!("{pad}return {};\n", e.as_ref().map(show).unwrap_or_default()),
        StmtKind::Illuminance(args, s) => lights("illuminance", args, s, out),
        StmtKind::Gather(args, hit, miss) => {
            lights("gather", args, hit, out);
            if let Some(miss) = miss {
                *out += &format!("{pad}else\n");
                body(miss, out);
            }
        }
        StmtKind::Illuminate(args, s) => lights("illuminate", args, s, out),
        StmtKind::Solar(args, s) => lights("solar", args, s, out),
    }
}

/// A piece that is still to be written. The pieces are in a list, last first, instead of recursion,
/// as chains of operators may be very long.
enum Piece {
    Expr(ExprId),
    Text(String),
}

fn expression(ast: &Ast, e: ExprId) -> String {
    let mut out = String::new();
    let mut rest = vec![Piece::Expr(e)];
    while let Some(piece) = rest.pop() {
        match piece {
            Piece::Text(text) => out += &text,
            Piece::Expr(e) => {
                let pieces = pieces(&ast.expr(e).kind);
                rest.extend(pieces.into_iter().rev());
            }
        }
    }
    out
}

fn pieces(kind: &ExprKind) -> Vec<Piece> {
    let text = |s: &str| Piece::Text(s.to_string());
    let group = |open: String, list: &[ExprId], close: &str| {
        let mut pieces = vec![Piece::Text(open)];
        for (i, e) in list.iter().enumerate() {
            pieces.extend((i > 0).then(|| text(", ")));
            pieces.push(Piece::Expr(*e));
        }
        pieces.push(text(close));
        pieces
    };
    let place = |p: &LValue| {
        let indices = |list: &[ExprId]| list.iter().flat_map(|e| [text("["), Piece::Expr(*e), text("]")]).collect();
        let mut pieces = vec![text(&p.name.name)];
        for m in &p.members {
            pieces.extend::<Vec<_>>(indices(&m.indices));
            pieces.push(Piece::Text(format!("->{}", m.name.name)));
        }
        pieces.extend(indices(&p.indices));
        pieces
    };
    match kind {
        ExprKind::Number(x) => vec![Piece::Text(x.to_string())],
        ExprKind::String(s) => vec![Piece::Text(format!("{s:?}"))],
        ExprKind::Name(n) => vec![text(n)],
        ExprKind::Unary(op, e) => {
            vec![text(if *op == UnaryOp::Neg { "(-" } else { "(!" }), Piece::Expr(*e), text(")")]
        }
        ExprKind::Binary(op, a, b) => {
            let symbol = Piece::Text(format!(" {} ", op.symbol()));
            vec![text("("), Piece::Expr(*a), symbol, Piece::Expr(*b), text(")")]
        }
        ExprKind::Ternary(c, a, b) => {
            let [c, a, b] = [c, a, b].map(|e| Piece::Expr(*e));
            vec![text("("), c, text(" ? "), a, text(" : "), b, text(")")]
        }
        ExprKind::Tuple(list) => group("(".to_string(), list, ")"),
        ExprKind::Array(list) => group("{".to_string(), list, "}"),
        ExprKind::Call(f, args) => group(format!("{}(", f.name), args, ")"),
        ExprKind::Index(p) => place(p),
        ExprKind::Channel(name, channel) => {
            let [name, channel] = [name, channel].map(|e| Piece::Expr(*e));
            vec![name, text("["), channel, text("]")]
        }
        ExprKind::Method(p, f, args) => {
            place(p).into_iter().chain(group(format!("->{}(", f.name), args, ")")).collect()
        }
        ExprKind::Cast(ty, space, e) => {
            let space = space.as_ref().map(|s| format!("{:?} ", s.name)).unwrap_or_default();
            vec![Piece::Text(format!("({ty} {space}")), Piece::Expr(*e), text(")")]
        }
        ExprKind::Assign(op, target, e) => {
            let symbol = Piece::Text(format!(" {}= ", op.map_or("", BinaryOp::symbol)));
            place(target).into_iter().chain([symbol, Piece::Expr(*e)]).collect()
        }
    }
}
