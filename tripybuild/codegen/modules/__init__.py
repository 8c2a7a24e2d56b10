"""Emitters of modules: class, suite and page."""
