//! Chromium without a window, through the Chrome DevTools Protocol over two pipes.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tempfile::TempDir;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page.
pub struct Browser {
    process: Child,
    /// The folder of its profile and of the pipes.
    _folder: TempDir,
    commands: File,
    messages: Receiver<Value>,
    session: Option<String>,
    last: u64,
    events: Vec<Value>,
}

/// The path of Chromium or Chrome.
fn program() -> String {
    const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let folders = std::env::var("PATH").unwrap_or_default();
    let mut paths = NAMES.iter().flat_map(|name| folders.split(':').map(move |folder| format!("{folder}/{name}")));
    paths.find(|path| Path::new(path).is_file()).expect("this test needs Chromium: apt-get install chromium")
}

impl Browser {
    /// Starts it with an empty page of a size.
    pub fn start([width, height]: [u32; 2]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let pipes = ["commands", "messages"].map(|name| folder.path().join(name));
        let made = Command::new("mkfifo").args(&pipes).status().expect("there is `mkfifo`");
        assert!(made.success());
        // The protocol is on descriptors 3 and 4, which a shell opens.
        let process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$COMMANDS\" 4>\"$MESSAGES\"", &program()])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"])
            .args(["--disable-background-networking", "--no-first-run", "--force-color-profile=srgb"])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg("about:blank")
            .env("COMMANDS", &pipes[0])
            .env("MESSAGES", &pipes[1])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is a shell");
        let commands = File::options().write(true).open(&pipes[0]).expect("a pipe");
        let from = BufReader::new(File::open(&pipes[1]).expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in from.split(0) {
                let Ok(Ok(message)) = message.map(|bytes| serde_json::from_slice(&bytes)) else { return };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser =
            Self { process, _folder: folder, commands, messages, session: None, last: 0, events: Vec::new() };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let session = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = session["sessionId"].as_str().map(str::to_string);
        for domain in ["Page", "Runtime", "Log", "Network", "DOM"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        browser.call("Emulation.setDeviceMetricsOverride", screen);
        browser
    }

    /// The next message of the browser.
    fn message(&self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the browser answers")
    }

    /// Sends a command and gives its result. Events on the way are kept.
    ///
    /// # Panics
    /// When the browser reports an error.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut command = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("the browser listens");
        loop {
            let mut message = self.message();
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    /// Opens a page and waits until it is loaded.
    pub fn open(&mut self, address: &str) {
        let before = self.events.len();
        self.call("Page.navigate", json!({ "url": address }));
        let is_loaded = |events: &[Value]| events.iter().any(|event| event["method"] == "Page.loadEventFired");
        while !is_loaded(&self.events[before..]) {
            let message = self.message();
            self.events.push(message);
        }
    }

    /// Pages that are opened from now on run no scripts.
    pub fn without_scripts(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    }

    /// The value of an expression, or of what it promises.
    ///
    /// # Panics
    /// When it throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// The text of the page, which needs no script.
    pub fn text(&mut self) -> String {
        let root = self.call("DOM.getDocument", json!({ "depth": -1 }));
        let mut text = String::new();
        let mut nodes = vec![&root["root"]];
        while let Some(node) = nodes.pop() {
            if node["nodeName"] == "#text" {
                text += node["nodeValue"].as_str().unwrap_or_default();
                text.push('\n');
            }
            nodes.extend(node["children"].as_array().into_iter().flatten().rev());
        }
        text
    }

    /// Takes a screenshot, as a PNG file.
    pub fn screenshot(&mut self) -> Vec<u8> {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        base64(shot["data"].as_str().expect("an image"))
    }

    fn mouse(&mut self, kind: &str, [x, y]: [f64; 2], buttons: u32) {
        let button = if kind == "mouseMoved" && buttons == 0 { "none" } else { "left" };
        let params = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Moves the pointer.
    pub fn move_to(&mut self, at: [f64; 2]) {
        self.mouse("mouseMoved", at, 0);
    }

    /// Drags from one place to another.
    pub fn drag(&mut self, from: [f64; 2], to: [f64; 2]) {
        self.mouse("mouseMoved", from, 0);
        self.mouse("mousePressed", from, 1);
        let middle = [0, 1].map(|i| (from[i] + to[i]) / 2.0);
        self.mouse("mouseMoved", middle, 1);
        self.mouse("mouseMoved", to, 1);
        self.mouse("mouseReleased", to, 0);
    }

    /// Presses a key and lets it go.
    pub fn key(&mut self, key: &str) {
        // Arrows move a slider by their codes.
        let code = match key {
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            "Escape" => 27,
            _ => 0,
        };
        let text = if key.chars().count() == 1 { key } else { "" };
        let kind = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let down = json!({ "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code, "code": key });
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }));
    }

    /// Types a text.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Ends the browser; gives the events of the page since the start.
    pub fn close(mut self) -> Vec<Value> {
        self.session = None;
        self.call("Browser.close", json!({}));
        let _ = self.process.wait();
        std::mem::take(&mut self.events)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A test that failed leaves it running.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The bytes of a text in base 64.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |c: u8| DIGITS.iter().position(|digit| *digit == c).expect("a digit") as u32;
    let digits: Vec<u32> = text.trim_end_matches('=').bytes().map(digit).collect();
    let four = |four: &[u32]| {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(four).collect()
}
