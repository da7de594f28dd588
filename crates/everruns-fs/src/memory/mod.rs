//! Files in memory: a persistent copy-on-write tree.
