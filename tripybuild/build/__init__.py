"""From a model and its weights to an executable, and from an executable to results."""
