"""Dtypes, symbolic sizes, shapes and the types of declarations. Law: no file is read here."""
