"""The emitters of modules: the class, its suite and its page."""
