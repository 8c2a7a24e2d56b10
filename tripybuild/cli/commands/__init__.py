"""The commands of `tripybuild`, one module for each."""
