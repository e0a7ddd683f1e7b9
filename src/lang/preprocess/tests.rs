use super::*;

fn run(source: &str, options: &PreprocessOptions) -> (String, Diagnostics) {
    let mut sources = SourceMap::new();
    let file = sources.add("t.sl", None, source);
    let mut diags = Diagnostics::new();
    let tokens = preprocess(&mut sources, file, options, &mut diags).tokens;
    let words: Vec<&str> = tokens.iter().map(|t| &*t.text).collect();
    (words.join(" "), diags)
}

fn ok(source: &str) -> String {
    let (text, diags) = run(source, &PreprocessOptions::default());
    assert!(!diags.has_errors(), "{diags:?}");
    text
}

fn error(source: &str) -> String {
    let (_, diags) = run(source, &PreprocessOptions::default());
    let messages: Vec<String> = diags.iter().map(|d| d.message.clone()).collect();
    assert!(diags.has_errors(), "{source}");
    messages.join("\n")
}

#[test]
fn object_and_function_macros_expand() {
    assert_eq!(ok("#define A 1 + B\n#define B 2\nA"), "1 + 2");
    assert_eq!(ok("#define SQ(x) ((x)*(x))\nSQ(a+1) SQ"), "( ( a + 1 ) * ( a + 1 ) ) SQ");
    assert_eq!(ok("#define F(a,b) a-b\nF(1,\n F((2,3),4))"), "1 - ( 2 , 3 ) - 4");
    assert_eq!(ok("#define A B\n#define B A\nA"), "A");
    assert_eq!(ok("#define F(x) x\n#define G F\nG(3) F (4)"), "3 4");
}

#[test]
fn macros_span_lines_and_join_and_quote_tokens() {
    assert_eq!(ok("#define M(a) a \\\r\n + \\\n a\nM(x)"), "x + x");
    assert_eq!(ok("#define J(a,b) a##b\nJ(foo,1)"), "foo1");
    assert_eq!(ok("#define S(a) #a\nS(x + y)"), "x + y");
}

#[test]
fn a_macro_may_take_any_number_of_arguments() {
    assert_eq!(ok("#define F(...) f(__VA_ARGS__)\nF(1, (2, 3)) F()"), "f ( 1 , ( 2 , 3 ) ) f ( )");
    assert_eq!(ok("#define P(a, ...) g(a, __VA_ARGS__)\nP(x, 1, 2)"), "g ( x , 1 , 2 )");
    assert_eq!(ok("#define P(a, rest...) g(a, ## rest)\nP(x) P(x, 1, 2)"), "g ( x ) g ( x , 1 , 2 )");
    assert_eq!(ok("#define S(...) #__VA_ARGS__\nS(a, b)"), "a , b");
    assert!(error("#define P(a, b, ...) a\nP(1)").contains("takes 3 arguments, found 1"));
    assert!(error("#define P(..., a) a").contains("not a list of names"));
    assert!(error("#define P(a ...) a\n#define P(b,,...) b").contains("not a list of names"));
}

#[test]
fn conditions_choose_one_branch() {
    let text = "#define A 3\n#if A > 2 && defined(A) && !defined B\nyes\n#elif 1\nno\n#else\nno\n#endif\n";
    assert_eq!(ok(text), "yes");
    assert_eq!(ok("#ifdef X\n#if 1\na\n#endif\n#else\nb\n#endif"), "b");
    assert_eq!(ok("#ifndef X\na\n#endif\n#undef X"), "a");
    assert_eq!(ok("#if (1 ? 2 : 0) == 2 && -1 < 0 && 7 % 4 == 3\na\n#endif"), "a");
    assert_eq!(ok("#if 0\n#bogus\n'@\n#endif\na".replace('\'', "").as_str()), "a");
}

#[test]
fn pragmas_and_line_markers_are_skipped() {
    assert_eq!(ok("#pragma annotate x\n#line 7 \"x.sl\"\n# 3 \"y.sl\"\n#\na"), "a");
}

#[test]
fn a_missing_file_is_left_out_with_a_warning() {
    let (text, diags) = run("#include \"nowhere.h\"\na", &PreprocessOptions::default());
    let warnings: Vec<&str> = diags.iter().map(|d| &*d.message).collect();
    assert_eq!((&*text, &*warnings), ("a", &["cannot find the included file `nowhere.h`: it is left out"][..]));
}

#[test]
fn wrong_directives_are_errors() {
    assert!(error("#if 1\na").contains("unterminated"));
    assert!(error("#endif").contains("without"));
    assert!(error("#if 1/0\n#endif").contains("division by zero"));
    assert!(error("#definr A").contains("unknown directive"));
    assert!(error("#define F(a) a\nF(1,2)").contains("takes 1 arguments, found 2"));
    assert!(error("#define F(a) a\nF(1").contains("unterminated"));
    assert!(error("#error stop here").contains("#error stop here"));
    let nested = format!("#if {}1{}\n#endif", "(".repeat(5000), ")".repeat(5000));
    assert!(error(&nested).contains("nested too deeply"));
}

#[test]
fn macros_that_double_each_other_stop_at_a_limit() {
    let mut text = "#define A0 x x\n".to_string();
    for i in 1..64 {
        text += &format!("#define A{i} A{0} A{0}\n", i - 1);
    }
    assert!(error(&(text + "A63")).contains("more than 1000000 tokens"));
}

#[test]
fn macro_calls_nested_in_arguments_are_bounded() {
    let text = format!("#define F(x) x\n{}1{}", "F(".repeat(100_000), ")".repeat(100_000));
    assert!(error(&text).contains("nest too deeply"));
}

#[test]
fn included_files_are_found_beside_the_file_and_on_the_path() {
    let dir = tempfile::tempdir().expect("a folder");
    let inner = dir.path().join("inc");
    std::fs::create_dir(&inner).expect("a folder");
    std::fs::write(inner.join("a.h"), b"// caf\xe9\nfrom_a").expect("a file");
    std::fs::write(dir.path().join("loop.h"), "#include \"loop.h\"\n").expect("a file");
    let main = dir.path().join("main.sl");
    let options = PreprocessOptions { include_paths: vec![inner], ..PreprocessOptions::default() };
    let run = |text: &str| {
        let mut sources = SourceMap::new();
        let file = sources.add("main.sl", Some(&main), text);
        let mut diags = Diagnostics::new();
        let tokens = preprocess(&mut sources, file, &options, &mut diags).tokens;
        (tokens.iter().map(|t| t.text.to_string()).collect::<Vec<_>>().join(" "), diags)
    };
    assert_eq!(run("#include \"a.h\"\n#include <a.h>\n").0, "from_a from_a");
    assert_eq!(run("#include \"inc/a.h\"\nx").0, "from_a x");
    // Both are beside the file, but the path comes first for `<…>`.
    std::fs::write(dir.path().join("a.h"), "beside").expect("a file");
    std::fs::write(dir.path().join("b.h"), "b_beside").expect("a file");
    assert_eq!(run("#include \"a.h\"\n#include <a.h>\n#include <b.h>\n").0, "beside from_a b_beside");
    let cycle = run("#include \"loop.h\"\n").1;
    assert!(cycle.iter().any(|d| d.message.contains("includes itself")), "{cycle:?}");
    let outside = run("#include \"../../etc/passwd\"\n#include \"/etc/passwd\"\n").1;
    assert!(outside.has_errors());
}

#[test]
fn tokens_of_a_macro_stand_where_it_was_used() {
    let mut sources = SourceMap::new();
    let file = sources.add("t.sl", None, "#define A 1 + x\n  A");
    let tokens = preprocess(&mut sources, file, &PreprocessOptions::default(), &mut Diagnostics::new()).tokens;
    assert!(tokens.iter().all(|t| sources.describe(t.span) == "t.sl:2:3"), "{tokens:?}");
}

#[test]
fn definitions_and_uses_of_macros_are_told() {
    let mut sources = SourceMap::new();
    let file = sources.add("t.sl", None, "#define A 1 + \\\n B\n#define B 2\n#define F(x) x\n  A F F(A)");
    let options = PreprocessOptions { defines: vec![("C".into(), "3".into())], ..PreprocessOptions::default() };
    let output = preprocess(&mut sources, file, &options, &mut Diagnostics::new());
    let texts: Vec<&str> = output.macros.iter().map(|m| &*m.text).collect();
    assert_eq!(texts, ["SHADEWRIGHT 1", "PRMAN 1", "C 3", "A 1 + \\\n B", "B 2", "F(x) x"]);
    let places: Vec<Option<String>> = output.macros.iter().map(|m| m.place.map(|p| sources.describe(p))).collect();
    assert_eq!(places[2], None);
    assert_eq!(places[3].as_deref(), Some("t.sl:1:9"));
    let mut uses: Vec<(String, &str)> =
        output.macro_uses.iter().map(|(s, i)| (sources.describe(*s), &*output.macros[*i].name)).collect();
    uses.sort();
    let expected = [("t.sl:5:3", "A"), ("t.sl:5:7", "F"), ("t.sl:5:9", "A")];
    assert_eq!(uses, expected.map(|(place, name)| (place.to_string(), name)));
}

#[test]
fn text_that_is_not_saved_stands_in_for_the_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let (main, header) = (dir.path().join("main.sl"), dir.path().join("a.h"));
    std::fs::write(&header, "old").expect("a file");
    let unsaved = [(header.canonicalize().expect("it is there"), "new".into())].into();
    let options = PreprocessOptions { unsaved, ..PreprocessOptions::default() };
    let mut sources = SourceMap::new();
    let file = sources.add("main.sl", Some(&main), "#include \"a.h\"\n");
    let output = preprocess(&mut sources, file, &options, &mut Diagnostics::new());
    assert_eq!(output.tokens.iter().map(|t| &*t.text).collect::<Vec<_>>(), ["new"]);
    let [include] = &output.includes[..] else { panic!("one file was included") };
    assert_eq!(sources.describe(include.place), "main.sl:1:10");
    assert_eq!(sources.get(include.file).and_then(|f| f.path.clone()), Some(header));
}

#[test]
fn tokens_that_macros_join_are_bounded() {
    let doubled = |join: &str| {
        let mut text = format!("#define J(a) {join}\n#define M0(a) J(a)\n");
        for n in 1..44 {
            text += &format!("#define M{n}(a) M{}(J(a))\n", n - 1);
        }
        error(&format!("{text}M43(abcdefgh)"))
    };
    assert!(doubled("a##a").contains("a token of more than 64 KiB"), "{}", doubled("a##a"));
    let long = "x".repeat(40 << 10);
    assert!(error(&format!("#define Q(a) #a\nQ({long} {long})")).contains("a token of more than 64 KiB"));
}

#[test]
fn headers_that_include_the_next_one_twice_are_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    for n in 0..30 {
        let next = format!("#include \"h{}.h\"\n", n + 1);
        std::fs::write(folder.path().join(format!("h{n}.h")), next.repeat(2)).expect("a header");
    }
    std::fs::write(folder.path().join("h30.h"), "").expect("a header");
    let options =
        PreprocessOptions { include_paths: vec![folder.path().to_path_buf()], ..PreprocessOptions::default() };
    let (_, diags) = run("#include \"h0.h\"", &options);
    assert!(diags.iter().any(|d| d.message.contains("included more than 10000 times")), "{diags:?}");
    assert_eq!(diags.error_count(), 1);
}
