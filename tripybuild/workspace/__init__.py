"""Workspaces: many builds in one file, made where they are out of date, by many processes."""
