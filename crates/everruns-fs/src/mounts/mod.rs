//! Additional roots beside the head.
