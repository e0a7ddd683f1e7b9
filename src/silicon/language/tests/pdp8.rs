//! The PDP-8 with a memory and an output device.

use super::circuit;
use crate::circuit::functional::{Environment, Limits, Outcome, run};
use crate::circuit::graph::{Circuit, PortId};
use crate::circuit::passes;
use shadewright_base::bits::Bits;

/// The other side of the buses: a memory, and a device that keeps what an IOT instruction sends it.
/// It answers instruction 6031 with a word, and skips after 6041.
struct Bus<'a> {
    circuit: &'a Circuit,
    memory: Vec<u16>,
    address: u16,
    data: u16,
    reading: bool,
    stopping: bool,
    sent: Vec<u16>,
}

impl Environment for Bus<'_> {
    fn get(&mut self, port: PortId, _cycle: u64) -> Option<Bits> {
        let word = match &*self.circuit.port(port).name {
            "dataBus" if self.reading => self.memory[self.address as usize],
            "dataBus" if self.stopping => 0o1234,
            "skipIO" => u16::from(self.address == 0o6041),
            "loadIO" => u16::from(self.address == 0o6031),
            _ => 0,
        };
        Some(Bits::from_u128(word.into(), self.circuit.port(port).width))
    }

    fn ready(&mut self, _port: PortId, _cycle: u64) -> bool {
        true
    }

    fn put(&mut self, port: PortId, word: &Bits, _cycle: u64) -> bool {
        let word = word.to_u128().expect("small") as u16;
        match &*self.circuit.port(port).name {
            "addressBus" => self.address = word,
            "dataBus" => self.data = word,
            "memFetch" => self.reading = word == 1,
            "memStore" if word == 1 => self.memory[self.address as usize] = self.data,
            "startIO" if word == 1 => self.sent.push(self.data),
            "stopIO" => self.stopping = word == 1,
            _ => {}
        }
        true
    }
}

/// Runs a program from address 0 until it halts; the memory, and what it sends.
fn execute(text: &str, program: &[(u16, u16)]) -> (Vec<u16>, Vec<u16>, Outcome) {
    let mut circuit = circuit(text);
    passes::run(&mut circuit, passes::PassOptions::default());
    let mut memory = vec![0; 4096];
    program.iter().for_each(|(address, word)| memory[*address as usize] = *word);
    let mut bus =
        Bus { circuit: &circuit, memory, address: 0, data: 0, reading: false, stopping: false, sent: Vec::new() };
    let result = run(&circuit, &mut bus, Limits { cycles: 200_000, idle: 100_000 });
    (bus.memory, bus.sent, result.outcome)
}

const PDP8: &str = include_str!("../../../../assets/silicon/pdp8.si");

#[test]
fn a_program_multiplies_by_adding() {
    // 13 times 11 with ISZ as the counter; a subroutine sends the product.
    let program = [
        (0o000, 0o7300), // CLA CLL
        (0o001, 0o1021), // TAD 21
        (0o002, 0o2022), // ISZ 22
        (0o003, 0o5001), // JMP 1
        (0o004, 0o3023), // DCA 23
        (0o005, 0o4030), // JMS 30
        (0o006, 0o7402), // HLT
        (0o021, 13),
        (0o022, 0o7765), // -11
        (0o031, 0o1023), // TAD 23
        (0o032, 0o6046), // IOT
        (0o033, 0o5430), // JMP I 30
    ];
    let (memory, sent, outcome) = execute(PDP8, &program);
    assert_eq!((memory[0o23], &sent[..], memory[0o30]), (143, &[143][..], 0o006));
    assert_eq!(outcome, Outcome::Complete);
}

#[test]
fn addresses_are_of_the_page_and_count_up() {
    let program = [
        (0o000, 0o5577), // JMP I 177
        (0o177, 0o0200),
        (0o200, 0o7200), // CLA
        (0o201, 0o1240), // TAD 240: this page
        (0o202, 0o3410), // DCA I 10: counts up
        (0o203, 0o1241), // TAD 241
        (0o204, 0o3410), // DCA I 10
        (0o205, 0o7402), // HLT
        (0o240, 0o4321),
        (0o241, 0o1111),
        (0o010, 0o0377),
    ];
    let (memory, _, _) = execute(PDP8, &program);
    assert_eq!((memory[0o400], memory[0o401], memory[0o010]), (0o4321, 0o1111, 0o401));
}

#[test]
fn the_link_and_the_skips_work() {
    let program = [
        (0o000, 0o7300), // CLA CLL
        (0o001, 0o1100), // TAD 100: 4001
        (0o002, 0o7004), // RAL: AC 2, link 1
        (0o003, 0o3101), // DCA 101
        (0o004, 0o7430), // SZL: no skip
        (0o005, 0o7020), // CML: link 0
        (0o006, 0o7240), // CLA CMA: 7777
        (0o007, 0o7001), // IAC: 0, link 1
        (0o010, 0o7440), // SZA: skips
        (0o011, 0o7402), // HLT
        (0o012, 0o7012), // RTR: AC 2000
        (0o013, 0o3102), // DCA 102
        (0o014, 0o1100), // TAD 100
        (0o015, 0o7500), // SMA: skips
        (0o016, 0o7402), // HLT
        (0o017, 0o7510), // SPA: no skip
        (0o020, 0o6031), // IOT that loads 1234
        (0o021, 0o6041), // IOT that skips
        (0o022, 0o7402), // HLT
        (0o023, 0o0103), // AND 103
        (0o024, 0o3104), // DCA 104
        (0o025, 0o7402), // HLT
        (0o100, 0o4001),
        (0o103, 0o0077),
    ];
    let (memory, sent, outcome) = execute(PDP8, &program);
    assert_eq!((memory[0o101], memory[0o102], memory[0o104]), (2, 0o2000, 0o34));
    assert_eq!((&sent[..], outcome), (&[0o4001, 0o1234][..], Outcome::Complete));
}

/// The printed program, in the places where it is wrong.
#[test]
fn the_printed_program_is_wrong_or_refused() {
    let printed = |correct: &str, printed: &str| {
        assert!(PDP8.contains(correct), "{correct}");
        PDP8.replace(correct, printed)
    };
    // Line 44: six bits of the address.
    let found = super::errors(&printed("instruction[11-5:11-11]", "instruction[11-5:11-10]"));
    assert!(found.contains("bit 11 of a word of 11 bits"), "{found}");
    // Line 45: the page bit the other way round.
    let page = "(IF page THEN here[11-0:11-4] ELSE 0)";
    let text = printed(page, "(IF page THEN 0 ELSE here[11-0:11-4])");
    let program = [(0o000, 0o5577), (0o177, 0o0200), (0o200, 0o1240), (0o201, 0o3020), (0o202, 0o7402), (0o240, 7)];
    assert_eq!(execute(PDP8, &program).0[0o20], 7);
    assert_eq!(execute(&text, &program).0[0o20], 0);
    // Line 48: the address before it counts up.
    let text = printed("address:= address + 1;\n        store(pointer, address)", "store(pointer, address + 1)");
    let program = [(0o000, 0o7201), (0o001, 0o3410), (0o002, 0o7402), (0o010, 0o0100)];
    assert_eq!(execute(PDP8, &program).0[0o101], 1);
    assert_eq!(execute(&text, &program).0[0o101], 0);
    // Line 153: the lowest bit instead of the sign.
    let text = printed("sma AND ac[11-0]", "sma AND ac[11-11]");
    let program = [(0o000, 0o7201), (0o001, 0o7500), (0o002, 0o7402), (0o003, 0o3100), (0o004, 0o7402)];
    assert_eq!(execute(PDP8, &program).0[0o100], 0, "1 is not negative: halts before it is stored");
    assert_eq!(execute(&text, &program).0[0o100], 1);
}
