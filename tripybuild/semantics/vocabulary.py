"""What the names of a `reference` do: NumPy's functions, and the named helpers.

The names themselves are the closed tables of `schema.vocabularies`; this module gives exactly
those.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tripybuild.language.vocabulary import Vocabulary
from tripybuild.schema.vocabularies import ARRAY_ATTRIBUTES, ARRAY_METHODS, NUMPY, REFERENCE
from tripybuild.semantics import arrays, control, sampling
from tripybuild.semantics.bounded import bounded
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE


@cache
def reference_vocabulary() -> Vocabulary:
    """The vocabulary of `reference` snippets."""
    return SHAPE | Vocabulary(
        functions={name: _helper(name) for name in REFERENCE},
        namespaces={"np": bounded(NUMPY)},
        methods=((np.ndarray, ARRAY_METHODS), (np.generic, ARRAY_METHODS)),
        attributes=((np.ndarray, ARRAY_ATTRIBUTES), (np.generic, ARRAY_ATTRIBUTES)),
        constants=dict(BY_NAME),
    )


def _helper(name: str) -> Callable[..., Any]:
    """A named helper, from the module that has it."""
    home = next(module for module in (arrays, control, sampling) if hasattr(module, name))
    found: Callable[..., Any] = getattr(home, name)
    return found
