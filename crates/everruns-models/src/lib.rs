//! Model providers of everruns: OpenAI, Anthropic, compatible endpoints, and a scripted one.
