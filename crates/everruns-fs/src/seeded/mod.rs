//! Files that an agent brings along.
