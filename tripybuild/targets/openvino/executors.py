"""Executors: threads that OpenVINO keeps for models, and forks of a process that has them.

An executor whose models are gone waits for the next one with the same properties. A forked process
has none of its threads, and to compile there with such an executor would never return. Before a
fork, every one that waits is therefore given a small model, which the forked process keeps.
"""

import ctypes
import os
import weakref
from collections import Counter
from collections.abc import Mapping
from threading import RLock
from typing import Any

from tripybuild.onnx.model import GraphDef, OnnxModel, OnnxNode, ValueInfo
from tripybuild.onnx.protobuf import encode_model
from tripybuild.targets.openvino.library import DEVICE, core
from tripybuild.types.dtypes import float32

Key = tuple[tuple[str, Any], ...]

_lock = RLock()
_alive: Counter[Key] = Counter()
_most: Counter[Key] = Counter()  # as many executors there are
_held: list[Any] = []


def compile_model(model: Any, properties: Mapping[str, Any]) -> Any:
    """Compile a model; one at a time, and none while the process is forked.

    Raises:
        RuntimeError: OpenVINO refuses it.
    """
    key = tuple(sorted(properties.items()))
    with _lock:
        _most[key] = max(_most[key], _alive[key] + 1)  # one that is refused has an executor, too
        compiled = core().compile_model(model, DEVICE, dict(properties))
        _alive[key] += 1
        weakref.finalize(compiled, _forget, key, os.getpid()).atexit = False
        return compiled


def _forget(key: Key, process: int) -> None:
    if process == os.getpid():
        _alive[key] -= 1


def _before_fork() -> None:
    _lock.acquire()
    waiting = [key for key, count in _most.items() for _ in range(count - _alive[key])]
    _held.extend(core().compile_model(core().read_model(_SMALL), DEVICE, dict(k)) for k in waiting)


def _in_parent() -> None:
    _held.clear()
    _lock.release()


def _in_child() -> None:
    """Begin anew; what the parent made is never taken apart, since that would wait for threads."""
    global _lock  # noqa: PLW0603 - that of the parent may be another thread's
    for each in _held:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
    _held.clear()
    _alive.clear()
    _most.clear()
    _lock = RLock()


_SMALL = encode_model(
    OnnxModel(
        GraphDef(
            "small",
            (OnnxNode("Exp", ("x",), ("y",)),),
            (ValueInfo("x", float32, (1,)),),
            (ValueInfo("y", float32, (1,)),),
        ),
        opset=20,
    )
)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
