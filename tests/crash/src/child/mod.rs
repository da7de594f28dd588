//! The process that is killed.

mod clash;
mod orders;
mod rival;
mod seen;
mod travel;
mod upkeep;
mod work;

pub use orders::Orders;
pub(crate) use seen::Seen;
pub use work::work;
