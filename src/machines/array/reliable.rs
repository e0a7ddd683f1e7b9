//! Links that lose nothing and repeat nothing, over ones that drop, repeat and reorder messages.
//!
//! In the thesis a port copies a message and signals completion, and nothing is said of errors. Here
//! every message has a sequence number. The receiver acknowledges each that it gets, and takes only the
//! one that it expects; the sender keeps a message, and sends it again after a time, until the
//! acknowledgement of its number comes (stop-and-wait; Lynch 1968, "Reliable full-duplex transmission
//! over half-duplex telephone lines").
//!
//! **Nothing twice.** The receiver takes number `n` once, as it expects `n + 1` from then on, and takes
//! `n + 1` only after the sender has let `n` go: then all that is under way has numbers up to `n + 1`.
//! **Nothing lost.** The sender lets `n` go only when it is acknowledged, so taken. If not every
//! transfer fails, a repetition and then an acknowledgement of it come through some time.
//! Numbers have 16 bits: a message that is delayed by 32 768 others would be taken for a new one.

use std::cmp::Ordering;

/// The sending end of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sender {
    next: u16,
}

/// The receiving end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Receiver {
    expected: u16,
}

/// The decision of a receiver on a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is new.
    Fresh,
    /// It has come before. It is acknowledged again, as the acknowledgement may have been lost.
    Again,
    /// It is none that the sender can have sent.
    Wrong,
}

impl Sender {
    /// The number of the message that is being sent, each time that it is.
    pub fn number(&self) -> u16 {
        self.next
    }

    /// An acknowledgement. True if it is that of the message that is being sent, which can be let go.
    pub fn acknowledged(&mut self, number: u16) -> bool {
        let is_done = number == self.next;
        self.next = self.next.wrapping_add(u16::from(is_done));
        is_done
    }
}

impl Receiver {
    /// A message with a number. It is acknowledged unless it is wrong.
    pub fn take(&mut self, number: u16) -> Taken {
        // The difference as a signed number tells before from after, past the largest number too.
        match (number.wrapping_sub(self.expected) as i16).cmp(&0) {
            Ordering::Equal => {
                self.expected = self.expected.wrapping_add(1);
                Taken::Fresh
            }
            Ordering::Less => Taken::Again,
            Ordering::Greater => Taken::Wrong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet, VecDeque};

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Packet {
        /// Number, and which message it is.
        Message(u16, u8),
        Acknowledgement(u16),
    }

    /// Both ends, and what is under way, in no order.
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
    struct LinkState {
        sender: Sender,
        /// The message that is being sent.
        sending: u8,
        receiver: Receiver,
        taken: Vec<u8>,
        under_way: Vec<Packet>,
        drops: u8,
        repeats: u8,
    }

    const MESSAGES: u8 = 3;
    const UNDER_WAY: usize = 4;

    fn successors(state: &LinkState) -> Vec<LinkState> {
        let mut next = Vec::new();
        if state.sending < MESSAGES && state.under_way.len() < UNDER_WAY {
            // For the first time or again.
            let mut state = state.clone();
            state.under_way.push(Packet::Message(state.sender.number(), state.sending));
            next.push(state);
        }
        for position in 0..state.under_way.len() {
            let mut gone = state.clone();
            let packet = gone.under_way.remove(position);
            if state.drops > 0 {
                next.push(LinkState { drops: state.drops - 1, ..gone.clone() });
            }
            if state.repeats > 0 && state.under_way.len() < UNDER_WAY {
                let mut twice = state.clone();
                twice.under_way.push(packet);
                next.push(LinkState { repeats: state.repeats - 1, ..twice });
            }
            match packet {
                Packet::Message(number, message) => match gone.receiver.take(number) {
                    Taken::Wrong => panic!("a number that was not sent"),
                    taken => {
                        gone.taken.extend((taken == Taken::Fresh).then_some(message));
                        gone.under_way.push(Packet::Acknowledgement(number));
                    }
                },
                Packet::Acknowledgement(number) => {
                    gone.sending += u8::from(gone.sender.acknowledged(number));
                }
            }
            next.push(gone);
        }
        next.iter_mut().for_each(|state| state.under_way.sort_unstable());
        next
    }

    /// All states, with those that lead to them. `start` is the first number.
    fn explore(start: u16, drops: u8, repeats: u8) -> BTreeMap<LinkState, BTreeSet<LinkState>> {
        let sender = Sender { next: start };
        let receiver = Receiver { expected: start };
        let first = LinkState { sender, sending: 0, receiver, taken: vec![], under_way: vec![], drops, repeats };
        let mut known = BTreeMap::from([(first.clone(), BTreeSet::new())]);
        let mut frontier = VecDeque::from([first]);
        while let Some(state) = frontier.pop_front() {
            for next in successors(&state) {
                if !known.contains_key(&next) {
                    frontier.push_back(next.clone());
                }
                known.entry(next).or_default().insert(state.clone());
            }
        }
        known
    }

    #[test]
    fn whatever_is_lost_repeated_or_overtaken_every_message_is_taken_once_and_in_order() {
        // The second start goes past the largest number.
        for start in [0, u16::MAX - 1] {
            let known = explore(start, 2, 2);
            let all: Vec<u8> = (0..MESSAGES).collect();
            assert!(known.len() > 1_000, "{}", known.len());
            assert!(known.keys().all(|state| all.starts_with(&state.taken)));
            // From every state there is a way to the end, where the sender has let all go.
            let mut open: Vec<&LinkState> = known.keys().filter(|s| s.sending == MESSAGES).collect();
            assert!(open.iter().all(|state| state.taken == all));
            let mut reaches: BTreeSet<&LinkState> = BTreeSet::new();
            while let Some(state) = open.pop() {
                if reaches.insert(state) {
                    open.extend(&known[state]);
                }
            }
            assert_eq!(reaches.len(), known.len());
        }
    }

    #[test]
    fn a_message_that_comes_again_is_acknowledged_but_not_taken() {
        let (mut sender, mut receiver) = (Sender::default(), Receiver::default());
        let number = sender.number();
        assert_eq!([receiver.take(number), receiver.take(number)], [Taken::Fresh, Taken::Again]);
        assert_eq!([sender.acknowledged(number), sender.acknowledged(number)], [true, false]);
        assert_eq!(receiver.take(number), Taken::Again);
        assert_eq!(receiver.take(sender.number() + 1), Taken::Wrong);
    }
}
