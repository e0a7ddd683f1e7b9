//! Background work: a thread that serves one request after another.

use std::sync::mpsc::{Receiver, Sender, channel};

/// The window's end of such a thread. It is asked one request at a time, so that whoever asks can
/// ask the latest one next; the thread ends with the worker.
pub struct BackgroundWorker<Q, A> {
    requests: Sender<Q>,
    answers: Receiver<A>,
    is_busy: bool,
}

impl<Q: Send + 'static, A: Send + 'static> BackgroundWorker<Q, A> {
    /// Starts the thread. Each answer has the window drawn once.
    pub fn open(context: egui::Context, mut answer: impl FnMut(Q) -> A + Send + 'static) -> Self {
        let (requests, inbox) = channel();
        let (outbox, answers) = channel();
        std::thread::spawn(move || {
            for request in inbox {
                if outbox.send(answer(request)).is_err() {
                    break;
                }
                // Any delay but zero means one frame; zero would mean two.
                context.request_repaint_after(std::time::Duration::from_nanos(1));
            }
        });
        Self { requests, answers, is_busy: false }
    }

    /// True if nothing is being worked on.
    pub fn is_free(&self) -> bool {
        !self.is_busy
    }

    /// Asks, without waiting.
    pub fn ask(&mut self, request: Q) {
        self.is_busy = self.requests.send(request).is_ok();
    }

    /// The answer, once it is there.
    pub fn answer(&mut self) -> Option<A> {
        let answer = self.answers.try_recv().ok();
        self.is_busy &= answer.is_none();
        answer
    }
}
