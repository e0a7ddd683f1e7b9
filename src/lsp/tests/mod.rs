//! The helpers that the tests of this folder share, and the test that nothing a user types brings
//! the server down.

mod rtsl;

use super::client::Client;
use super::completion::completion;
use super::definition::definition;
use super::documents::{Documents, Locate};
use super::hover::hover;
use super::outline::outline;
use super::signature::signature_help;
use super::snapshot::Snapshot;
use super::text::Encoding;
use super::{Ended, Settings, diagnostics, serve};
use lsp_server::{Connection, Message, Notification, Request, Response};
use lsp_types::{Position, Uri};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::json;
use shadewright_lang::FrontEndOptions;
use shadewright_lang::stdlib;
use std::str::FromStr;

/// A client that can do everything.
pub fn client() -> Client {
    Client {
        encoding: Encoding::Utf8,
        snippets: true,
        markdown_hover: true,
        markdown_documentation: true,
        related_information: true,
        hierarchical_outline: true,
        label_offsets: true,
        watches_files: true,
    }
}

/// An unnamed document with this text.
pub fn snapshot(text: &str) -> Snapshot {
    snapshot_as("untitled:a.sl", text)
}

/// A document of that name.
fn snapshot_as(uri: &str, text: &str) -> Snapshot {
    let uri = Uri::from_str(uri).expect("a URI");
    Snapshot::new(uri, None, text.into(), &FrontEndOptions::default(), Encoding::Utf8)
}

/// A document, and the position of the `|` in its text.
pub fn marked(text: &str) -> (Snapshot, Position) {
    marked_as("untitled:a.sl", text)
}

/// The same with a name.
pub fn marked_as(uri: &str, text: &str) -> (Snapshot, Position) {
    let offset = text.find('|').expect("a mark");
    let lines = super::text::Lines::new(text);
    let position = lines.position(text, offset, Encoding::Utf8);
    (snapshot_as(uri, &text.replacen('|', "", 1)), position)
}

/// Asks everything about some places of a text.
fn interrogate(text: &str, offsets: impl IntoIterator<Item = usize>) {
    let s = snapshot(text);
    let locate = Locate::default();
    diagnostics::for_snapshot(&s, &client(), &locate);
    outline(&s);
    let lines = super::text::Lines::new(text);
    for offset in offsets {
        let position = lines.position(text, offset, Encoding::Utf8);
        hover(&s, position, &client());
        completion(&s, position, &client());
        signature_help(&s, position, &client());
        definition(&s, position, &locate);
    }
}

fn library() -> Vec<(&'static str, &'static str)> {
    let shaders = stdlib::shader_names().filter_map(|n| Some((n, stdlib::shader_source(n)?)));
    stdlib::SOURCES.into_iter().chain(shaders).collect()
}

#[test]
fn a_shader_can_be_asked_about_while_it_is_written() {
    let text = stdlib::shader_source("paintedplastic").expect("a standard shader");
    for end in (0..text.len()).step_by(3).filter(|e| text.is_char_boundary(*e)) {
        interrogate(&text[..end], [end, end / 2]);
    }
}

#[test]
fn shaders_edited_at_random_can_be_asked_about() {
    const PIECES: [&str; 24] = [
        "{",
        "}",
        "(",
        ")",
        ";",
        ",",
        "\"",
        "/*",
        "*/",
        "//",
        "#define A A B\n",
        "#include \"",
        "\n#if 1\n",
        "illuminance(",
        "float ",
        "extern ",
        "= ",
        "surface x(",
        "1e999",
        "é",
        "\r",
        "\\\n",
        "mix(",
        "for (",
    ];
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut below = |n: usize| rng.next_u64() as usize % n.max(1);
    for (_, source) in library() {
        let mut text = source.to_string();
        for _ in 0..6 {
            let mut at = below(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let mut end = (at + below(40)).min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.replace_range(at..end.max(at), PIECES[below(PIECES.len())]);
            let offsets = [at, below(text.len() + 1), below(text.len() + 1)];
            interrogate(&text, offsets);
        }
    }
}

#[test]
fn incremental_edits_leave_the_text_that_the_editor_has() {
    let uri = Uri::from_str("untitled:a.sl").expect("a URI");
    let mut documents = Documents::new(Default::default(), client());
    documents.open(uri.clone(), 1, "surface s() { Ci = Cs; }\r\n".into());
    let change = |line, from, to, text: &str| {
        let range = lsp_types::Range::new(Position::new(line, from), Position::new(line, to));
        lsp_types::TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: text.into() }
    };
    documents.change(&uri, 2, vec![change(0, 14, 16, "Oi"), change(0, 19, 21, "Os"), change(1, 0, 0, "// é\n")]);
    assert_eq!(
        documents.snapshot(&uri).map(|s| s.text.text().to_string()).as_deref(),
        Some("surface s() { Oi = Os; }\r\n// é\n")
    );
    let reports = documents.refresh();
    assert!(reports.len() == 1 && reports[0].version == Some(2) && reports[0].diagnostics.is_empty(), "{reports:?}");
    assert!(documents.refresh().is_empty(), "nothing is said twice");
}

#[test]
fn what_is_wrong_in_an_included_file_is_shown_there_and_at_the_include() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let uri = |name: &str| super::uri::from_path(&path(name)).expect("a URI");
    std::fs::write(path("a.h"), "#include \"b.h\"\n").expect("a file");
    std::fs::write(path("b.h"), "float f() { return x; }\n").expect("a file");
    let mut documents = Documents::new(Default::default(), client());
    documents.open(uri("s.sl"), 1, "\n#include \"a.h\"\nsurface s() { Ci = f(); }\n".into());
    let messages = |documents: &mut Documents| {
        let reports = documents.refresh().into_iter();
        let list = reports.map(|r| {
            let file = super::uri::to_path(&r.uri).and_then(|p| Some(p.file_name()?.to_string_lossy().into_owned()));
            let said =
                r.diagnostics.iter().map(|d| (d.range.start.line, d.message.lines().next().unwrap_or("").to_string()));
            (file.unwrap_or_default(), said.collect::<Vec<_>>())
        });
        let mut list: Vec<_> = list.collect();
        list.sort();
        list
    };
    let unknown = "unknown variable `x`".to_string();
    let at_include = (1, format!("in the included file: {unknown}"));
    let both = [("b.h".to_string(), vec![(0, unknown)]), ("s.sl".to_string(), vec![at_include])];
    assert_eq!(messages(&mut documents), both);
    // Fixed in the editor only: the open document counts.
    documents.open(uri("b.h"), 1, "float f() { return 1; }\n".into());
    assert_eq!(messages(&mut documents), [("b.h".to_string(), vec![]), ("s.sl".to_string(), vec![])]);
    // Closed without saving: the file on disk counts again.
    documents.close(&uri("b.h"));
    assert_eq!(messages(&mut documents), both);
    std::fs::write(path("b.h"), "float f() { return 1; }\n").expect("a file");
    documents.invalidate_all();
    assert_eq!(messages(&mut documents), [("b.h".to_string(), vec![]), ("s.sl".to_string(), vec![])]);
}

#[test]
fn a_header_that_an_open_shader_includes_is_judged_as_a_part_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let uri = |name: &str| super::uri::from_path(&folder.path().join(name)).expect("a URI");
    std::fs::write(folder.path().join("a.h"), "").expect("a file");
    let mut documents = Documents::new(Default::default(), client());
    documents.open(uri("a.h"), 1, "RESULT f() { return nowhere; }\n".into());
    let count = |documents: &mut Documents, name: &str| {
        let reports = documents.refresh();
        reports
            .iter()
            .find(|r| r.uri == uri(name))
            .map(|r| r.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>())
    };
    assert!(count(&mut documents, "a.h").is_some_and(|m| m[0].contains("RESULT")));
    documents.open(uri("s.sl"), 1, "#define RESULT float\n#include \"a.h\"\nsurface s() { Ci = f(); }\n".into());
    let said = count(&mut documents, "a.h").expect("it is checked again");
    assert!(said.len() == 1 && said[0].contains("nowhere"), "{said:?}");
}

#[test]
fn a_header_outside_of_the_folder_of_an_open_shader_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("shaders")).expect("a folder");
    std::fs::write(folder.path().join("secret.h"), "float f() { return treasure; }\n").expect("a file");
    let uri = super::uri::from_path(&folder.path().join("shaders/s.sl")).expect("a URI");
    let mut documents = Documents::new(Default::default(), client());
    documents.open(uri, 1, "#include \"../secret.h\"\nsurface s() { Ci = f(); }\n".into());
    let reports = documents.refresh();
    let said: String = reports.iter().flat_map(|r| &r.diagnostics).map(|d| format!("{}\n", d.message)).collect();
    assert!(said.contains("lies outside the folders that this shader may read"), "{said}");
    assert!(!said.contains("treasure"), "{said}");
}

/// Sends messages to a server, and gives how the conversation ended and the answers.
fn converse(messages: Vec<Message>) -> (Ended, Vec<Response>) {
    let (server, editor) = Connection::memory();
    messages.into_iter().for_each(|m| editor.sender.send(m).expect("the server listens"));
    drop(editor.sender);
    let ended = serve(server, Settings::default()).expect("the server goes on");
    let responses = editor.receiver.iter().filter_map(|m| match m {
        Message::Response(r) => Some(r),
        _ => None,
    });
    (ended, responses.collect())
}

fn request(id: i32, method: &str, params: serde_json::Value) -> Message {
    Request::new(id.into(), method.to_string(), params).into()
}

fn notification(method: &str, params: serde_json::Value) -> Message {
    Notification::new(method.to_string(), params).into()
}

fn hello() -> Message {
    request(0, "initialize", json!({ "processId": null, "rootUri": null, "capabilities": {} }))
}

#[test]
fn a_conversation_ends_in_order_after_shutdown_and_exit_only() {
    let exit = || notification("exit", json!(null));
    assert_eq!(converse(vec![hello(), request(1, "shutdown", json!(null)), exit()]).0, Ended::Orderly);
    assert_eq!(converse(vec![hello(), exit()]).0, Ended::Abrupt);
    assert_eq!(converse(vec![hello()]).0, Ended::Abrupt);
    assert_eq!(converse(vec![hello(), request(1, "shutdown", json!(null))]).0, Ended::Abrupt);
    assert_eq!(converse(vec![exit()]).0, Ended::Abrupt);
    assert_eq!(converse(vec![]).0, Ended::Abrupt);
}

#[test]
fn requests_that_cannot_be_answered_get_the_right_error() {
    let wrong = json!({ "textDocument": 3 });
    let (_, responses) = converse(vec![
        hello(),
        request(1, "textDocument/hover", wrong),
        request(2, "textDocument/colors", json!({})),
        notification("$/unknown", json!({})),
        notification("textDocument/didOpen", json!([1, 2])),
        request(3, "shutdown", json!(null)),
        request(4, "textDocument/documentSymbol", json!({ "textDocument": { "uri": "untitled:a" } })),
        request(5, "textDocument/hover", json!({})),
        notification("$/cancelRequest", json!({ "id": 5 })),
        notification("exit", json!(null)),
    ]);
    let code = |i: usize| responses[i].response_result.as_ref().err().map(|e| e.code);
    let codes: Vec<_> = (1..responses.len()).map(code).collect();
    assert_eq!(codes, [Some(-32602), Some(-32601), None, Some(-32600), Some(-32800)]);
}
