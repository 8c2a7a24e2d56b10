"""Code generation: one emitter per kind of file. Invariant: text to text; `sync` alone writes."""
