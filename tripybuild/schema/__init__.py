"""The files after reading: operators, modules, models, and the laws between their parts."""
