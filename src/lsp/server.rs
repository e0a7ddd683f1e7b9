//! The message loop of the server.
//!
//! One thread does all the work, message by message; a second one only moves incoming messages into
//! a queue. So changes that arrive during an analysis are analyzed together, and a request that is
//! canceled while it waits is never processed.

use super::client::Client;
use super::completion::completion;
use super::definition::definition;
use super::documents::Documents;
use super::hover::hover;
use super::outline::outline;
use super::signature::signature_help;
use super::text::Encoding;
use super::uri;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use shadewright_lang::preprocess::{PreprocessOptions, define};
use shadewright_lang::registry;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long a text must be unchanged before it is analyzed, unless a request needs it: a little
/// more than between two letters of a fast typist's burst or the two notifications of a save.
const REST: Duration = Duration::from_millis(40);

/// Extensions of files that shaders include.
const HEADERS: [&str; 3] = ["slh", "h", "inc"];

/// The settings that the server starts with; an editor may add to them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Folders that `#include` looks in, after that of the file.
    pub include_paths: Vec<PathBuf>,
    /// Macros that are defined, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
}

/// How a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The editor said goodbye: `shutdown`, then `exit`.
    Orderly,
    /// The editor left without `shutdown`, or its messages end without `exit`.
    Abrupt,
}

/// Why the server cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The first request is none that starts a conversation.
    #[error("the editor's `initialize` request cannot be read: {0}")]
    Initialize(#[from] serde_json::Error),
    /// Nobody takes the answers.
    #[error("the editor no longer takes messages")]
    Lost,
}

/// Talks to an editor until one of the two leaves.
///
/// # Errors
/// [`ServeError`].
pub fn serve(connection: Connection, settings: Settings) -> Result<Ended, ServeError> {
    let Ok((id, params)) = connection.initialize_start() else { return Ok(Ended::Abrupt) };
    let params: InitializeParams = serde_json::from_value(params)?;
    let client = Client::new(&params.capabilities);
    let result = InitializeResult {
        capabilities: capabilities(&client),
        server_info: Some(ServerInfo {
            name: "shadewright".to_string(),
            version: Some(env!("CARGO_PKG_VERSION").to_string()),
        }),
    };
    let Connection { sender, receiver } = connection;
    sender.send(Response::new_ok(id, result).into()).map_err(|_| ServeError::Lost)?;
    let (inbox, messages) = channel();
    std::thread::spawn(move || receiver.into_iter().all(|m| inbox.send(m).is_ok()));
    let documents = Documents::new(options(settings, &params), client);
    let send = |m: Message| sender.send(m).map_err(|_| ServeError::Lost);
    Server { client, documents, waiting: VecDeque::new(), messages, send, shut_down: false }.run()
}

/// The folders and macros of the command line, then those of the editor; relative folders are those
/// of the workspace.
fn options(settings: Settings, params: &InitializeParams) -> PreprocessOptions {
    let given = params.initialization_options.clone().and_then(|o| serde_json::from_value::<Settings>(o).ok());
    let Settings { include_paths, defines } = given.unwrap_or_default();
    #[allow(deprecated, reason = "editors that know no workspace folders name the root so")]
    let root = params.root_uri.as_ref();
    let folder = params.workspace_folders.iter().flatten().next().map(|f| &f.uri).or(root);
    let root = folder.and_then(uri::to_path).unwrap_or_default();
    let relative = include_paths.iter().map(|p| root.join(p));
    PreprocessOptions {
        include_paths: settings.include_paths.iter().cloned().chain(relative).collect(),
        defines: settings.defines.iter().chain(&defines).map(|d| define(d)).collect(),
        ..PreprocessOptions::default()
    }
}

fn capabilities(client: &Client) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(SaveOptions::default().into()),
        ..TextDocumentSyncOptions::default()
    };
    ServerCapabilities {
        position_encoding: Some(match client.encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }),
        text_document_sync: Some(sync.into()),
        hover_provider: Some(true.into()),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec!["#".to_string()]),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_string(), ",".to_string()]),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

struct Server<S> {
    client: Client,
    documents: Documents,
    /// Messages that arrived and wait for their turn.
    waiting: VecDeque<Message>,
    messages: Receiver<Message>,
    send: S,
    shut_down: bool,
}

impl<S: Fn(Message) -> Result<(), ServeError>> Server<S> {
    fn run(mut self) -> Result<Ended, ServeError> {
        loop {
            let Some(message) = self.next()? else { return Ok(Ended::Abrupt) };
            match message {
                Message::Request(request) => {
                    let response = self.request(request);
                    (self.send)(response.into())?;
                }
                Message::Notification(n) if n.method == "exit" => {
                    return Ok(if self.shut_down { Ended::Orderly } else { Ended::Abrupt });
                }
                Message::Notification(n) => self.notification(n)?,
                Message::Response(_) => {}
            }
        }
    }

    /// The next message; `None` when there will be no more. Reports diagnostics when the editor
    /// pauses.
    fn next(&mut self) -> Result<Option<Message>, ServeError> {
        loop {
            self.waiting.extend(self.messages.try_iter());
            if let Some(message) = self.waiting.pop_front() {
                return Ok(Some(message));
            }
            if !self.documents.is_stale() {
                return Ok(self.messages.recv().ok());
            }
            match self.messages.recv_timeout(REST) {
                Ok(message) => return Ok(Some(message)),
                Err(RecvTimeoutError::Timeout) => self.report()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    fn report(&mut self) -> Result<(), ServeError> {
        for report in self.documents.refresh() {
            let params = PublishDiagnosticsParams::new(report.uri, report.diagnostics, report.version);
            self.notify("textDocument/publishDiagnostics", params)?;
        }
        Ok(())
    }

    fn notify(&self, method: &str, params: impl serde::Serialize) -> Result<(), ServeError> {
        (self.send)(Notification::new(method.to_string(), params).into())
    }

    // --- requests ---

    fn request(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        self.waiting.extend(self.messages.try_iter());
        if self.waiting.iter().any(|m| cancels(m, &id)) {
            return error(id, ErrorCode::RequestCanceled, "canceled by the editor");
        }
        if self.shut_down {
            return error(id, ErrorCode::InvalidRequest, "the server has been shut down");
        }
        let answer = match method.as_str() {
            "shutdown" => {
                self.shut_down = true;
                Ok(serde_json::Value::Null)
            }
            "textDocument/hover" => self.answer(params, Self::hover),
            "textDocument/completion" => self.answer(params, Self::completion),
            "textDocument/signatureHelp" => self.answer(params, Self::signature_help),
            "textDocument/definition" => self.answer(params, Self::definition),
            "textDocument/documentSymbol" => self.answer(params, Self::outline),
            other => {
                let message = format!("this server does not know `{other}`");
                return error(id, ErrorCode::MethodNotFound, &message);
            }
        };
        match answer {
            Ok(value) => Response::new_ok(id, value),
            Err(wrong) => error(id, ErrorCode::InvalidParams, &wrong.to_string()),
        }
    }

    fn answer<P: DeserializeOwned, R: serde::Serialize>(
        &mut self,
        params: serde_json::Value,
        f: impl FnOnce(&mut Self, P) -> R,
    ) -> serde_json::Result<serde_json::Value> {
        let params = serde_json::from_value(params)?;
        serde_json::to_value(f(self, params))
    }

    fn hover(&mut self, params: HoverParams) -> Option<Hover> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let client = self.client;
        hover(self.documents.snapshot(&text_document.uri)?, position, &client)
    }

    fn completion(&mut self, params: CompletionParams) -> Option<Vec<CompletionItem>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let client = self.client;
        Some(completion(self.documents.snapshot(&text_document.uri)?, position, &client))
    }

    fn signature_help(&mut self, params: SignatureHelpParams) -> Option<SignatureHelp> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let client = self.client;
        signature_help(self.documents.snapshot(&text_document.uri)?, position, &client)
    }

    fn definition(&mut self, params: GotoDefinitionParams) -> Vec<Location> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        self.documents.analyze(&text_document.uri);
        match self.documents.analyzed(&text_document.uri) {
            Some(snapshot) => definition(snapshot, position, &self.documents.locate()),
            None => Vec::new(),
        }
    }

    fn outline(&mut self, params: DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
        let hierarchical = self.client.hierarchical_outline;
        let uri = params.text_document.uri;
        let tree = outline(self.documents.snapshot(&uri)?);
        Some(match hierarchical {
            true => DocumentSymbolResponse::Nested(tree),
            false => DocumentSymbolResponse::Flat(tree.into_iter().map(|s| flat(s, &uri)).collect()),
        })
    }

    // --- notifications ---

    /// Takes note; what cannot be read, or means nothing here, is passed over as the protocol
    /// wants.
    fn notification(&mut self, notification: Notification) -> Result<(), ServeError> {
        let Notification { method, params } = notification;
        match method.as_str() {
            "initialized" if self.client.watches_files => return self.watch_files(),
            "textDocument/didOpen" => {
                if let Ok(DidOpenTextDocumentParams { text_document: d }) = serde_json::from_value(params) {
                    self.documents.open(d.uri, d.version, d.text);
                }
            }
            "textDocument/didChange" => {
                if let Ok(DidChangeTextDocumentParams { text_document: d, content_changes }) =
                    serde_json::from_value(params)
                {
                    self.documents.change(&d.uri, d.version, content_changes);
                }
            }
            "textDocument/didClose" => {
                if let Ok(DidCloseTextDocumentParams { text_document }) = serde_json::from_value(params) {
                    self.documents.close(&text_document.uri);
                    // What it said must go even where nothing else is open.
                    self.report()?;
                }
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => self.documents.invalidate_all(),
            _ => {}
        }
        Ok(())
    }

    /// Asks for notifications of changes of files that may be included.
    fn watch_files(&self) -> Result<(), ServeError> {
        let languages: Vec<&str> =
            registry::LANGUAGES.iter().flat_map(|language| language.extensions()).copied().collect();
        let pattern = GlobPattern::String(format!("**/*.{{{},{}}}", languages.join(","), HEADERS.join(",")));
        let options = DidChangeWatchedFilesRegistrationOptions {
            watchers: vec![FileSystemWatcher { glob_pattern: pattern, kind: None }],
        };
        let registration = Registration {
            id: "files".to_string(),
            method: "workspace/didChangeWatchedFiles".to_string(),
            register_options: serde_json::to_value(options).ok(),
        };
        let params = RegistrationParams { registrations: vec![registration] };
        let id = RequestId::from("watch-files".to_string());
        (self.send)(Request::new(id, "client/registerCapability".to_string(), params).into())
    }
}

fn error(id: RequestId, code: ErrorCode, message: &str) -> Response {
    Response::new_err(id, code as i32, message.to_string())
}

/// True if a message takes back the request `id`.
fn cancels(message: &Message, id: &RequestId) -> bool {
    let Message::Notification(n) = message else { return false };
    n.method == "$/cancelRequest"
        && n.params.get("id").is_some_and(|v| serde_json::to_value(id).is_ok_and(|id| *v == id))
}

/// A symbol for clients that know no tree.
fn flat(symbol: DocumentSymbol, uri: &Uri) -> SymbolInformation {
    #[allow(deprecated, reason = "the type has a field that the protocol calls deprecated, and no constructor")]
    SymbolInformation {
        name: symbol.name,
        kind: symbol.kind,
        tags: None,
        deprecated: None,
        location: Location { uri: uri.clone(), range: symbol.selection_range },
        container_name: None,
    }
}
