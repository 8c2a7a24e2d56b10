"""The snippets: their grammar, their names, and the walker that gives them values.

Law: nothing here is compiled by Python, and nothing outside of a vocabulary can be reached.
"""
