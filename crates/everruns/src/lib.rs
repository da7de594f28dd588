//! Every AI-agent session in its own exact, isolated, forkable, resumable working environment.
