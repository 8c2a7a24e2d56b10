"""Folders of Hugging Face: `config.json` and safetensors as foreign programs, by `transformers`.

Nothing is fetched, no code of the folder is run, and no pickle is read. A weight that the spec can
read where it is, with the same bytes, stays there, under the same name or another one.
"""

import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripybuild.documents.plain_json import read_object
from tripybuild.eager.compile.infos import InputInfo, NamedDimension
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.importer.foreign_program import CheckpointPlace, ForeignProgram
from tripybuild.importer.pytorch.module_export import (
    EXTRA,
    Dynamic,
    ModuleInputs,
    export_without_gradients,
    read_module,
    require_torch,
)
from tripybuild.schema.load import Registry
from tripybuild.types.dtypes import float32, int64
from tripybuild.weights.files import CheckpointFiles, Shard, open_path

if TYPE_CHECKING:
    from torch.export import ExportedProgram

CONFIG = "config.json"
_LONGEST = 4096  # a length, where the configuration states none
_DEPTH = re.compile(r"layers?$|depth$|blocks?$")
_LAYERS = 1000  # that are made without asking for their weights
_USUAL_LENGTH = 128
_BATCH = (1, 8, 64)


def read_folder(
    folder: Path,
    registry: Registry,
    *,
    inputs: Mapping[str, Any] | None = None,
    dynamic: Dynamic | None = None,
) -> ForeignProgram:
    """Read a checkpoint by its `config.json`.

    Args:
        folder: The folder.
        registry: What the program is decomposed into.
        inputs: Tensors or infos by parameter; by default those that the model's main input tells,
            with a dynamic batch and length.
        dynamic: The dimensions that vary, beside those of infos.

    Raises:
        DiagnosticError: The architecture is not known, weights are missing or pickled, or the
            program has what has no counterpart in a spec.
    """
    config, _ = read_object(folder / CONFIG)
    files = open_path(folder)
    require_torch()
    kind = _model_class(folder, config)
    _check_depth(folder, config, files)
    model = _load(folder, files, kind)
    given = dict(inputs) if inputs else dict(_default_inputs(model))
    request = ModuleInputs((), given, dynamic or {}, optional=not inputs and not dynamic)
    name = str(config.get("model_type") or type(model).__name__)
    read = read_module(model, request, registry, name=name, export=_export)
    read.config = config
    for path, weight in read.weights.items():
        weight.place = _place(files, path, weight)
    _place_renamed(files, read.weights.values())
    return read


def _model_class(folder: Path, config: Mapping[str, Any]) -> type[Any]:
    """The class of `transformers` that the configuration names."""
    if importlib.util.find_spec("transformers") is None:
        message = f"`{folder}` is read by `transformers`, which is not installed"
        hint = f"install it: `pip install '{EXTRA}'`"
        raise DiagnosticError(Diagnostic("not-installed", message, hint=hint))
    transformers: Any = importlib.import_module("transformers")
    named = config.get("architectures")
    name = named[0] if isinstance(named, list) and named and isinstance(named[0], str) else None
    if name is None:
        message = f"`{folder / CONFIG}` names no class of a model"
        hint = 'it needs `"architectures": ["BertModel"]`'
        raise DiagnosticError(Diagnostic("import-architecture", message, hint=hint))
    found = getattr(transformers, name, None) if name.isidentifier() else None
    if not inspect.isclass(found) or not issubclass(found, transformers.PreTrainedModel):
        near = suggest(name, [each for each in dir(transformers) if each[:1].isupper()])
        hint = f"did you mean `{near}`?" if near else "export it yourself: `FILE.py:model`"
        own = " (`auto_map` names code of the folder, which is never run)"
        code = own if "auto_map" in config else ""
        message = f"`transformers` has no model `{name}`{code}"
        raise DiagnosticError(Diagnostic("import-architecture", message, hint=hint))
    return found


def _check_depth(folder: Path, config: Mapping[str, Any], files: CheckpointFiles) -> None:
    """Refuse more layers than there are weights: the model would be made before that is seen."""
    count = sum(len(each.index) for each in files.shards)
    for key, value in config.items():
        if _DEPTH.search(key) and isinstance(value, int) and value > max(count, _LAYERS):
            message = (
                f"`{folder / CONFIG}` has `{key}` = {value}, and the files have {count} weights"
            )
            raise DiagnosticError(Diagnostic("import-architecture", message))


def _load(folder: Path, files: CheckpointFiles, kind: type[Any]) -> Any:
    """The model with its weights, all of which are there."""
    transformers: Any = importlib.import_module("transformers")
    verbosity = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        model, report = kind.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except Exception as error:  # whatever the classes of models raise for a configuration
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = f"{type(error).__name__}: {' '.join(lines[:2])}"
        said = _shape_mismatch(folder, files, kind) or said
        message = f"`{kind.__name__}` cannot be made of `{folder}`: {said}"
        raise DiagnosticError(Diagnostic("import-architecture", message)) from error
    finally:
        transformers.logging.set_verbosity(verbosity)
    missing = sorted(report["missing_keys"])
    if missing:
        names = ", ".join(f"`{each}`" for each in missing[:3])
        more = f" and {len(missing) - 3} further ones" if len(missing) > 3 else ""
        message = f"`{folder}` has no weights {names}{more} of `{kind.__name__}`"
        raise DiagnosticError(Diagnostic("weight-missing", message))
    for each in model.modules():
        if hasattr(getattr(each, "config", None), "use_cache"):
            each.config.use_cache = False
    if getattr(type(model), "_can_set_experts_implementation", bool)():
        # The usual one goes through the experts by data.
        model.set_experts_implementation("batched_mm")
    return model


def _shape_mismatch(folder: Path, files: CheckpointFiles, kind: type[Any]) -> str | None:
    """The first weight of another shape than the configuration says, in words; None without one."""
    torch: Any = importlib.import_module("torch")
    stored = {
        name: entry[1] for each in files.shards for name, entry in each.index.items()
    }  # dtypes differ where the weights are converted
    with contextlib.suppress(Exception), torch.device("meta"):  # it is refused already
        model = kind(kind.config_class.from_pretrained(folder, local_files_only=True))
        for name, weight in model.state_dict().items():
            bare = name.removeprefix(f"{model.base_model_prefix}.")
            there = stored.get(name, stored.get(bare))
            if there is not None and tuple(there) != tuple(weight.shape):
                shapes = [f"[{', '.join(map(str, each))}]" for each in (there, weight.shape)]
                return f"`{bare}` has shape {shapes[0]} in the files, and {shapes[1]} by `{CONFIG}`"
    return None


def _default_inputs(model: Any) -> Iterator[tuple[str, InputInfo]]:
    """The main input of a model, and what belongs to it, with sizes of its configuration."""
    names = inspect.signature(model.forward).parameters
    main = model.main_input_name
    config = model.config
    text = config.get_text_config()
    batch = NamedDimension("B", *_BATCH)
    longest = _first(text, "max_position_embeddings", "n_positions") or _LONGEST
    length = NamedDimension("S", 1, min(_USUAL_LENGTH, longest), longest)
    if main == "input_ids":
        yield main, InputInfo([batch, length], int64)
        if "attention_mask" in names:
            yield "attention_mask", InputInfo([batch, length], int64)
        if (
            "pixel_values" in names
            and not model.can_generate()
            and hasattr(config, "vision_config")
        ):
            images = NamedDimension("N", *_BATCH)  # what compares texts with images
            yield (
                "pixel_values",
                InputInfo([images, *_feature_sizes(model, "pixel_values")], float32),
            )
    elif main in ("pixel_values", "input_features", "input_values"):
        yield main, InputInfo([batch, *_feature_sizes(model, main)], float32)
    else:
        message = f"the inputs of `{type(model).__name__}` are not known: its main one is `{main}`"
        hint = f"state them: `--input '{main}=float32[B=1:8:64,16]'`"
        raise DiagnosticError(Diagnostic("missing-input", message, hint=hint))
    if config.is_encoder_decoder and "decoder_input_ids" in names:
        longest = _first(text, "max_target_positions") or longest
        target = NamedDimension("T", 1, min(_USUAL_LENGTH, longest), longest)
        yield "decoder_input_ids", InputInfo([batch, target], int64)


def _feature_sizes(model: Any, main: str) -> list[int]:
    """The sizes of an image or a sound behind the batch."""
    config = model.config
    vision = getattr(config, "vision_config", config)
    if main == "input_features":
        frames = _first(config, "max_source_positions")
        return [_first(config, "num_mel_bins", "feature_size") or 80, 2 * (frames or 1500)]
    if main == "input_values":
        return [16_000]
    size = _first(vision, "image_size") or 224
    sides = [size, size] if isinstance(size, int) else [*size]
    return [_first(vision, "num_channels", "in_channels") or 3, *sides]


def _first(config: Any, *names: str) -> Any:
    found = (getattr(config, name, None) for name in names)
    return next((each for each in found if each), None)


def _export(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any
) -> "ExportedProgram":
    """Export by `transformers`' own exporter, whose patches make models exportable."""
    try:
        exporter: Any = importlib.import_module("transformers.exporters.exporter_dynamo")
    except ImportError:  # a version that has none
        return export_without_gradients(model, args, kwargs, shapes)
    config = exporter.DynamoConfig(
        dynamic_shapes=shapes, prefer_deferred_runtime_asserts_over_guards=True
    )
    program: ExportedProgram
    program, _ = exporter.DynamoExporter().export_program(model, dict(kwargs), config)
    return program


def _place(files: CheckpointFiles, path: str, weight: Any) -> CheckpointPlace | None:
    """Where a weight is in the folder, if it is there by its name and as it is."""
    shard = next((each for each in files.shards if path in each.index), None)
    if shard is None or weight.type is None:
        return None
    return CheckpointPlace(shard.path, path) if _same_bytes(shard, path, weight.load()) else None


def _place_renamed(files: CheckpointFiles, weights: Iterable[Any]) -> None:
    """Find the weights that have another name in the folder: by their bytes, if one alone has them.

    Newer versions of `transformers` rename parts of a model when they read an older checkpoint.
    """
    wanted: dict[bytes, list[Any]] = defaultdict(list)
    used = {weight.place.name for weight in weights if weight.place is not None}
    for weight in weights:
        if weight.place is None and weight.type is not None and weight.type.dtype.kind == "float":
            wanted[_digest(weight.load())].append(weight)
    left = [(each, name) for each in files.shards for name in each.index if name not in used]
    found: dict[bytes, list[CheckpointPlace]] = defaultdict(list)
    for shard, name in left if wanted else ():
        with contextlib.suppress(DiagnosticError):
            digest = _digest(np.asarray(shard.read([name])[name]))
            found[digest].append(CheckpointPlace(shard.path, name))
    for digest, places in found.items():
        if len(places) == len(wanted.get(digest, ())) == 1:
            wanted[digest][0].place = places[0]


def _digest(array: np.ndarray[Any, Any]) -> bytes:
    found = hashlib.sha256(f"{array.dtype} {array.shape}".encode())
    found.update(_octets(array).data)
    return found.digest()


def _same_bytes(shard: Shard, name: str, array: np.ndarray[Any, Any]) -> bool:
    with contextlib.suppress(DiagnosticError):
        stored = np.asarray(shard.read([name])[name])
        if stored.dtype == array.dtype and stored.shape == array.shape:
            return bool(np.array_equal(_octets(stored), _octets(array)))
    return False


def _octets(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
