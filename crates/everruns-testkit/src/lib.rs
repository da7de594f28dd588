//! Conformance suites, fault injection and repository fixtures for everruns. For tests only.
