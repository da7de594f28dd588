//! Commands confined by Landlock and a system call filter.

mod compute;
mod filter;
mod probe;
mod rules;

pub use compute::{LandlockBuilder, LandlockCompute};
