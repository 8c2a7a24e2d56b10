"""Emitter of region checks: each function is recorded on types known at that point.

```python
then = check.region("then", then, [each.type for each in operands], [], more=True)
D = [each.dtype for each in then.rest]
R = [list(each.shape) for each in then.rest]
otherwise = check.region("otherwise", otherwise, [...], check.like_region(then))
then, otherwise, captured = check.close_regions(captured, then, otherwise)
```
"""

from collections.abc import Sequence

from tripybuild.codegen.operators.check_scope import CheckScope
from tripybuild.codegen.python.layout import Doc, bracket_list, call
from tripybuild.schema.snippets.snippet_scope import region_names
from tripybuild.types.naming import CAPTURED
from tripybuild.types.patterns import (
    LikePattern,
    RegionPattern,
    TensorPattern,
    TensorsPattern,
)

Given = TensorPattern | TensorsPattern | LikePattern


def check_regions(scope: CheckScope) -> None:
    """Write the checks of all regions, in their declared order."""
    regions = scope.operator.regions()
    for name, pattern in regions.items():
        _check_region(scope, name, pattern)
        scope.bound.add(name)
    if regions:
        names = ", ".join(regions)
        scope.body.add(f"{names}, {CAPTURED} = ", call("check.close_regions", [CAPTURED, *regions]))


def _check_region(scope: CheckScope, name: str, pattern: RegionPattern) -> None:
    takes = _concatenate([_parameter_types(scope, each) for each in pattern.parameters])
    binder = _binder(scope, pattern)
    free = pattern.rest is not None and binder is None
    given = pattern.results[:-1] if free else pattern.results
    wanted = _concatenate([_result_types(scope, each, binder) for each in given])
    more: list[Doc] = ["more=True"] if free else []
    scope.body.add(f"{name} = ", call("check.region", [f'"{name}"', name, takes, wanted, *more]))
    if free:
        _bind(scope, name, pattern)


def _binder(scope: CheckScope, pattern: RegionPattern) -> str | None:
    """The region before that has bound the names of what this one gives at its end."""
    rest = pattern.rest
    if rest is None:
        return None
    for name, other in scope.operator.regions().items():
        if other is pattern:
            return None
        if other.rest is not None and str(other.rest) == str(rest):
            return name
    return None


def _bind(scope: CheckScope, name: str, pattern: RegionPattern) -> None:
    """The dtypes and shapes that a region gives, as `list[D[*R]]` names them."""
    facts = zip(("each.dtype", "list(each.shape)"), region_names(pattern), strict=True)
    for fact, bound in facts:
        if bound is not None and bound not in scope.unused:
            scope.body.add(f"{bound} = [{fact} for each in {name}.rest]")
            scope.bound.add(bound)


def _parameter_types(scope: CheckScope, like: LikePattern) -> tuple[bool, str]:
    """Whether it is a list, and the types of what stands for an input inside of a region."""
    if like.each:
        return True, f"check.rows({like.name})"
    if scope.operator.inputs[like.name].several:
        return True, f"[each.type for each in {like.name}]"
    return False, f"{like.name}.type"


def _result_types(scope: CheckScope, given: Given, binder: str | None) -> tuple[bool, Doc]:
    """Whether it is a list, and what a region must give."""
    match given:
        case LikePattern(name):
            return True, f'check.like("{name}", {name})'
        case TensorsPattern():
            return True, f"check.like_region({binder})"
        case TensorPattern(element, shape) if shape is not None:
            scope.imports.name("tripybuild.frontend.checks", "RequiredType")
            scope.imports.name("tripybuild.trace", "TensorType")
            type = call("TensorType", [scope.element(element), scope.sizes(shape)])
            return False, call("RequiredType", [type])
    raise NotImplementedError(f"a region that gives {given}")


def _concatenate(parts: Sequence[tuple[bool, Doc]]) -> Doc:
    """One list as it is; several, and what is no list, in one."""
    if len(parts) == 1 and parts[0][0]:
        return parts[0][1]
    return bracket_list("[", [["*" if many else "", part] for many, part in parts], "]")
