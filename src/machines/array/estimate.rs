//! The thesis's estimate of the array's speed, by the rate at which polygons can be fetched (Ullner
//! 1983, §2.5.3).

/// Bits that the peripheral fetches at once: 20 words from 20 memories.
pub const PERIPHERAL_BITS: u32 = 640;

/// Bits that a node fetches at once.
pub const NODE_BITS: u32 = 16;

/// How many times as fast as the peripheral so many nodes are, if memory is all that counts and
/// both fetch all of each polygon.
pub fn by_bandwidth(nodes: u32) -> f64 {
    f64::from(nodes * NODE_BITS) / f64::from(PERIPHERAL_BITS)
}

/// Nodes that are as fast as the peripheral by that estimate.
pub fn nodes_of_a_peripheral() -> u32 {
    PERIPHERAL_BITS / NODE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_nodes_are_a_peripheral_and_a_hundred_are_two_and_a_half() {
        assert_eq!(nodes_of_a_peripheral(), 40);
        assert_eq!((by_bandwidth(40), by_bandwidth(100)), (1.0, 2.5));
    }
}
