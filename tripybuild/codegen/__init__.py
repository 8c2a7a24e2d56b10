"""One emitter for each kind of generated file. Law: from texts to texts; `sync` writes."""
