#[macro_use]
mod on_each;
pub(crate) mod child;
#[cfg(unix)]
#[cfg(feature = "sqlite")]
pub(crate) mod ordinary;
pub(crate) mod place;
pub(crate) mod samples;

#[cfg(feature = "postgres")]
pub(crate) mod proxy;
#[cfg(feature = "postgres")]
pub(crate) mod server;
