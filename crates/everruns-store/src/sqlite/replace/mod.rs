//! A database made of a backup in the place of another one, which is kept.
//!
//! What holds after every step, so that a process that dies there, or a machine that loses its power, costs nothing:
//!
//! 1. The new database is complete and flushed before anything of the old one is touched.
//! 2. There is something of the database's name all the time: a program that opens it never begins an empty one.
//! 3. The old database is never without what its log has. A sound one is locked, and SQLite itself moves its log into it
//!    and removes it. A damaged one, whose log nobody can move, gets a second name together with its log before the
//!    log's first name is taken away.
//! 4. The new database never has the name while a log of the old one is beside it: SQLite would apply it.
//!
//! Only one restoration at a time works in a folder. It makes its copy in a folder of its own beside the database, with a
//! mark that tells that it is ours, and notes the copy's inode and the name for the old database before the exchange.
//! What one left whose process ended is known by these alone: the next one removes the copy, or gives the old database
//! the name that it was to have. Whatever else has a name like ours stays, and is told of.
//!
//! From the first step on nobody else uses the old database: the locks that a connection of another process needs are
//! held until the end. Who waited for them then has a file that was moved, and SQLite lets him write nothing.

mod alone;
mod lock;
mod names;
mod run;
mod workplace;

pub(super) use run::replace;
