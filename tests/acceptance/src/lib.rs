//! Helpers of the acceptance tests.

pub mod openai_server;
