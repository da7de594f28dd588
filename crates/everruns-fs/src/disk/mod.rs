//! Files on disk, contained by the kernel.
