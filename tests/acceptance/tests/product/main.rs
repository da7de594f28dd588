//! The product as an application uses it: the facade, real repositories, real processes.

mod compat;
mod crash;
mod first_example;
