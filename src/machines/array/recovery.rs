//! When a pixel is complete, and what is done again after a death.
//!
//! In the thesis's protocol nobody knows which rays of a pixel are still on their way, so when a node
//! dies (fail-stop, at any moment) the image lacks an unknown part: the rays that the node held, all
//! that would have followed from them, everything that the node's polygons would have shown, and its
//! block of pixels. The variant here loses nothing:
//!
//! - *Copies.* A node's neighbor, its [buddy](super::routes::buddy), has a copy of its polygons, from
//!   the broadcast with which the scene is loaded. When a pixel is complete, its owner sends the color
//!   to its own buddy.
//! - *Shares.* Every ray carries a share of its sample, a whole number: the ray from the eye all,
//!   [`WHOLE`], and a hit divides its ray's share among the messages that it makes, without a rest. What
//!   ends without a color (a shadow ray that is blocked, a ray that leaves space) sends its share back
//!   with a black result. The owner adds up the shares of the results that come. The sum of the shares
//!   under way and of those that have come is [`WHOLE`] at any time, unless messages were lost; so
//!   a sample is complete if and only if all has come.
//! - *Restart.* The neighbors of a dead node notice that it does not answer, and the news is passed on
//!   from node to node. On hearing it every node throws its rays away, knows the new ways
//!   ([`Routes`](super::routes::Routes)), and the owners of incomplete samples begin them again: the buddy
//!   for those of the dead node. Messages carry the number of deaths that their sender knows of, the
//!   epoch; those of an older epoch are thrown away.
//!
//! Nothing is lost: a complete sample is in two nodes, or about to be and then, if the owner dies,
//! counts as incomplete; an incomplete one is begun again with all that it needs. Nothing counts twice:
//! what had come of an incomplete sample is thrown away with the epoch. Two deaths are survived unless
//! the second is that of the buddy.

use super::protocol::Part;
use super::workload::{Ray, Workload};

/// The share of a whole sample.
pub const WHOLE: u64 = 1 << 62;

/// The part of each ray's share that is sent back with its result, given the parts of each ray;
/// `None` if a share is too small to be divided, which takes more than 60 hits with two rays each.
pub fn shares(load: &Workload, parts: &dyn Fn(u32) -> Vec<Part>) -> Option<Vec<u64>> {
    let mut shares = vec![0u64; load.rays.len()];
    for sample in &load.samples {
        if let Some(root) = sample.root {
            shares[root as usize] = WHOLE;
        }
    }
    for ray in 0..load.rays.len() as u32 {
        let parts: Vec<Part> = parts(ray).into_iter().filter(|p| !matches!(p, Part::LookUp(_))).collect();
        let whole = shares[ray as usize];
        let count = parts.len().max(1) as u64;
        let (each, mut rest) = (whole / count, whole % count);
        if whole > 0 && each == 0 {
            return None;
        }
        let mut back = 0;
        for part in parts {
            let share = each + std::mem::take(&mut rest);
            match part {
                Part::Ray(child) => shares[child as usize] = share,
                _ => back = share,
            }
        }
        shares[ray as usize] = back;
    }
    Some(shares)
}

/// The account that the array keeps of its samples.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The share that has come back of each.
    returned: Vec<u64>,
    /// True if the owner's buddy has the color.
    copied: Vec<bool>,
}

impl Ledger {
    /// So many samples, none begun.
    pub fn new(samples: usize) -> Self {
        Self { returned: vec![0; samples], copied: vec![false; samples] }
    }

    /// A share comes back; true if the sample is complete with it.
    pub fn returns(&mut self, sample: u32, share: u64) -> bool {
        let sum = &mut self.returned[sample as usize];
        *sum += share;
        *sum == WHOLE
    }

    /// The copy of a complete sample has come to the buddy.
    pub fn copied(&mut self, sample: u32) {
        self.copied[sample as usize] = true;
    }

    /// True if a sample has to be begun again, given whether its owner died. If so, what has come of
    /// it is forgotten.
    pub fn restarts(&mut self, sample: u32, owner_died: bool) -> bool {
        let index = sample as usize;
        let is_safe = self.returned[index] == WHOLE && (!owner_died || self.copied[index]);
        if !is_safe {
            self.returned[index] = 0;
            self.copied[index] = false;
        }
        !is_safe
    }

    /// True if all of a sample has come.
    pub fn is_complete(&self, sample: u32) -> bool {
        self.returned[sample as usize] == WHOLE
    }
}

/// True if a ray's end sends anything to its pixel where only colors count.
pub(super) fn shows(ray: &Ray) -> bool {
    ray.direct.iter().any(|&x| x != 0.0)
}
