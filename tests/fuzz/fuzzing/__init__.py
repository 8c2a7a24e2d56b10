"""Fuzzers of everything that a stranger's file may be: one harness, two engines, one mutator.

A target reads bytes as a user would give them; the contract is in `harness`. `engines` feeds it:
atheris where it is installed, else a loop of our own. Hypothesis draws the same edits in
`tests/fuzz/test_fuzz_targets.py`.
"""
