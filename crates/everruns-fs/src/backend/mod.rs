//! The memory and directory workspace backends.
