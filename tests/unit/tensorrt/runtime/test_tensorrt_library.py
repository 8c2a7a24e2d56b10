"""Tests of the TensorRT libraries behind one face, against the shapes that their releases have."""

from enum import IntEnum
from types import SimpleNamespace

import pytest

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.translation.library import DTYPES, MODULES, Library
from tripybuild.tensorrt.translation.log import Log, clean_message


class Logger:
    """What all releases have: a class to inherit from, with `log` to override."""


def enumeration(name, *members):
    """An enumeration as pybind11 makes it: members by attribute and in `__members__`."""
    return IntEnum(name, members, start=0)


class Builder:
    """A builder that says what it was asked."""

    def __init__(self, logger):
        self.logger = logger

    def create_network(self, flags):
        return SimpleNamespace(flags=flags)


def fake(name, version, flags, **more):
    """A module of the names that the library looks for."""
    layers = type("INetworkDefinition", (), {"add_unary": None, **more.pop("layers", {})})
    return SimpleNamespace(
        __name__=name,
        __version__=version,
        ILogger=Logger,
        Builder=Builder,
        INetworkDefinition=layers,
        NetworkDefinitionCreationFlag=enumeration("NetworkDefinitionCreationFlag", *flags),
        UnaryOperation=enumeration("UnaryOperation", "EXP", "NOT"),
        **more,
    )


TEN = fake(
    "tensorrt",
    "10.9.0.34",
    ("EXPLICIT_BATCH", "STRONGLY_TYPED"),
    SampleMode=enumeration("SampleMode", "STRICT_BOUNDS", "WRAP"),
    ResizeMode=enumeration("ResizeMode", "NEAREST", "LINEAR"),
    DataType=enumeration("DataType", "FLOAT", "HALF", "FP4"),
    layers={"add_plugin_v3": None},
)
ELEVEN = fake(
    "tensorrt_rtx",
    "1.7.1.116",
    ("STRONGLY_TYPED",),
    SliceMode=enumeration("SliceMode", "DEFAULT", "WRAP"),
    InterpolationMode=enumeration("InterpolationMode", "NEAREST"),
    DataType=enumeration("DataType", "FLOAT", "E8M0"),
    ComputeCapability=enumeration("ComputeCapability", "NONE", "CURRENT", "SM75", "SM120"),
    layers={"add_attention": None},
)


def test_networks_are_strongly_typed_whatever_the_flag_s_number():
    """The flag is the second bit in TensorRT 10, and the first since."""
    for module, bits in ((TEN, 2), (ELEVEN, 1)):
        library = Library("tensorrt", module)
        assert library.network(library.builder(Log())).flags == bits


def test_renamed_enumerations_are_found_under_either_name():
    """`SampleMode` was `SliceMode`, `InterpolationMode` was `ResizeMode`; members keep theirs."""
    ten, eleven = Library("tensorrt", TEN), Library("tensorrt-rtx", ELEVEN)
    assert ten.member("InterpolationMode", "kLINEAR") is TEN.ResizeMode.LINEAR
    assert eleven.member("InterpolationMode", "NEAREST") is ELEVEN.InterpolationMode.NEAREST
    assert ten.member("SampleMode", "kDEFAULT") is TEN.SampleMode.STRICT_BOUNDS
    assert eleven.member("SampleMode", "kDEFAULT") is ELEVEN.SliceMode.DEFAULT
    assert ten.member("UnaryOperation", "kNOT") is TEN.UnaryOperation.NOT
    assert ten.member("UnaryOperation", "kISNAN") is None
    assert ten.member("KVCacheMode", "LINEAR") is None


def test_what_a_release_has_is_found_by_looking():
    """Layers, data types and GPU generations; regular TensorRT builds for the GPU at hand."""
    ten, eleven = Library("tensorrt", TEN), Library("tensorrt-rtx", ELEVEN)
    assert ten.has_layer("add_plugin_v3")
    assert not eleven.has_layer("add_plugin_v3")
    assert eleven.has_layer("add_attention")
    assert not ten.has_layer("add_attention")
    assert ten.dtype("f8E8M0FNU") is None
    assert eleven.dtype("f8E8M0FNU") is ELEVEN.DataType.E8M0
    assert ten.dtype("complex<f32>") is None
    assert ten.compute_capabilities == ()
    assert eleven.compute_capabilities == ("sm75", "sm120")


def test_the_installed_library_has_all_that_is_looked_for():
    """TensorRT-RTX as it is: every dtype, the GPUs of its release, and strong types."""
    library = Library.find("tensorrt-rtx")
    assert Library.find("tensorrt-rtx") is library
    assert all(library.dtype(element) is not None for element in DTYPES)
    assert set(library.compute_capabilities) >= {"sm75", "sm80", "sm86", "sm89", "sm120", "sm121"}
    network = library.network(library.builder(Log()))
    assert network.get_flag(library.module.NetworkDefinitionCreationFlag.STRONGLY_TYPED)


@pytest.mark.parametrize("name", ["tensorrt", "tensorrt-rtx"])
def test_a_library_that_is_not_there_says_how_to_get_it(name, monkeypatch):
    """The extra of this very package has the library."""
    monkeypatch.setitem(MODULES, name, "no_such_tensorrt")
    Library.find.cache_clear()
    with pytest.raises(DiagnosticError) as caught:
        Library.find(name)
    Library.find.cache_clear()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "target-unavailable"
    assert f"pip install 'tripybuild[{name}]'" in diagnostic.hint
    assert "no_such_tensorrt" in diagnostic.notes[0]


def test_a_release_without_strong_types_is_too_old():
    """TensorRT 8 has no such flag."""
    with pytest.raises(DiagnosticError) as caught:
        Library("tensorrt", fake("tensorrt", "8.6.1", ("EXPLICIT_BATCH",)))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.notes == ("`tensorrt` 8.6.1 is older than 10",)


REAL = (
    (
        "[elementWiseNode.cpp::computeOutputExtents::85] Error Code 2: Internal Error (Assertion "
        "x.nbDims == y.nbDims failed.  mismatched inputs : a [2,3] and b [3] in exp In "
        "computeOutputExtents at /_src/optimizer/common/nodes/elementWiseNode.cpp:85)"
    ),
    "Assertion x.nbDims == y.nbDims failed. mismatched inputs : a [2,3] and b [3] in exp",
)
SETTER = (
    (
        "ISoftMaxLayer::setAxes: Error Code 3: API Usage Error (Parameter check failed, condition: "
        "isSingleDimension(axes).  In setAxesInternal at /_src/optimizer/api/softMaxLayer.h:34)"
    ),
    "Parameter check failed, condition: isSingleDimension(axes).",
)
MYELIN = ("[type.cpp:186: infer_type] No rule; [a.h:1: f] at all", "No rule; at all")
PLAIN = ("Cannot compile for target(s) sm89, because of it.",) * 2


@pytest.mark.parametrize(("text", "expected"), [REAL, SETTER, MYELIN, PLAIN, ("", "")])
def test_messages_are_cleaned_of_places_in_the_source(text, expected):
    """The words are TensorRT's; where they stand in its source helps nobody."""
    assert clean_message(text) == expected


def test_the_log_keeps_errors_and_forgets_what_only_says_that_there_is_no_gpu():
    """Warnings are no errors; details are dropped; a drained log is empty."""
    log = Log()
    log.write(1, "[a.cpp::catchCudaError::250] Error Code 1: Cuda Runtime (x (cudaError 35: y))")
    log.write(4, "detail")
    assert not log
    log.write(2, "a warning")
    assert log
    for _ in range(2):
        log.write(1, SETTER[0])
    log.write(0, "internal")
    assert log.drain() == (SETTER[1], "internal")
    assert log.drain() == ()
    assert not log
