//! A whole conversation with `shadewright lsp` over pipes, as an editor has it.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Far more than any answer takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// The editor's side.
struct Editor {
    server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that were not waited for yet.
    kept: Vec<Value>,
    next_id: i32,
}

impl Editor {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_shadewright"))
            .arg("lsp")
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program was built with the tests");
        let output = server.stdout.take().expect("a pipe");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = server.stdin.take();
        Self { server, input, messages, kept: Vec::new(), next_id: 1 }
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        let input = self.input.as_mut().expect("the conversation goes on");
        // In two pieces, as pipes may deliver it.
        let framed = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let (first, second) = framed.as_bytes().split_at(framed.len() / 2);
        input.write_all(first).and_then(|_| input.flush()).expect("the server reads");
        input.write_all(second).and_then(|_| input.flush()).expect("the server reads");
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }));
    }

    #[track_caller]
    /// Waits for the first message that `wanted` accepts.
    fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(i) = self.kept.iter().position(&wanted) {
            return self.kept.remove(i);
        }
        loop {
            let Ok(message) = self.messages.recv_timeout(PATIENCE) else {
                panic!("no answer; there is {:?}", self.kept)
            };
            if wanted(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    #[track_caller]
    fn answer(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(json!({ "id": id, "method": method, "params": params }));
        self.wait(|m| m["id"] == id && m.get("method").is_none())
    }

    #[track_caller]
    fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    #[track_caller]
    /// The diagnostics that the server sends next for a file: the line of each and the first line
    /// of its message.
    fn diagnostics(&mut self, uri: &str) -> Vec<(u64, String)> {
        let report = self.wait(|m| m["method"] == "textDocument/publishDiagnostics" && m["params"]["uri"] == uri);
        let list = report["params"]["diagnostics"].as_array().expect("a list").clone();
        let said = |d: &Value| {
            let line = d["range"]["start"]["line"].as_u64().expect("a line");
            let message = d["message"].as_str().expect("a text");
            (line, message.lines().next().unwrap_or_default().to_string())
        };
        list.iter().map(said).collect()
    }

    fn finish(mut self) -> ExitStatus {
        self.input.take();
        let status = self.server.wait().expect("the server ends");
        let mut said = String::new();
        let _ = self.server.stderr.take().expect("a pipe").read_to_string(&mut said);
        assert!(!said.contains("panicked"), "{said}");
        status
    }
}

/// One message; `None` at the end. Anything that is not the protocol fails.
fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                let value = header.strip_prefix("Content-Length: ").expect("a header of the protocol");
                length = value.parse().expect("a number");
            }
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("JSON"))
}

const SHADER: &str = "#include \"tools.h\"\r\n#define SHINY 0.1\r\nsurface s(float Kd = 0.5)\r\n{\r\n    normal Nf = faceforward(normalize(N), I);\r\n    /* 😀 */ Ci = Kd * diffuse(Nf) * twice(SHINY);\r\n}\r\n";

#[test]
fn an_editor_opens_edits_asks_and_leaves() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("it is there");
    fs::create_dir(root.join("inc")).expect("a folder");
    // Latin-1, as old files are.
    fs::write(root.join("inc/tools.h"), b"/* Zweimal, f\xfcr Tests. */\nfloat twice(float x) { return 2 * x; }\n")
        .unwrap();
    fs::write(root.join("s.sl"), "not what the editor shows").unwrap();
    let uri = format!("file://{}/s.sl", root.display());
    let header = format!("file://{}/inc/tools.h", root.display());
    let document = json!({ "uri": uri });
    let at = |line: u32, character: u32| json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });

    let mut editor = Editor::start(&root, &["--stdio"]);
    let early = editor.answer("textDocument/hover", at(0, 0));
    assert_eq!(early["error"]["code"], -32002, "nothing before `initialize`");
    let capabilities = json!({
        "textDocument": {
            "hover": { "contentFormat": ["markdown"] },
            "publishDiagnostics": { "relatedInformation": true },
            "completion": { "completionItem": { "snippetSupport": true } },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
        },
    });
    let options = json!({ "includePaths": ["inc"] });
    let hello = json!({ "processId": null, "rootUri": format!("file://{}", root.display()), "capabilities": capabilities, "initializationOptions": options });
    let result = editor.request("initialize", hello);
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(result["serverInfo"]["name"], "shadewright");
    editor.notify("initialized", json!({}));

    let opened = json!({ "uri": uri, "languageId": "rsl", "version": 1, "text": SHADER });
    editor.notify("textDocument/didOpen", json!({ "textDocument": opened }));
    assert_eq!(editor.diagnostics(&uri), []);

    // What is under the pointer: the emoji counts as two.
    let hover = editor.request("textDocument/hover", at(5, 18));
    assert!(hover["contents"]["value"].as_str().is_some_and(|t| t.contains("uniform float Kd = 0.5")), "{hover}");
    assert_eq!(hover["range"]["start"], json!({ "line": 5, "character": 18 }));
    let hover = editor.request("textDocument/hover", at(5, 41));
    assert!(hover["contents"]["value"].as_str().is_some_and(|t| t.contains("Zweimal, für Tests.")), "{hover}");

    // Where it comes from.
    let place = |answer: &Value| (answer[0]["uri"].as_str().map(str::to_string), answer[0]["range"]["start"].clone());
    let start = |line: u32, character: u32| json!({ "line": line, "character": character });
    assert_eq!(place(&editor.request("textDocument/definition", at(5, 18))), (Some(uri.clone()), start(2, 16)));
    assert_eq!(place(&editor.request("textDocument/definition", at(5, 41))), (Some(header.clone()), start(1, 6)));
    assert_eq!(place(&editor.request("textDocument/definition", at(5, 47))), (Some(uri.clone()), start(1, 8)));
    assert_eq!(place(&editor.request("textDocument/definition", at(0, 12))), (Some(header.clone()), start(0, 0)));
    assert_eq!(editor.request("textDocument/definition", at(5, 25)), json!([]), "`diffuse` is no file");

    let outline = editor.request("textDocument/documentSymbol", json!({ "textDocument": document }));
    let names: Vec<&str> = outline.as_array().unwrap().iter().filter_map(|s| s["name"].as_str()).collect();
    assert_eq!(names, ["SHINY", "s"]);
    assert_eq!(outline[1]["children"][0]["name"], "Kd");

    // A mistake, and what is asked for while it stands there.
    let edit = |line: u32, from: u32, to: u32, text: &str| json!({ "range": { "start": { "line": line, "character": from }, "end": { "line": line, "character": to } }, "text": text });
    let change = |version: i32, changes: Value| json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": changes });
    editor.notify("textDocument/didChange", change(2, json!([edit(5, 18, 20, "mix(Kt, ")])));
    let completion = editor.request("textDocument/completion", at(5, 26));
    let labels: Vec<&str> = completion.as_array().unwrap().iter().filter_map(|i| i["label"].as_str()).collect();
    assert!(["Nf", "Kd", "twice", "SHINY", "Cs"].iter().all(|n| labels.contains(n)), "{labels:?}");
    let help = editor.request("textDocument/signatureHelp", at(5, 26));
    assert_eq!(
        (&help["activeParameter"], &help["signatures"][0]["label"]),
        (&json!(1), &json!("float mix(float a, float b, float t)"))
    );
    let wrong = editor.diagnostics(&uri);
    assert!(wrong.len() == 1 && wrong[0].0 == 5, "{wrong:?}");
    editor.notify("textDocument/didChange", change(3, json!([edit(5, 18, 26, "Kt")])));
    assert_eq!(editor.diagnostics(&uri), [(5, "unknown variable `Kt`".to_string())]);
    editor.notify("textDocument/didChange", change(4, json!([{ "text": SHADER }])));
    assert_eq!(editor.diagnostics(&uri), []);

    // A header that breaks on disk, and is fixed there.
    fs::write(root.join("inc/tools.h"), "float twice(float x) { return y; }\n").unwrap();
    editor.notify("textDocument/didSave", json!({ "textDocument": document }));
    assert_eq!(editor.diagnostics(&header), [(0, "unknown variable `y`".to_string())]);
    assert_eq!(editor.diagnostics(&uri), [(0, "in the included file: unknown variable `y`".to_string())]);
    fs::write(root.join("inc/tools.h"), "float twice(float x) { return 2 * x; }\n").unwrap();
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": header, "type": 2 }] }));
    assert_eq!(editor.diagnostics(&header), []);
    assert_eq!(editor.diagnostics(&uri), []);

    // Closing takes back what was said.
    editor.notify("textDocument/didChange", change(5, json!([{ "text": "surface s() { Ci = x; }" }])));
    assert_eq!(editor.diagnostics(&uri), [(0, "unknown variable `x`".to_string())]);
    editor.notify("textDocument/didClose", json!({ "textDocument": document }));
    assert_eq!(editor.diagnostics(&uri), []);
    assert_eq!(editor.request("textDocument/hover", at(0, 0)), Value::Null);

    assert_eq!(editor.answer("textDocument/formatting", json!({}))["error"]["code"], -32601);
    assert_eq!(editor.request("shutdown", Value::Null), Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.finish().code(), Some(0));
}

#[test]
fn folders_and_macros_of_the_command_line_count() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("inc")).expect("a folder");
    fs::write(folder.path().join("inc/a.h"), "#define FROM_FILE 1\n").unwrap();
    let mut editor = Editor::start(folder.path(), &["-I", "inc", "-DGIVEN=2"]);
    editor.request("initialize", json!({ "processId": null, "rootUri": null, "capabilities": { "general": { "positionEncodings": ["utf-16", "utf-8"] } } }));
    editor.notify("initialized", json!({}));
    let text = "#include <a.h>\nsurface s() { Ci = FROM_FILE + GIVEN + LACKING; }\n";
    let document = json!({ "uri": "untitled:s.sl", "languageId": "rsl", "version": 1, "text": text });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    assert_eq!(editor.diagnostics("untitled:s.sl"), [(1, "unknown variable `LACKING`".to_string())]);
    let place = json!({ "textDocument": { "uri": "untitled:s.sl" }, "position": { "line": 1, "character": 33 } });
    let hover = editor.request("textDocument/hover", place);
    assert!(hover["contents"]["value"].as_str().is_some_and(|t| t.contains("#define GIVEN 2")), "{hover}");
    editor.notify("exit", Value::Null);
    assert_eq!(editor.finish().code(), Some(1), "an editor that leaves without `shutdown`");
}

#[test]
fn classes_of_rtsl_have_diagnostics_hover_and_an_outline() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut editor = Editor::start(folder.path(), &[]);
    editor.request("initialize", json!({ "processId": null, "rootUri": null, "capabilities": { "textDocument": { "documentSymbol": { "hierarchicalDocumentSymbolSupport": true } } } }));
    editor.notify("initialized", json!({}));
    let text = "// Paint.\nclass Paint : rt_Material;\npublic color tint;\nvoid shade() { rt_SampleColor = tin; }\n";
    let document = json!({ "uri": "untitled:a.rtsl", "languageId": "rtsl", "version": 1, "text": text });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let said = editor.diagnostics("untitled:a.rtsl");
    assert!(said.len() == 1 && said[0].0 == 3 && said[0].1.contains("`tin`"), "{said:?}");
    let edit = json!({ "range": { "start": { "line": 3, "character": 35 }, "end": { "line": 3, "character": 35 } }, "text": "t" });
    let change = json!({ "textDocument": { "uri": "untitled:a.rtsl", "version": 2 }, "contentChanges": [edit] });
    editor.notify("textDocument/didChange", change);
    assert_eq!(editor.diagnostics("untitled:a.rtsl"), []);
    let at = |line: u32, character: u32| json!({ "textDocument": { "uri": "untitled:a.rtsl" }, "position": { "line": line, "character": character } });
    for (place, expected) in [
        (at(3, 18), "The light that leaves the place"),
        (at(3, 33), "public color tint"),
        (at(1, 7), "Paint."),
        (at(1, 18), "void emission()"),
    ] {
        let hover = editor.request("textDocument/hover", place);
        assert!(hover["contents"]["value"].as_str().is_some_and(|t| t.contains(expected)), "{expected}: {hover}");
    }
    let outline =
        editor.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": "untitled:a.rtsl" } }));
    assert_eq!([&outline[0]["name"], &outline[0]["children"][1]["name"]], ["Paint", "shade"]);
    assert_eq!(editor.request("textDocument/completion", at(3, 20)), json!([]), "words of RSL would be wrong here");
    editor.notify("exit", Value::Null);
    editor.finish();
}

#[test]
fn an_editor_that_vanishes_ends_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(Editor::start(folder.path(), &[]).finish().code(), Some(1));
}

#[test]
fn a_malformed_message_is_answered_by_an_error_and_the_conversation_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut editor = Editor::start(folder.path(), &[]);
    for (bytes, code) in [
        (&b"Content-Length: 9\r\n\r\nnot JSON!"[..], -32700),
        (b"Content-Length: 99999999999999999999\r\n\r\n", -32700),
        (b"Content-Length: 2\r\n\r\n{}", -32600),
    ] {
        editor.input.as_mut().expect("a pipe").write_all(bytes).expect("the server reads");
        let answer = editor.wait(|m| m.get("error").is_some());
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    editor.answer("initialize", json!({ "capabilities": {} }));
    editor.answer("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.finish().code(), Some(0));
}
