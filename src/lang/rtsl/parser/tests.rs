use super::*;
use crate::rtsl::lexer::lex;
use shadewright_base::scan::scan;
use shadewright_base::text::source::FileId;

fn read(source: &str) -> (Ast, Vec<String>) {
    let mut diags = Diagnostics::new();
    let raw = scan(FileId(0), source, &mut diags);
    let ast = parse(&lex(FileId(0), &raw), &mut diags);
    (ast, diags.iter().map(|d| d.message.clone()).collect())
}

fn tree(source: &str) -> Ast {
    let (ast, messages) = read(source);
    assert!(messages.is_empty(), "{source}: {messages:?}");
    ast
}

/// An expression with all its brackets.
fn bracketed(ast: &Ast, e: ExprId) -> String {
    let b = |e: &ExprId| bracketed(ast, *e);
    match &ast.expr(e).kind {
        ExprKind::Int(x) => x.to_string(),
        ExprKind::Float(x) => format!("{x:?}"),
        ExprKind::Bool(x) => x.to_string(),
        ExprKind::String(text) => format!("{text:?}"),
        ExprKind::Null => "null".to_string(),
        ExprKind::This => "this".to_string(),
        ExprKind::Name(n) => n.to_string(),
        ExprKind::Unary(UnaryOp::Neg, a) => format!("(-{})", b(a)),
        ExprKind::Unary(UnaryOp::Not, a) => format!("(!{})", b(a)),
        ExprKind::Unary(UnaryOp::Complement, a) => format!("(~{})", b(a)),
        ExprKind::Step { place, up, before } => {
            let sign = if *up { "++" } else { "--" };
            if *before { format!("({sign}{})", b(place)) } else { format!("({}{sign})", b(place)) }
        }
        ExprKind::Binary(op, x, y) => format!("({} {} {})", b(x), op.symbol(), b(y)),
        ExprKind::Ternary(c, x, y) => format!("({} ? {} : {})", b(c), b(x), b(y)),
        ExprKind::Assign(op, x, y) => format!("({} {}= {})", b(x), op.map_or("", BinaryOp::symbol), b(y)),
        ExprKind::Sequence(x, y) => format!("({}, {})", b(x), b(y)),
        ExprKind::Index(x, i) => format!("{}[{}]", b(x), b(i)),
        ExprKind::Member(x, m) => format!("{}.{}", b(x), m.name),
        ExprKind::Call(f, args) => format!("{}({})", f.name, args.iter().map(b).collect::<Vec<_>>().join(", ")),
        ExprKind::Construct(ty, args) => {
            let name = match &ty.base {
                BaseType::Basic(ty) => ty.name().to_string(),
                BaseType::Named(name) => name.to_string(),
            };
            format!("{name}({})", args.iter().map(b).collect::<Vec<_>>().join(", "))
        }
        ExprKind::Method(x, f, args) => {
            format!("{}.{}({})", b(x), f.name, args.iter().map(b).collect::<Vec<_>>().join(", "))
        }
    }
}

fn expression(text: &str) -> String {
    let ast = tree(&format!("class c : rt_Material; void f() {{ {text}; }}"));
    let body = ast.classes[0].methods[0].body.as_ref().expect("statements");
    match body[0].kind {
        StmtKind::Expr(e) => bracketed(&ast, e),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_in_glsl() {
    for (text, expected) in [
        ("a = b + c * d", "(a = (b + (c * d)))"),
        ("a - b - c", "((a - b) - c)"),
        ("a = b = c", "(a = (b = c))"),
        ("a < b && c > d || e ^^ f", "(((a < b) && (c > d)) || (e ^^ f))"),
        ("a & b == c", "(a & (b == c))"),
        ("a << 1 + 2", "(a << (1 + 2))"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("-a.xy[1]++", "(-(a.xy[1]++))"),
        ("++a.b", "(++a.b)"),
        ("a += b, c %= 2", "((a += b), (c %= 2))"),
        ("vec3(1., 2, b).zyx * mat2x3(1)", "(vec3(1.0, 2, b).zyx * mat2x3(1))"),
        ("tex.lookup()", "tex.lookup()"),
        ("tex[1].lookup(void)", "tex[1].lookup()"),
        ("f(float[2](1, 2).length(), -1.f)", "f(float(1, 2).length(), (-1.0))"),
        ("!any(lessThan(a, b))", "(!any(lessThan(a, b)))"),
    ] {
        assert_eq!(expression(text), expected, "{text}");
    }
}

#[test]
fn what_stands_behind_a_class_belongs_to_it() {
    let ast = tree(
        "const float k = 2.;
         float twice(float x) { return k * x; }
         class A : rt_Primitive, rt_Material;
         public unit vec3 n, m[2];
         scratch float t;
         struct Pair { float a, b; };
         void constructor(vec3 n0) { n = n0; }
         void intersect();
         class B : A;
         private const int count = 3;
         rt_Texture tex;
         void shade(void) { ambient(rt_HitPoint, n) a = b; else { c = d; } illuminance(p, n, PI) for (;;) break; do a++; while (a < 3); }",
    );
    assert_eq!((ast.constants.len(), ast.functions.len(), ast.classes.len()), (1, 1, 2));
    let [a, b] = &ast.classes[..] else { panic!("two classes") };
    assert_eq!(a.bases.iter().map(|b| &*b.name).collect::<Vec<_>>(), ["rt_Primitive", "rt_Material"]);
    let kept: Vec<_> = a.variables.iter().map(|v| (&*v.name.name, v.qualifier, v.unit, v.ty.lengths.len())).collect();
    assert_eq!(
        kept,
        [("n", Qualifier::Public, true, 0), ("m", Qualifier::Public, true, 1), ("t", Qualifier::Scratch, false, 0)]
    );
    assert_eq!((a.structs.len(), a.methods.len(), a.methods[1].body.is_none()), (1, 2, true));
    assert_eq!(b.variables[0].qualifier, Qualifier::Const);
    assert_eq!(b.variables[1].ty.base, BaseType::Named("rt_Texture".into()));
    assert_eq!(b.methods[0].body.as_ref().map(Vec::len), Some(3));
}

#[test]
fn errors_say_what_is_meant() {
    for (source, message) in [
        ("class A { }", "unexpected `{` after the head of a class"),
        ("class A : ;", "expected a class or an interface, found `;`"),
        ("class A : rt_Material; class A : rt_Light;", "the class `A` is declared twice"),
        ("uniform float a;", "`uniform` is not supported"),
        ("class A; varying float a;", "`varying` is not supported"),
        ("class A; void shade() { discard; }", "`discard` is not supported"),
        ("class A; sampler2D s;", "textures are objects"),
        ("class A; void f() { public float a; }", "`public` is allowed on variables of classes only"),
        ("class A; public scratch float a;", "conflicting storage qualifiers"),
        ("float a;", "only constants can be declared before the first class"),
        ("class A; void f() { a + b = c; }", "the left side of `=` must be a variable or a part of one"),
        ("class A; void f() { 3++; }", "the operand of `++` must be a variable"),
        ("class A; void f() { float a }", "expected `;` after the declaration, found `}`"),
        ("class A; void f() { if (a { b; } }", "expected `)` after the condition"),
        ("class A; void f() {", "unclosed block"),
        ("class A; struct S { };", "a struct needs at least one member"),
        ("class A; void f() { float for = 1; }", "expected the name of a variable, found `for`"),
    ] {
        let (_, messages) = read(source);
        assert!(messages.len() == 1 && messages[0].contains(message), "{source}: {messages:?}");
    }
}

#[test]
fn one_run_finds_the_errors_of_several_statements() {
    let (_, messages) = read("class A; void f() { a = ; b = 1; c = ); } void g() { d = * 2; }");
    assert_eq!(messages.len(), 3, "{messages:?}");
}

#[test]
fn nesting_has_an_end_and_chains_have_none() {
    let deep = format!("class A; void f() {{ a = {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000));
    let (_, messages) = read(&deep);
    assert!(messages.len() == 1 && messages[0].contains("nested more than 256 levels"), "{messages:?}");
    let chain = format!("class A; void f() {{ a = 1{}; }}", " + 1".repeat(100_000));
    tree(&chain);
    let choices = format!("class A; void f() {{ {} b; }}", "if (a) b; else ".repeat(10_000));
    tree(&choices);
}
