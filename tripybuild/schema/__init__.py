"""Schema of the YAML files: operators, modules, models, and checks between their parts."""
