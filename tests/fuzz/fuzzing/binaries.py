"""Targets whose files are binary: containers, their manifests, safetensors, ONNX, `.pt2`."""

import base64
import io
import json
import random
import struct
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tripybuild
from fuzzing.edits import mutate, mutate_json, mutate_tree
from fuzzing.harness import Disagreement, Target
from tripybuild.artifact import container
from tripybuild.compiler.executable import Executable
from tripybuild.importer.session import ImportRequest, read_source, write_foreign
from tripybuild.packages.builtin import builtin_registry
from tripybuild.weights import safetensors

SPEC = """tripybuild: 1
model: m
inputs: {{x: "float32[B, 4]"}}
ranges: {{B: {{min: 1, opt: 2, max: 9}}}}
outputs: {{y: "{body}"}}
"""
BODIES = {"exp": "exp(x) @ ones([4, 3])", "sum": "sum(x * 2.0, 1)", "shape": "reshape(x, [4, B])"}
INPUT = np.arange(8, dtype=np.float32).reshape(2, 4)


def containers(folder: Path) -> Target:
    """Executables as they come: each change is refused, or the answer is that of the seed."""
    made = _executables(folder, "cpu:xla") | _executables(folder, "reference")
    answers = {data: _answer(folder, data) for data in made.values()}
    path = folder / "model.tpb"

    def read(data: bytes) -> str:
        path.write_bytes(data)
        found = _outputs(tripybuild.load(path)) if data in answers else None
        with container.open(path) as opened:
            opened.verify()
        if data not in answers:
            raise Disagreement("an altered file was opened")
        if found != answers[data]:
            raise Disagreement("another answer")
        return "the same"

    return Target(name="containers", suffix=".tpb", read=read, made=made)


def manifests(folder: Path) -> Target:
    """What an executable for `reference` says, with right digests around it: loaded and called."""
    made = {name: _opened(folder, data) for name, data in _executables(folder, "reference").items()}
    path = folder / "model.tpb"

    def read(data: bytes) -> str:
        try:
            said = json.loads(data)
            members = {n: _octets(each) for n, each in said["members"].items()}
            container.write(path, said["manifest"], members)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            return "no file"
        loaded = tripybuild.load(path)
        if _is_small(loaded):
            _outputs(loaded)
        return "ran"

    return Target(name="manifests", suffix=".json", read=read, made=made, structured=mutate_json)


def headers(folder: Path) -> Target:
    """Safetensors: what we read is what the format's own library reads, where both do."""
    from safetensors import SafetensorError, numpy as peer  # noqa: PLC0415 - a tool of tests

    path = folder / "weights.safetensors"

    def read(data: bytes) -> str:
        path.write_bytes(data)
        index = safetensors.read_index(path)
        ours = safetensors.read(path)
        if ours.keys() != index.keys():
            raise Disagreement("the header names other tensors")
        try:
            theirs = peer.load(data)
        except (SafetensorError, KeyError, ValueError, TypeError, AttributeError):
            return "ours alone"
        for name, array in theirs.items():
            found = ours.get(name)
            if found is None or found.shape != array.shape or found.tobytes() != array.tobytes():
                raise Disagreement(f"`{name}` has other values")
        return "both"

    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b.c": np.array(7, np.int64)}
    made = {
        "two": peer.save(arrays),
        "kinds": peer.save({k: np.ones(3, k) for k in ("bool", "uint8", "float16", "int32")}),
        "note": peer.save({"x": np.zeros((0, 4), np.float32)}, {"format": "pt"}),
    }
    words = [b"F32", b"BF16", b"F8_E4M3", b"I8", b"BOOL", b"dtype", b"shape", b"data_offsets"]
    words.append(b"__metadata__")
    return Target(
        name="safetensors", suffix=".safetensors", read=read, made=made, words=words,
        structured=partial(_mutate_header, words=words),
    )  # fmt: skip


def onnx_models(folder: Path) -> Target:
    """Models of ONNX: read and said as a spec."""
    import onnx  # noqa: PLC0415 - an extra

    def structured(data: bytes, pick: random.Random) -> bytes:
        try:
            model = onnx.ModelProto.FromString(data)
        except Exception:  # noqa: BLE001 - of each version of protobuf another one
            return mutate(data, pick)
        for _ in range(pick.choice((1, 1, 2, 4))):
            _mutate_message(model, pick)
        return model.SerializeToString()

    read = _importer(folder / "model.onnx")
    return Target(name="onnx", suffix=".onnx", read=read, made={}, structured=structured)


def archives(folder: Path) -> Target:
    """Exported programs of PyTorch: read without PyTorch, and said as a spec."""

    def structured(data: bytes, pick: random.Random) -> bytes:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as file:
                members = {each.filename: file.read(each) for each in file.infolist()}
        except Exception:  # noqa: BLE001 - zipfile says many things of bad files
            return mutate(data, pick)
        names = sorted(members)
        name = pick.choice([*[n for n in names if n.endswith("model.json")] * 4, *names])
        members[name] = mutate_json(members[name], pick)
        if pick.random() < 0.05:
            del members[pick.choice(names)]
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as file:
            for each, content in members.items():
                file.writestr(each, content)
        return made.getvalue()

    read = _importer(folder / "model.pt2")
    return Target(name="pt2", suffix=".pt2", read=read, made={}, structured=structured)


def _importer(path: Path) -> Callable[[bytes], str]:
    registry, request = builtin_registry(), ImportRequest()

    def read(data: bytes) -> str:
        path.write_bytes(data)
        program = read_source(path, request, registry)
        write_foreign(program, request, registry, path.parent)
        return "a spec"

    return read


def _executables(folder: Path, target: str) -> dict[str, bytes]:
    found = {}
    for name, body in BODIES.items():
        spec, output = folder / f"{name}.yaml", folder / f"{name}.tpb"
        spec.write_text(SPEC.format(body=body))
        tripybuild.compile(spec, target=target, output=output)
        found[f"{name}-{target.replace(':', '-')}"] = output.read_bytes()
    return found


def _answer(folder: Path, data: bytes) -> Any:
    path = folder / "seed.tpb"
    path.write_bytes(data)
    return _outputs(tripybuild.load(path))


def _outputs(loaded: Executable) -> Mapping[str, bytes]:
    return {name: each.tobytes() for name, each in loaded(x=INPUT).items()}


def _is_small(loaded: Executable) -> bool:
    """Whether a call asks for little: a program within its budget may compute what it likes."""
    return all(
        (isinstance(size, int) and size < 1 << 16) or isinstance(size, str)
        for entry in loaded.entries.values()
        for value in (*entry.inputs.values(), *entry.outputs.values())
        for size in value["shape"]
    )


def _opened(folder: Path, data: bytes) -> bytes:
    path = folder / "seed.tpb"
    path.write_bytes(data)
    with container.open(path) as opened:
        members = {name: _said(bytes(opened.read(name))) for name in opened.manifest.members}
        return json.dumps({"manifest": dict(opened.manifest.content), "members": members}).encode()


def _said(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return {"base64": base64.b64encode(content).decode()}


def _octets(said: Any) -> bytes:
    if isinstance(said, dict) and said.keys() == {"base64"}:
        return base64.b64decode(said["base64"])
    return json.dumps(said, separators=(",", ":"), sort_keys=True).encode()


def _mutate_header(data: bytes, pick: random.Random, words: list[bytes]) -> bytes:
    """Change the tree of the header, and give it the right length."""
    length = int.from_bytes(data[:8], "little")
    header, rest = data[8 : 8 + length], data[8 + length :]
    try:
        tree = json.loads(header)
    except (ValueError, RecursionError):
        return mutate(data, pick, words)
    text = json.dumps(mutate_tree(tree, pick, words)).encode()
    return struct.pack("<Q", len(text)) + text + rest


def _mutate_message(message: Any, pick: random.Random) -> None:
    """Change one field of a message, of any depth."""
    fields = message.ListFields()
    inner = [
        each
        for field, value in fields
        if field.type == field.TYPE_MESSAGE
        for each in ([value] if hasattr(value, "ListFields") else value)
    ]
    if inner and pick.random() < 0.8:
        _mutate_message(pick.choice(inner), pick)
        return
    if not fields or pick.random() < 0.15:
        field = pick.choice(list(message.DESCRIPTOR.fields))
        if field.type != field.TYPE_MESSAGE:
            _set(message, field, pick)
        elif _is_repeated(field):
            getattr(message, field.name).add()
        else:
            getattr(message, field.name).SetInParent()
        return
    field, value = pick.choice(fields)
    if _is_repeated(field) and field.type == field.TYPE_MESSAGE:
        at = pick.randrange(len(value))
        if pick.random() < 0.4:
            del value[at]
        else:
            value.add().CopyFrom(value[pick.randrange(len(value))])
    elif pick.random() < 0.2 or field.type == field.TYPE_MESSAGE:
        message.ClearField(field.name)
    else:
        _set(message, field, pick)


def _is_repeated(field: Any) -> bool:
    """Whether a field holds several values, which versions of protobuf tell by other names."""
    found = getattr(field, "is_repeated", None)
    return field.label == field.LABEL_REPEATED if found is None else found


def _set(message: Any, field: Any, pick: random.Random) -> None:
    known: list[Any]
    if field.cpp_type in {field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT}:
        known = [0.0, -1.0, 1e30, float("nan"), float("inf")]
    elif field.type == field.TYPE_BYTES:
        known = [b"", b"\0" * 3, b"\0\0\x80\x3f" * 6, b"x" * 300]
    elif field.cpp_type == field.CPPTYPE_STRING:
        known = ["", "x", "y", "Add", "Reshape", "N", "../x", "a b", "\0", "class", "é"]
    elif field.cpp_type == field.CPPTYPE_ENUM:
        known = [each.number for each in field.enum_type.values]
    else:
        known = [0, 1, 2, 3, 7, 13, 20, 64, 2**31 - 1]
        if field.cpp_type in {field.CPPTYPE_INT32, field.CPPTYPE_INT64}:
            known += [-1, -2, -(2**31)]
        if field.cpp_type in {field.CPPTYPE_INT64, field.CPPTYPE_UINT64}:
            known += [2**40, 2**62]
    if not _is_repeated(field):
        setattr(message, field.name, pick.choice(known))
        return
    values = getattr(message, field.name)
    if values and pick.random() < 0.7:
        values[pick.randrange(len(values))] = pick.choice(known)
    else:
        values.extend([pick.choice(known)] * pick.choice((1, 1, 3)))
