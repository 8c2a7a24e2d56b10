"""The vocabulary of `requires`, `infer`, defaults and types: Python's own functions and those on shapes."""

import math

from tripybuild.language.vocabulary import PYTHON, Vocabulary
from tripybuild.types.shapes import SHAPE_FUNCTIONS

CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi}
SHAPE = PYTHON | Vocabulary(functions=SHAPE_FUNCTIONS)
