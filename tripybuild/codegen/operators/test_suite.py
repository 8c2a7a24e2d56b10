"""Emitter of an operator's constraint suite: the data of its declaration.

The machinery that asks the questions is `tripybuild.testing`.
"""

from collections.abc import Iterator, Sequence

from tripybuild.codegen.python.expressions import quote
from tripybuild.codegen.python.file_text import Imports, header
from tripybuild.codegen.python.layout import Doc, bracket_list, call, render
from tripybuild.schema.foreign import LACKING
from tripybuild.schema.operator.dtype_combinations import (
    engine_tuples,
    format_tuple as spell_types,
    illegal_tuples,
    is_host_only,
    is_pairwise,
    is_proved,
    legal_tuples,
    mismatched_tuples,
    slots,
)
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.operator.samples import (
    constant_sizes,
    format_place as spell_place,
    size_places,
)
from tripybuild.schema.operator.target_exceptions import ENGINE, ONNX_RUNTIME, OPENVINO
from tripybuild.types.dtypes import float32

# What is asked, in the words of the test's docstring.
_QUESTIONS = {
    "values": "Each legal tuple of dtypes computes on `cpu` what the reference computes.",
    "tensorrt": "TensorRT builds each legal tuple of dtypes, or refuses it as declared.",
    "tensorrt_refusals": "TensorRT refuses each other tuple, unless `targets:` says it builds.",
    "tensorrt_gpus": "A GPU has the dtypes that `targets.yaml` says; for others it is refused.",
    "tensorrt_facts": "Each fact below `targets:` has a case that shows it.",
    "onnxruntime": "ONNX Runtime computes what the reference computes, or refuses it as declared.",
    "onnxruntime_symbols": "One model of ONNX serves all sizes that are symbols.",
    "onnxruntime_examples": "ONNX Runtime gives what an example says, or refuses it as declared.",
    "onnxruntime_facts": "Each fact about ONNX and ONNX Runtime has a call that shows it.",
    "special_values": "NaN, infinities and -0.0 come through each engine.",
    "openvino": "OpenVINO computes what the reference computes, or is refused as declared.",
    "openvino_symbols": "One program of OpenVINO serves all sizes that are symbols.",
    "openvino_facts": "Each fact about OpenVINO has a call that shows it.",
    "composition": "The decomposition computes what the reference computes.",
    "host_dtypes": "Tuples of dtypes that engines of the CPU alone have are computed by each.",
    "illegal_dtypes": "Every other tuple of dtypes is refused, with the code of what refuses it.",
    "wrong_arguments": "Each argument refuses what its type refuses; an axis in range is one.",
    "symbol": "A size that is a symbol gives the shape that a number gives.",
    "tensorrt_symbol": "TensorRT builds the sample with a size that is a symbol.",
    "aliases": "What an alias gives to another system's operator can be read back from it.",
    "torch": "PyTorch's operator computes what the reference and `cpu` compute.",
    "onnx": "ONNX's operator computes what the reference and `cpu` compute.",
    "readings": "What is read from calls of another system computes what they compute there.",
    "example": "An example gives what it says, or breaks the law that it names.",
    "tensorrt_example": "TensorRT builds an example, or refuses it as the declaration says.",
    "law": "Each law is broken by an example, or by dtypes, that break no other one.",
}


def suite_file(operator: Operator, package: str) -> str:
    """The file of one suite.

    ```python
    SUITE = Suite("ops_registry/nn/softmax.yaml", "tripyapi", __file__)
    TYPES = ["float32", "float16", "bfloat16"]


    @pytest.mark.parametrize("types", TYPES)
    def test_values(types: str) -> None:
        "Each legal tuple of dtypes computes on `cpu` what the reference computes."
        SUITE.check_values(types)


    def test_illegal_dtypes() -> None:
        "Every other tuple of dtypes is refused, with the code of what refuses it."
        SUITE.check_illegal_dtypes()
    ```
    """
    types = [spell_types(each) for each in engine_tuples(operator)]
    tests = list(_tests(operator))
    imports = Imports()
    imports.name("tripybuild.testing", "Suite")
    if any("pytest" in test for test in tests):
        imports.module("pytest")
    data = [f"SUITE = Suite({quote(operator.path)}, {quote(package)}, __file__)"]
    if any("TYPES" in test for test in tests):
        listed = _list(types)
        if is_pairwise(operator):
            imports.name("tripybuild.testing", "sample_tuples")
            listed = call("sample_tuples", [listed])
        data.append(render(["TYPES = ", listed]))
    if sizes := _sizes(operator):
        data.append(render(["SIZES = ", _list(sizes)]))
    lines = [header(operator.path), imports.text(package), "", *data]
    return "\n\n\n".join(["\n".join(lines), *tests]) + "\n"


def _tests(operator: Operator) -> Iterator[str]:
    if legal_tuples(operator):
        yield _each("values", "types", "TYPES")
        if _takes_floats(operator):
            yield _test("special_values", "")
        yield _each("tensorrt", "types", "TYPES")
        if _may_have_onnx(operator):
            yield from _onnx_tests(operator)
        if is_proved(operator):
            yield _each("composition", "types", "TYPES")
        if any(map(is_host_only, legal_tuples(operator))):
            yield _test("host_dtypes", "")
        if any(True for refused in (illegal_tuples, mismatched_tuples) for _ in refused(operator)):
            yield _test("illegal_dtypes", "")
            yield _test("tensorrt_refusals", "")
        yield _test("wrong_arguments", "")
        yield _test("tensorrt_gpus", "")
        engines = [facts for target, facts in operator.targets.items() if target in ENGINE]
        if any(facts.refuses or facts.builds for facts in engines):
            yield _test("tensorrt_facts", "")
    if _sizes(operator):
        yield _each("symbol", "size", "SIZES")
        yield _each("tensorrt_symbol", "size", "SIZES")
    if operator.foreign:
        yield _test("aliases", "")
    systems = {alias.system for alias in operator.foreign}
    for system, question in (("aten", "torch"), ("onnx", "onnx")):
        if system in systems:
            yield _each(question, "types", _types_in(system, operator))
    if spelled := _systems_with_spellings(operator):
        yield _each("readings", "system", _list(spelled))
    calls = [" ".join(example.call.text.split()) for example in operator.examples]
    if calls:
        yield _each("example", "call", _list(list(dict.fromkeys(calls))))
    giving = [" ".join(e.call.text.split()) for e in operator.examples if e.gives is not None]
    if giving:
        yield _each("tensorrt_example", "call", _list(list(dict.fromkeys(giving))))
    if operator.laws:
        yield _each("law", "law", _list(list(operator.laws)))


def _takes_floats(operator: Operator) -> bool:
    """Whether there is a call of float32 that is computed, in which numbers can be no numbers."""
    tensors = {name for slot in slots(operator) for name in slot.inputs}
    return (
        bool(tensors)
        and not operator.random
        and any(float32 in types.values() for types in legal_tuples(operator))
    )


def _may_have_onnx(operator: Operator) -> bool:
    """Whether anything is said of an operator in ONNX: how it is lowered, or that it is not."""
    aliases = any(alias.system == "onnx" for alias in operator.foreign)
    lowered = aliases or "onnx" in operator.lower or operator.decompose is not None
    return lowered or not operator.targets.keys().isdisjoint((*ONNX_RUNTIME, *OPENVINO))


def _onnx_tests(operator: Operator) -> Iterator[str]:
    yield _each("onnxruntime", "types", "TYPES")
    if _sizes(operator):
        yield _test("onnxruntime_symbols", "")
    if any(example.gives is not None for example in operator.examples):
        yield _test("onnxruntime_examples", "")
    if _has_facts(operator, ONNX_RUNTIME):
        yield _test("onnxruntime_facts", "")
    yield _test("openvino", "")
    if _sizes(operator):
        yield _test("openvino_symbols", "")
    if _has_facts(operator, OPENVINO):
        yield _test("openvino_facts", "")


def _has_facts(operator: Operator, targets: Sequence[str]) -> bool:
    """Whether something is declared of targets beside special values, of which all are asked."""
    known = [operator.targets[name] for name in targets if name in operator.targets]
    facts = [fact for each in known for fact in each.refuses.values()]
    return any(not fact.is_of_special_values for fact in facts)


def _sizes(operator: Operator) -> list[str]:
    """The places of the sample's sizes that can be symbols."""
    return [
        spell_place(place)
        for place in size_places(operator)
        if place[0] not in constant_sizes(operator)
    ]


def _systems_with_spellings(operator: Operator) -> list[str]:
    """The systems that have several spellings of a call: they take more than tensors of ours."""
    aliases = [
        alias
        for alias in operator.foreign
        if alias.signature.defaults
        or any(
            p != alias.signature.several and alias.plain.get(p) not in operator.inputs
            for p in alias.arguments
        )
    ]
    return sorted({alias.system for alias in aliases})


def _types_in(system: str, operator: Operator) -> Doc:
    """The tuples of dtypes that a system has tensors of, and the word for all examples."""
    used = {str(each) for types in engine_tuples(operator) for each in types.values()}
    lacking = sorted(used & LACKING[system])
    kept = "".join(f' if "{name}" not in t' for name in lacking)
    types = f"[t for t in TYPES{kept}]" if lacking else "TYPES"
    if not any(example.gives is not None for example in operator.examples):
        return types
    return f'[*{types}, "examples"]'


def _each(question: str, argument: str, values: Doc) -> str:
    decorator = render(call("@pytest.mark.parametrize", [f'"{argument}"', values]))
    return f"{decorator}\n{_test(question, argument)}"


def _test(question: str, argument: str) -> str:
    parameter = f"{argument}: str" if argument else ""
    lines = [
        f"def test_{question}({parameter}) -> None:",
        f'    """{_QUESTIONS[question]}"""',
        f"    SUITE.check_{question}({argument})",
    ]
    return "\n".join(lines)


def _list(texts: Sequence[str]) -> Doc:
    return bracket_list("[", [quote(text) for text in texts], "]")
