"""Facts of a compilation, by which entries of the cache say what they were made for.

They decide nothing: the key of an entry is made of what its content depends on. What takes time to
compute is computed where something is made, or explained.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from tripybuild.cache.explanation import SPEC
from tripybuild.cache.records import Facts
from tripybuild.model.model_graph import ModelGraph
from tripybuild.process import paths
from tripybuild.schema.registry_folders import contents, sources


def registry_facts(roots: Sequence[Path]) -> Facts:
    """A fact of each registry: the digest of its declarations."""
    return {f"the registry `{each.name}`": partial(registry_digest, each) for each in roots}


def spec_facts(built: ModelGraph, path: Path, options: Mapping[str, object]) -> Facts:
    """What is known of a spec that is compiled.

    Args:
        built: The model.
        path: The spec.
        options: Of the compilation, by name; empty ones are none.
    """
    texts = {Path(each.path).name: each.text for each in (built.document, *built.used)}
    found: dict[str, Any] = {SPEC: path.name}
    found |= {f"the text of `{name}`": _digest(text) for name, text in texts.items()}
    if built.config is not None:
        found["the configuration"] = _digest(repr(built.config))
    for name, value in options.items():
        if value:
            found |= {f"`{name}`": json.dumps(value, sort_keys=True, default=str)}
    # In an installed package it changes with the version.
    own = () if paths.in_installed_package() else (paths.registry(),)
    return {**found, **registry_facts(own)}


@cache
def registry_digest(root: Path) -> str:
    """The digest of the declarations below a folder, read once in a process."""
    digest = sha256()
    for shown, path in sources(root).items():
        digest.update(sha256(shown.encode(errors="surrogateescape")).digest())
        digest.update(sha256(contents(path)).digest())
    return digest.hexdigest()


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
