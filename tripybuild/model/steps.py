"""Step execution: expressions in order, each with its span in the user's file.

A step that fails is reported, what it should have given is missing from then on, and steps that
need it are passed over: one run finds all that is wrong.
"""

from collections.abc import Mapping, Sequence

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.model.context import BuildContext, FileScope, NonterminationError, SkipStep
from tripybuild.schema.operator.part import Step


class Next:
    """`next.keys`: what a part's state will be."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> object:
        if name not in self._values:
            raise AttributeError(f"there is no next `{name}`")
        return self._values[name]


def run_steps(
    context: BuildContext,
    scope: FileScope,
    steps: Sequence[Step],
    local: dict[str, object],
    path: str,
    lost: set[str] | None = None,
) -> set[str]:
    """Run steps in order, each under its own place.

    Returns:
        The names that could not be given; `lost` are those from before.
    """
    missing = set(lost or ())
    names = context.step_names(scope, local)
    for step in steps:
        if step.reads & missing:
            missing.update(step.targets)
            continue
        label = f"{path}.{step.name}" if path else step.name
        try:
            with context.at(step.value, label):
                value = context.evaluate(step.value, names)
                bound = _unpack(context, step, value)
        except SkipStep:
            missing.update(step.targets)
        except NonterminationError:
            raise
        except DiagnosticError as error:
            context.report(error)
            missing.update(step.targets)
        else:
            names.update(bound)
            for target, each in bound.items():
                context.keep_result(f"{path}.{target}" if path else target, each)
            context.observe(step.value.document, step.value.location, value)
            local.update(bound)
    return missing


def _unpack(context: BuildContext, step: Step, value: object) -> dict[str, object]:
    if len(step.targets) == 1:
        return {step.targets[0]: value}
    items = list(value) if isinstance(value, (tuple, list)) else [value]
    if len(items) != len(step.targets):
        message = (
            f"`{step.name}` names {len(step.targets)} values, but the step returns {len(items)}"
        )
        raise DiagnosticError(Diagnostic("step-count", message, context.current_span()))
    return dict(zip(step.targets, items, strict=True))
