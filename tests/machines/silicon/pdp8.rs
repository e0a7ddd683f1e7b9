//! The PDP-8 as a chip, with a memory at its buses.

use super::*;

/// The environment at the buses. It answers fetches, and keeps what an IOT instruction sends.
struct Bus<'a> {
    circuit: &'a Circuit,
    memory: Vec<u128>,
    address: u128,
    data: u128,
    sent: Vec<u128>,
}

impl Environment for Bus<'_> {
    fn get(&mut self, port: PortId, _cycle: u64) -> Option<Bits> {
        let port = self.circuit.port(port);
        let word = if &*port.name == "dataBus" { self.memory[self.address as usize] } else { 0 };
        Some(Bits::from_u128(word, port.width))
    }

    fn ready(&mut self, _port: PortId, _cycle: u64) -> bool {
        true
    }

    fn put(&mut self, port: PortId, word: &Bits, _cycle: u64) -> bool {
        let word = word.to_u128().expect("small");
        match &*self.circuit.port(port).name {
            "addressBus" => self.address = word,
            "dataBus" => self.data = word,
            "memStore" if word == 1 => self.memory[self.address as usize] = self.data,
            "startIO" if word == 1 => self.sent.push(self.data),
            _ => {}
        }
        true
    }
}

/// 13 times 5 by adding, with ISZ as the counter; a subroutine sends the product.
const MULTIPLY: [(usize, u128); 12] = [
    (0o00, 0o7300), // CLA CLL
    (0o01, 0o1021), // TAD 21
    (0o02, 0o2022), // ISZ 22
    (0o03, 0o5001), // JMP 1
    (0o04, 0o3023), // DCA 23
    (0o05, 0o4030), // JMS 30
    (0o06, 0o7402), // HLT
    (0o21, 13),
    (0o22, 0o7773), // -5
    (0o31, 0o1023), // TAD 23
    (0o32, 0o6046), // IOT
    (0o33, 0o5430), // JMP I 30
];

fn bus(circuit: &Circuit) -> Bus<'_> {
    let mut memory = vec![0; 4096];
    MULTIPLY.iter().for_each(|&(address, word)| memory[address] = word);
    Bus { circuit, memory, address: 0, data: 0, sent: Vec::new() }
}

#[test]
fn the_chip_of_the_pdp8_runs_a_program_and_so_does_its_verilog() {
    let circuit = circuit(&source("pdp8"), true);
    let netlist = netlist(&circuit);
    let mut ideal = bus(&circuit);
    functional::run(&circuit, &mut ideal, functional::Limits::default());
    let mut chip = bus(&circuit);
    let run = serial::simulate(&netlist, &mut chip, limits()).unwrap_or_else(|error| panic!("{}", error.message));
    assert_eq!((chip.memory[0o23], &chip.sent[..]), (65, &[65][..]));
    assert_eq!((&chip.memory, &chip.sent), (&ideal.memory, &ideal.sent));
    // The testbench has no memory: it gives what the memory gave.
    let left = icarus(&netlist, &verilog::recorded(&netlist, &run), run.cycles);
    for (port, words) in &run.left {
        let words: Vec<String> = words.iter().map(|(_, word)| word.unsigned()).collect();
        assert_eq!(left.get(&**port).cloned().unwrap_or_default(), words, "{port}");
    }
}
