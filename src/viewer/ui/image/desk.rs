//! Work that must not hold the window up: a thread that answers one question after another.

use std::sync::mpsc::{Receiver, Sender, channel};

/// The window's end of such a thread. It is asked one question at a time, so that whoever asks can ask the latest one next; the thread ends with the desk.
pub struct Desk<Q, A> {
    questions: Sender<Q>,
    answers: Receiver<A>,
    is_busy: bool,
}

impl<Q: Send + 'static, A: Send + 'static> Desk<Q, A> {
    /// Starts the thread. Each answer has the window drawn once.
    pub fn open(context: egui::Context, mut answer: impl FnMut(Q) -> A + Send + 'static) -> Self {
        let (questions, inbox) = channel();
        let (outbox, answers) = channel();
        std::thread::spawn(move || {
            for question in inbox {
                if outbox.send(answer(question)).is_err() {
                    break;
                }
                // Any delay but zero means one frame; zero would mean two.
                context.request_repaint_after(std::time::Duration::from_nanos(1));
            }
        });
        Self { questions, answers, is_busy: false }
    }

    /// Whether nothing is being worked on.
    pub fn is_free(&self) -> bool {
        !self.is_busy
    }

    /// Asks, without waiting.
    pub fn ask(&mut self, question: Q) {
        self.is_busy = self.questions.send(question).is_ok();
    }

    /// The answer, once it is there.
    pub fn answer(&mut self) -> Option<A> {
        let answer = self.answers.try_recv().ok();
        self.is_busy &= answer.is_none();
        answer
    }
}
