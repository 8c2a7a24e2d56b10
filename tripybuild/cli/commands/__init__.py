"""Commands of `tripybuild`, one module for each."""
