//! Texts that the parser takes and refuses.

use crate::language::lexer::lex;
use crate::language::parser::parse;
use shadewright_base::text::diagnostics::Diagnostics;
use shadewright_base::text::source::FileId;

/// The messages of a text. As in a compilation, the parser has a large stack: without optimization,
/// the deepest nesting takes more than the 2 MiB of a test.
fn errors(text: &str) -> Vec<String> {
    let read = || {
        let mut diags = Diagnostics::new();
        let tokens = lex(FileId(0), text, &mut diags);
        parse(&tokens, &mut diags);
        diags.iter().map(|d| d.message.clone()).collect()
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(16 << 20).spawn_scoped(scope, read);
        thread.expect("a thread").join().expect("no panic")
    })
}

#[test]
fn all_forms_of_statements_are_read() {
    let text = "
        MACRO none {};
        MACRO f(a, b | c) => (d | e) BEGIN d:= a; e:= b'c END;
        MACRO input=>(x) x:= 1;
        a, b:= f(1, 2), none;
        IF a = b THEN a:= 1 EF a THEN { } ELSE BREAK;
        WHILE a ~= 0 DO a:= a - 1;
        DO { BREAK; } UNTIL NOT a AND b;
        REPEAT a:= 1; b:= 2 UNTIL a;
        CASE a'b OF 0: a:= 1 1, 2: { b:= 2 }; 3: b:= 3 ELSE ;
        DO p.put(-a + 3#4'b[7:0]).delay(5).put(b[i]);
        \"text\" a AND b;
        c:= IF a THEN b EF b THEN c ELSE CASE a OF 0: 1 ELSE 2;
    ";
    assert_eq!(errors(text), [""; 0]);
}

#[test]
fn several_errors_are_found_in_one_run() {
    let text = "a:= ;\nb:= 1\nc:= 2;\n{ d:= (1; e:= 2 };\nIF a b:= 1;\nDO { IF a THEN { b:= } };\nf:= 1 +";
    let found = errors(text);
    assert_eq!(found.len(), 6, "{found:#?}");
    assert_eq!(found[1], "expected `;` after this statement, found `c`");
}

#[test]
fn what_nests_too_deep_is_refused() {
    for text in ["(", "{", "IF a THEN ", "- ", "NOT ", "DO ", "1 + (", "(IF a THEN ", "CASE a OF 0:"] {
        let found = errors(&text.repeat(10_000));
        assert!(found.iter().any(|m| m.contains("nested more than")), "{text}: {found:?}");
    }
    let chain = format!("IF a THEN {}", "EF a THEN ".repeat(10_000));
    assert!(errors(&chain)[0].contains("nested more than"));
    let sum = format!("a:= {}1", "1 + ".repeat(10_000));
    assert!(errors(&sum)[0].contains("nested more than"));
    let chain = format!("p{}", ".put(1)".repeat(10_000));
    assert!(errors(&chain)[0].contains("nested more than"));
}

#[test]
fn printed_programs_that_lack_a_separator_are_refused() {
    // C.3, lines 70 and 71; C.6, lines 74 and 75: no `;` between statements.
    assert_eq!(errors("temp:= fetch(address) + 1\nstore(address,temp);").len(), 1);
    assert_eq!(errors("dx:= x2 - x1;  absx:= abs(dx)\ndy:= y2 - y1").len(), 1);
}
