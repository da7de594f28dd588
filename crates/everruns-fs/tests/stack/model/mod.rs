//! Random operations on a file system and on a plain map beside it, which must agree.

mod fault;
mod look;
mod plain;
mod run;
mod step;
mod subjects;
