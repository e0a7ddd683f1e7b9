use super::*;
use crate::rsl::dump::dump;
use crate::rsl::lexer::lex;
use shadewright_base::scan::scan;
use shadewright_base::text::source::{FileId, SourceMap};

fn read(source: &str) -> (Ast, Diagnostics, SourceMap) {
    let mut sources = SourceMap::new();
    let file = sources.add("t.sl", None, source);
    let mut diags = Diagnostics::new();
    let raw = scan(file, source, &mut diags);
    let ast = parse(&lex(FileId(0), &raw), &mut diags);
    (ast, diags, sources)
}

fn tree(source: &str) -> String {
    let (ast, diags, sources) = read(source);
    assert!(diags.is_empty(), "{}", diags.render(&sources));
    dump(&ast)
}

fn value(expression: &str) -> String {
    let text = tree(&format!("f() {{ return {expression}; }}"));
    let line = text.lines().nth(1).expect("a statement");
    line.trim().trim_start_matches("return ").trim_end_matches(';').to_string()
}

fn errors(source: &str) -> Vec<String> {
    let (_, diags, sources) = read(source);
    diags.iter().map(|d| format!("{} {}", sources.describe(d.labels[0].span), d.message)).collect()
}

#[test]
fn operators_bind_as_the_specification_says() {
    assert_eq!(value("a + b * c"), "(a + (b * c))");
    assert_eq!(value("a * b . c"), "(a * (b . c))");
    assert_eq!(value("a ^ b * c"), "(a ^ (b * c))");
    assert_eq!(value("a + b ^ c"), "(a + (b ^ c))");
    assert_eq!(value("-a . b"), "((-a) . b)");
    assert_eq!(value("a - b - c"), "((a - b) - c)");
    assert_eq!(value("a < b == c > d && e || f"), "((((a < b) == (c > d)) && e) || f)");
    assert_eq!(value("a ? b : c ? d : e"), "(a ? b : (c ? d : e))");
    assert_eq!(value("a = b += c + 1"), "a = b += (c + 1)");
    assert_eq!(value("!a == b"), "((!a) == b)");
}

#[test]
fn triples_casts_and_calls_are_values() {
    assert_eq!(value("color \"hsv\" (1, 0, x + 1) * 2"), "((color \"hsv\" (1, 0, (x + 1))) * 2)");
    assert_eq!(value("vector(-0.2, 0.5, 0.0)"), "(vector ((-0.2), 0.5, 0))");
    assert_eq!(value("float noise(P) + 1"), "((float noise(P)) + 1)");
    assert_eq!(value("\"a\" \"b\" == s"), "(\"ab\" == s)");
}

#[test]
fn a_shader_of_every_kind_parses() {
    let text = tree(
        "surface a(float Ka = 1, b; uniform color c = (1,1,1); output varying point p = 0;) { ; }\n\
         light b() { illuminate(P, N, 1) { Cl = 1; } solar() Cl = 2; }\n\
         imager c(); {}"
            .replace("imager c();", "imager c()")
            .as_str(),
    );
    let first = text.lines().next().expect("a line");
    assert_eq!(first, "surface a(float Ka = 1; float b; uniform color c = (1, 1, 1); output varying point p = 0) {");
    assert!(text.contains("illuminate (P, N, 1)") && text.contains("solar ()") && text.contains("imager c()"));
}

#[test]
fn statements_of_every_kind_parse() {
    let text = tree(
        "float f(float x) {\n uniform float a = 1, b;\n for (a = 0; a < 3; a += 1) { if (a > 1) break 2; else if (b > 2) continue; else ; }\n\
         while (a > 0) a -= 1;\n for (;;) { }\n illuminance(P, N, PI/2) { g(); }\n return a;\n}",
    );
    for part in ["break 2;", "else if (b > 2)", "for (; ; )", "while (a > 0)", "illuminance (P, N, (PI / 2))"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn all_errors_of_a_file_are_found_in_one_run() {
    let found = errors(
        "surface a() {\n  float x = ;\n  x = 1\n  x = 2;\n  if x > 1 { x = 3; }\n  float float;\n}\nlight b( { }\nfloat c() { return 1; }",
    );
    let lines: Vec<&str> = found.iter().map(|m| m.split(' ').next().unwrap_or("")).collect();
    assert_eq!(lines, ["t.sl:2:13", "t.sl:3:8", "t.sl:5:6", "t.sl:6:14", "t.sl:8:10"], "{found:#?}");
}

#[test]
fn a_missing_semicolon_is_shown_where_it_belongs() {
    let (_, diags, sources) = read("surface s() {\n  Ci = 1\n}\n");
    let text = diags.render(&sources);
    assert!(text.contains("t.sl:2:9") && text.contains("`;` is missing here"), "{text}");
}

#[test]
fn what_is_not_there_yet_says_so() {
    assert!(errors("surfce s() { }")[0].contains("expected a shader or a function, found `surfce`"));
}

#[test]
fn nesting_is_bounded_by_one_clear_error() {
    let parentheses = format!("f() {{ x = {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000));
    let minus = format!("f() {{ x = {}1; }}", "-".repeat(100_000));
    let blocks = format!("f() {{ {}", "{".repeat(100_000));
    let casts = format!("f() {{ x = {}1; }}", "float ".repeat(100_000));
    let functions = format!("f() {{ {}", "float g() { ".repeat(100_000));
    let indices = format!("f() {{ x = {}1; }}", "a[".repeat(100_000));
    let calls = format!("f() {{ x = {}1; }}", "f(".repeat(100_000));
    let choices = format!("f() {{ x = {}1; }}", "a ? b : ".repeat(100_000));
    let loops = format!("f() {{ {}; }}", "while (1) ".repeat(100_000));
    for source in [functions, indices, parentheses, minus, blocks, casts, calls, choices, loops] {
        let found = errors(&source);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].contains("nested more than 256 levels deep"), "{found:#?}");
    }
}

#[test]
fn chains_of_operators_and_of_else_if_may_be_long() {
    let sum = value(&vec!["a"; 100_000].join("+"));
    assert_eq!(sum.matches('+').count(), 99_999);
    let arms = vec!["if (a > 1) a = 2;"; 10_000].join(" else ");
    assert!(tree(&format!("f() {{ {arms} }}")).matches("else if").count() == 9_999);
}
