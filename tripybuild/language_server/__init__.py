"""Language server: what an editor shows of specs and declarations while they are written.

Invariant: a request reads what is known of a text and never waits for a model to be built; building
is done in a thread of its own, when typing stops. Nothing of a file is run.
"""
