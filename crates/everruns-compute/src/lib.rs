//! Commands on a head, confined by the kernel where the host can.
