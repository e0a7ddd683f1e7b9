//! How messages travel: frames of the base protocol (Language Server Protocol 3.17, "Base
//! Protocol") over a pair of streams.
//!
//! Input is untrusted. A frame that is no message is answered by an error of JSON-RPC, and what
//! follows it is read. No header and no length that a frame claims takes memory before its bytes
//! have arrived.

use lsp_server::{Connection, Message};
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Most bytes of a message: twice the longest text of a file that an include may have, and as much
/// as takes 700 MB once it is JSON in memory.
const MAX_MESSAGE: u64 = 32 << 20;
/// Most bytes of a line of a header.
const MAX_HEADER: u64 = 4096;

/// JSON-RPC 2.0, section 5.1.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// The threads that move messages.
#[derive(Debug)]
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits for the end of both: that of the input, and that of the connection.
    ///
    /// # Errors
    /// When a stream cannot be read or written.
    pub fn join(self) -> io::Result<()> {
        for thread in [self.reader, self.writer] {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the transport panicked")))?;
        }
        Ok(())
    }
}

/// A connection whose messages come from `input` and go to `output`.
pub fn connect(input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> (Connection, Threads) {
    let (server, editor) = Connection::memory();
    let Connection { sender, receiver } = editor;
    let output = Arc::new(Mutex::new(output));
    let answers = output.clone();
    let reader = thread::spawn(move || {
        let mut input = input;
        loop {
            match read(&mut input)? {
                Frame::End => return Ok(()),
                Frame::Message(message) => {
                    let is_exit = matches!(&message, Message::Notification(n) if n.method == "exit");
                    if sender.send(message).is_err() || is_exit {
                        return Ok(());
                    }
                }
                Frame::Refused { id, code, why } => {
                    let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } });
                    write(&answers, error.to_string().as_bytes())?;
                }
            }
        }
    });
    let writer = thread::spawn(move || {
        for message in receiver {
            let mut framed = Vec::new();
            message.write(&mut framed)?;
            let mut output = locked(&output);
            output.write_all(&framed)?;
            output.flush()?;
        }
        Ok(())
    });
    (server, Threads { reader, writer })
}

fn locked<W>(output: &Mutex<W>) -> std::sync::MutexGuard<'_, W> {
    // A thread that panicked with the lock has written a part of a frame at most.
    output.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn write(output: &Mutex<impl Write>, body: &[u8]) -> io::Result<()> {
    let mut output = locked(output);
    write!(output, "Content-Length: {}\r\n\r\n", body.len())?;
    output.write_all(body)?;
    output.flush()
}

/// The next item of the input.
#[derive(Debug)]
enum Frame {
    Message(Message),
    /// No message, with the id of the request that it seems to be, and why.
    Refused {
        id: Value,
        code: i32,
        why: String,
    },
    End,
}

fn refused(code: i32, why: impl Into<String>) -> Frame {
    Frame::Refused { id: Value::Null, code, why: why.into() }
}

fn read(input: &mut impl BufRead) -> io::Result<Frame> {
    let length = match read_header(input)? {
        Header::Length(length) => length,
        Header::Malformed(why) => return Ok(refused(PARSE_ERROR, why)),
        Header::End => return Ok(Frame::End),
    };
    if length > MAX_MESSAGE {
        io::copy(&mut input.take(length), &mut io::sink())?;
        return Ok(refused(PARSE_ERROR, format!("a message has {length} bytes; {MAX_MESSAGE} is the limit")));
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Ok(Frame::End);
    }
    Ok(parse(&body))
}

fn parse(body: &[u8]) -> Frame {
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => return refused(PARSE_ERROR, format!("a message is not JSON: {error}")),
    };
    let id = value.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or_default();
    match serde_json::from_value(value) {
        Ok(message) => Frame::Message(message),
        Err(_) => {
            let why = "a message is neither a request, a notification nor a response".to_string();
            Frame::Refused { id, code: INVALID_REQUEST, why }
        }
    }
}

enum Header {
    /// The length of the body in bytes.
    Length(u64),
    Malformed(String),
    End,
}

/// Reads lines up to an empty one, with which a header ends.
fn read_header(input: &mut impl BufRead) -> io::Result<Header> {
    let (mut length, mut why, mut is_first) = (None, None, true);
    loop {
        let mut line = Vec::new();
        input.take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(Header::End);
        }
        let line = line.trim_ascii();
        if line.is_empty() && is_first {
            continue;
        }
        if line.is_empty() {
            break;
        }
        is_first = false;
        let line = String::from_utf8_lossy(line);
        match line.split_once(':') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("Content-Length") => match value.trim().parse() {
                Ok(value) => length = Some(value),
                Err(_) => why = Some("the Content-Length of a message is not a number of bytes".to_string()),
            },
            Some(_) => {}
            None => why = Some("a line of a header has no colon".to_string()),
        }
    }
    Ok(match (length, why) {
        (Some(length), None) => Header::Length(length),
        (_, why) => Header::Malformed(why.unwrap_or_else(|| "a header has no Content-Length".to_string())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contents of a stream: methods of messages, and codes of errors.
    fn frames(stream: &[u8]) -> Vec<String> {
        let mut input = stream;
        let mut found = Vec::new();
        loop {
            match read(&mut input).expect("memory can be read") {
                Frame::End => return found,
                Frame::Message(Message::Notification(n)) => found.push(n.method),
                Frame::Message(Message::Request(r)) => found.push(format!("{} {}", r.method, r.id)),
                Frame::Message(Message::Response(r)) => found.push(r.id.to_string()),
                Frame::Refused { id, code, .. } => found.push(format!("{code} {id}")),
            }
        }
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_no_message_is_refused_and_the_next_one_is_read() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        for (bad, answer) in [
            (framed("not JSON!"), "-32700 null"),
            (framed(&"[".repeat(100_000)), "-32700 null"),
            (framed("[1, 2]"), "-32600 null"),
            (framed(r#"{"jsonrpc":"2.0","id":7}"#), "-32600 7"),
            ("Content-Length: -1\r\n\r\n".to_string(), "-32700 null"),
            ("Content-Length: 99999999999999999999\r\n\r\n".to_string(), "-32700 null"),
            ("nonsense\r\n\r\n".to_string(), "-32700 null"),
            ("Content-Type: x\r\n\r\n".to_string(), "-32700 null"),
            (format!("{}\r\n\r\n", "x".repeat(100_000)), "-32700 null"),
        ] {
            let found = frames(format!("{good}{bad}{good}").as_bytes());
            assert_eq!(found, ["exit", answer, "exit"], "{}", &bad[..bad.len().min(80)]);
        }
        let mut latin = b"Content-Length: 3\r\n\r\n\"\xe4\"".to_vec();
        latin.extend(good.as_bytes());
        assert_eq!(frames(&latin), ["-32700 null", "exit"]);
    }

    #[test]
    fn a_length_takes_no_memory_before_its_bytes_arrive() {
        assert_eq!(frames(b"Content-Length: 18446744073709551615\r\n\r\n{"), ["-32700 null"]);
        assert_eq!(frames(b"Content-Length: 30000000\r\n\r\n{"), Vec::<String>::new(), "the stream ends in the body");
        let long = format!("Content-Length: {}\r\n\r\n", MAX_MESSAGE + 1);
        let stream = [long.into_bytes(), vec![b' '; MAX_MESSAGE as usize + 1], framed("{}").into_bytes()].concat();
        assert_eq!(frames(&stream), ["-32700 null", "-32600 null"]);
    }
}
