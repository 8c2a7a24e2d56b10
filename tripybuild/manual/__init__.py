"""The manual: what operators' files, keys and words mean, for `explain` and for editors."""
