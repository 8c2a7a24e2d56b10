"""Calls of ONNX's operators, as ONNX has them: what is right, what is refused, and what is wrong.

    python benchmarks/onnx_operators.py                 # all operators, one line for each
    python benchmarks/onnx_operators.py Resize Loop -v  # some, with all that is not right

Each case is a model of one node, whose results ONNX Runtime and ONNX's own evaluator give. All
inputs are inputs of the model, as in ONNX's own tests, and results have the types that they state.
`right` counts what `tripybuild.onnx_backend` computes, which may look at the elements of inputs;
`unseen` counts those of them that it imports before it is called. Where the oracles disagree,
either is right.
"""

import argparse
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx_cases import Case, cases
from table import Cell, Table

from tripybuild import onnx_backend
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.onnx.table import BY_TYPE

FATAL_ONLY = 4
RIGHT, REFUSED, WRONG, UNASKED = "right", "refused", "wrong", "no oracle"
# Others are exact. What is of 16 bits may be rounded after each step, or at the end.
TOLERANCES = {"float64": 1e-4, "float32": 1e-4, "float16": 4e-3, "bfloat16": 3.2e-2}
_LEAST = {"float16": 0.25, "bfloat16": 0.25}  # of the largest element, in tolerances
_WIDENED = (onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
COLUMNS = ("operator", "cases", RIGHT, "unseen", REFUSED, WRONG, UNASKED)


def session_options() -> onnxruntime.SessionOptions:
    """What ONNX Runtime computes as it is written, on one thread, and says nothing of."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = FATAL_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


OPTIONS = session_options()


def answers(case: Case) -> Iterator[list[Any]]:
    """The results of each oracle that computes a case, ONNX Runtime's first."""
    for oracle in (_of_runtime, _of_reference, _of_runtime_in_float32):
        try:
            found = oracle(case)
        except Exception:  # noqa: BLE001 - of many kinds, none of which has a base
            continue
        if all(map(_is_value, found)):
            yield found


def _of_runtime(case: Case) -> list[Any]:
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), OPTIONS)
    return [
        value.view(BY_TYPE[info.type].numpy) if _is_packed(info.type) else value
        for info, value in zip(session.get_outputs(), session.run(None, case.inputs), strict=True)
    ]


def _is_packed(type: str) -> bool:
    """Whether ONNX Runtime gives bytes for elements of a dtype that NumPy has not."""
    return type in BY_TYPE and BY_TYPE[type].bits <= 8 and BY_TYPE[type].kind == "float"


def _of_reference(case: Case) -> list[Any]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(ReferenceEvaluator(case.model).run(None, case.inputs))


def _of_runtime_in_float32(case: Case) -> list[Any]:
    """What ONNX Runtime gives for the same numbers in float32, where it has no other kernel.

    ONNX's evaluator leaves out some of what attributes say, as the limits of recurrent layers.
    """
    wide, kinds = onnx.ModelProto(), set()
    wide.CopyFrom(case.model)
    for each in [*wide.graph.input, *wide.graph.output]:
        held = each.type.tensor_type
        if held.elem_type in _WIDENED:
            kinds.add(helper.tensor_dtype_to_np_dtype(held.elem_type))
            held.elem_type = onnx.TensorProto.FLOAT
    (kind,) = kinds
    inputs = {n: a.astype(np.float32) if a.dtype == kind else a for n, a in case.inputs.items()}
    session = onnxruntime.InferenceSession(wide.SerializeToString(), OPTIONS)
    return [a.astype(kind) if a.dtype == np.float32 else a for a in session.run(None, inputs)]


def _is_value(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_value, value))
    return value is not None and np.asarray(value).dtype.kind not in "OSUc"


def state_types(case: Case, results: Sequence[Any]) -> None:
    """Write the types of results into the model."""
    for info, value in zip(case.model.graph.output, results, strict=True):
        info.type.CopyFrom(_type(value))


def _type(value: Any) -> onnx.TypeProto:
    if isinstance(value, list):
        inner = _type(value[0]) if value else helper.make_tensor_type_proto(1, None)
        if any(np.shape(each) != np.shape(value[0]) for each in value):
            inner.tensor_type.ClearField("shape")
        return helper.make_sequence_type_proto(inner)
    array = np.asarray(value)
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def same(found: Any, wanted: Any) -> bool:
    """Whether two results are the same, of the same types."""
    if isinstance(wanted, list | tuple):
        is_list = isinstance(found, list | tuple) and len(found) == len(wanted)
        return is_list and all(map(same, found, wanted))
    mine, theirs = np.asarray(found), np.asarray(wanted)
    if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
        return False
    tolerance = TOLERANCES.get(theirs.dtype.name)
    if tolerance is None:
        wide = (mine.astype(np.float64), theirs.astype(np.float64))
        return bool((mine == theirs).all()) or np.array_equal(*wide, equal_nan=True)
    ours, right = mine.astype(np.float64), theirs.astype(np.float64)
    largest = float(np.abs(right[np.isfinite(right)]).max(initial=0.0))
    margin = tolerance * _LEAST.get(theirs.dtype.name, 0.01) * largest + 1e-7
    return bool(np.allclose(ours, right, rtol=tolerance, atol=margin, equal_nan=True))


def verdict(case: Case) -> tuple[str, str]:
    """How a case ends, and why: as the oracle's with which it ends best."""
    ends = UNASKED, ""
    for wanted in answers(case):
        state_types(case, wanted)
        found = _verdict(case, wanted)
        if found[0] == RIGHT:
            return found
        ends = found if ends[0] in (UNASKED, REFUSED) else ends
    return ends


def _verdict(case: Case, wanted: Sequence[Any]) -> tuple[str, str]:
    try:
        found = onnx_backend.run_model(case.model, list(case.inputs.values()))
    except DiagnosticError as error:
        return REFUSED, _reasons(error)
    except Exception as error:  # noqa: BLE001 - a bug
        return WRONG, repr(error)[:300]
    return (RIGHT, "") if same(found, wanted) else (WRONG, f"{_shown(found)} not {_shown(wanted)}")


def _reasons(error: DiagnosticError) -> str:
    """Why a case is refused: the last reading's, which is a composition's."""
    lines = [line.strip() for line in str(error).splitlines() if "note:" in line]
    return " | ".join([line for line in lines if "at the" not in line][-3:])[:500] or str(error)


def _shown(results: Sequence[Any]) -> str:
    return "; ".join(
        f"{np.asarray(r).dtype}{list(np.shape(r))} {np.asarray(r).reshape(-1)[:6].tolist()}"
        if not isinstance(r, list)
        else f"[{len(r)} tensors]"
        for r in results
    )


def census(names: Sequence[str], *, verbose: bool) -> dict[str, Counter[str]]:
    """Count how the cases of each operator end."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases(names):
        row = found[case.operator]
        ends, why = verdict(case)
        row["cases"] += 1
        row[ends] += 1
        if ends == RIGHT:
            row["unseen"] += onnx_backend.is_compatible(case.model)
        elif verbose:
            sys.stdout.write(f"{ends}: {case.text}\n    {why}\n")
            sys.stdout.flush()
    return found


def table(found: dict[str, Counter[str]]) -> Table:
    """One row for each operator, and the sum."""
    total: Counter[str] = sum(found.values(), Counter())
    rows: list[dict[str, Cell]] = [
        {"operator": name, **{column: counts[column] for column in COLUMNS[1:]}}
        for name, counts in [*sorted(found.items()), ("all", total)]
    ]
    return Table("Calls of ONNX's operators", COLUMNS, rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("operators", nargs="*", help="some operators; all, if there are none")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all that is not right")
    given = parser.parse_args()
    begin = time.perf_counter()
    found = table(census(given.operators, verbose=given.verbose))
    found.notes.append(f"in {time.perf_counter() - begin:.0f} s")
    sys.stdout.write(f"{found.text()}\n")


if __name__ == "__main__":
    main()
