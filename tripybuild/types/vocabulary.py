"""Vocabulary of laws, inference, defaults and types: Python builtins and shape functions."""

import math
from dataclasses import replace

from tripybuild.language.records import METHODS, Record
from tripybuild.language.vocabulary import ANY_NAME, PYTHON, Vocabulary
from tripybuild.symbolic.conditions import Condition
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.shapes import SHAPE_FUNCTIONS

CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi}
# `bool` is a dtype, in every snippet that knows shapes, and not Python's function.
_PYTHON = replace(PYTHON, functions={n: f for n, f in PYTHON.functions.items() if n not in BY_NAME})
SHAPE = _PYTHON | Vocabulary(
    functions=SHAPE_FUNCTIONS,
    methods=((Record, METHODS),),
    attributes=((dtype, frozenset({"highest", "lowest", "wide"})), (Record, ANY_NAME)),
    conditions=(Condition,),
)
