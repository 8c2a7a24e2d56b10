"""Vocabulary of `reference` snippets: NumPy's functions and the named helpers.

The names themselves are closed tables; this module gives exactly those.
"""

from functools import cache
from importlib import import_module

import numpy as np

from tripybuild.language.numpy_names import NUMPY
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.reference import numerics
from tripybuild.reference.numerics.numpy_guard import guard_functions
from tripybuild.schema.snippets.vocabularies import ARRAY_ATTRIBUTES, ARRAY_METHODS, HELPERS
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE


@cache
def reference_vocabulary() -> Vocabulary:
    """The vocabulary of `reference` snippets."""
    return SHAPE | Vocabulary(
        functions={
            name: getattr(import_module(f"{numerics.__name__}.{module}"), name)
            for module, names in HELPERS.items()
            for name in names
        },
        namespaces={"np": guard_functions(NUMPY)},
        methods=((np.ndarray, ARRAY_METHODS), (np.generic, ARRAY_METHODS)),
        attributes=((np.ndarray, ARRAY_ATTRIBUTES), (np.generic, ARRAY_ATTRIBUTES)),
        constants=dict(BY_NAME),
    )
