"""Modules in Python: what they hold, how it is given, and what is said where it is not."""

from typing import Generic, TypeVar

import numpy as np
import pytest
from safetensors.numpy import load_file

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError

Kind = TypeVar("Kind")


class Scaled(tp.Module):
    def __init__(self):
        super().__init__()
        self.scale = tp.Tensor([2.0, 3.0])
        self.shift = tp.Parameter((2,))

    def forward(self, x):
        return x * self.scale + self.shift


class Holder(tp.Module):
    """All places that a module or a tensor can have, without `super().__init__()`."""

    def __init__(self):
        self.first = Scaled()
        self.layers = [Scaled(), lambda x: x, Scaled()]
        self.named = {"a": Scaled(), "deep": [Scaled()], 1: Scaled()}
        self.tensors = [tp.Tensor([1.0]), 5, tp.Tensor([2.0])]
        self.numbers = list(range(10))
        self.count = 3

    def __call__(self, x):
        return self.first(x)


def refused(function, *arguments, **named):
    with pytest.raises(DiagnosticError) as caught:
        function(*arguments, **named)
    return caught.value.diagnostics


def told(diagnostics):
    return [(each.code, each.message) for each in diagnostics]


def here(diagnostic):
    """Whether a diagnostic points into this file."""
    return diagnostic.span is not None and diagnostic.span.path == __file__


def filled():
    module = Scaled()
    module.shift = tp.Tensor([1.0, 1.0])
    return module


# --- what modules hold ---


def test_a_module_may_be_derived_from_other_classes_too():
    """Also from one that asks for something where it is derived from."""

    class Tagged:
        def __init_subclass__(cls, tag="", **options):
            super().__init_subclass__(**options)
            cls.tag = tag

    class Both(tp.Module, Tagged, Generic[Kind], tag="both"):
        def forward(self, x):
            return x * 2.0

    assert Both.tag == "both"
    assert Both[int]()(tp.Tensor([1.0])).tolist() == [2.0]


def test_a_module_within_itself_is_shown_once():
    module = Scaled()
    module.inner = module
    assert "inner: Module = ...," in str(module)
    assert list(module.state_dict()) == ["scale", "shift"]


def test_a_call_runs_forward():
    assert filled()(tp.Tensor([1.0, 1.0])).tolist() == [3.0, 4.0]


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match="`Module` does not define `forward`"):
        tp.Module()()


def test_parameters_are_named_by_their_attributes():
    assert [name for name, _ in Scaled().named_parameters()] == ["scale", "shift"]


def test_children_stand_in_attributes_lists_and_dicts():
    names = [name for name, _ in Holder().named_children()]
    assert names == ["first", "layers.0", "layers.2", "named.a", "named.deep.0"]


def test_tensors_stand_in_lists_too():
    assert [n for n, _ in Holder().named_parameters()] == ["tensors.0", "tensors.2"]


def test_the_state_has_the_own_parameters_first():
    paths = list(Holder().state_dict())
    assert paths[:4] == ["tensors.0", "tensors.2", "first.scale", "first.shift"]
    assert paths[-2:] == ["named.deep.0.scale", "named.deep.0.shift"]
    assert len(paths) == 12


def test_a_module_within_itself_is_left_out():
    module = filled()
    module.parent = {"up": module}
    assert list(module.state_dict()) == ["scale", "shift"]


def test_a_module_that_two_share_has_two_paths():
    shared = Scaled()
    holder = tp.Sequential(shared, shared)
    assert list(holder.state_dict()) == ["0.scale", "0.shift", "1.scale", "1.shift"]


def test_it_is_printed_with_what_it_holds():
    assert str(tp.Sequential(Scaled())) == (
        "Sequential(\n"
        "    0: Module = Scaled(\n"
        "        scale: Parameter = (shape=(2,), dtype=float32),\n"
        "        shift: Parameter = (shape=(2,), dtype=float32),\n"
        "    ),\n"
        ")"
    )


# --- what is not given yet ---


def test_a_call_names_all_that_is_missing():
    found = refused(tp.Sequential(Scaled(), Scaled()), tp.Tensor([1.0, 1.0]))
    assert told(found) == [
        (
            "weight-missing",
            f"the parameter `{path}`, of tensor<2xf32>, is not initialized",
        )
        for path in ("0.shift", "1.shift")
    ]
    assert here(found[0])


def test_a_module_that_nobody_holds_looks_for_itself():
    class Outer(tp.Module):
        def forward(self, x):
            return make(x)

    make = Scaled()
    result = Outer()(tp.Tensor([1.0, 1.0]))
    [found] = refused(result.eval)
    assert found.message.startswith(
        "the parameter `Scaled.shift`, of tensor<2xf32>, is not initialized"
    )


def test_a_missing_parameter_is_named_where_it_is_looked_at():
    [found] = refused((Scaled().shift + 1.0).eval)
    assert found.code == "weight-missing"
    assert "`Scaled.shift`" in found.message
    assert here(found)


def test_it_knows_its_type():
    parameter = tp.Parameter((2, 3), tp.float16)
    assert (parameter.shape, parameter.dtype) == ((2, 3), tp.float16)


def test_a_parameter_of_a_tensor_holds_what_it_holds():
    tensor = tp.Tensor([1.0], name="ours", device=tp.device("gpu"))
    parameter = tp.Parameter(tensor)
    assert (parameter.tolist(), parameter.name, parameter.device) == ([1.0], "ours", tensor.device)


def test_a_parameter_is_a_tensor_of_its_own_kind():
    """What is computed of it is a tensor, and so is what takes its place."""
    layer = tp.Linear(2, 3)
    for parameter in (layer.weight, tp.Parameter((2,)), tp.Parameter(tp.ones((2,)))):
        assert isinstance(parameter, tp.Parameter)
    assert issubclass(tp.Parameter, tp.Tensor)
    assert type(layer.weight + 1.0) is tp.Tensor
    assert not isinstance(tp.ones((2,)), tp.Parameter)
    layer.weight = tp.ones((3, 2))
    assert type(layer.weight) is tp.Tensor


def test_programs_have_kinds_of_tensors_of_their_own():
    """Which are no others than those that they make."""

    class Scale(tp.Parameter):
        pass

    class Holder(tp.Module):
        def __init__(self):
            self.scale = Scale((2,))

    assert type(tp.ones((2,))) is tp.Tensor
    assert isinstance(tp.ones((2,)).shape[0], int)
    assert [type(each) for each in Holder().state_dict().values()] == [Scale]


@pytest.mark.parametrize("shape", [("a", 2), (True,), "ab", 2.5])
def test_a_shape_is_made_of_sizes(shape):
    [found] = refused(tp.Parameter, shape)
    assert found.code == "wrong-value"
    assert found.message == "`value` of `Parameter` must be a tensor, or a list of sizes"
    assert here(found)


def test_a_size_is_not_negative():
    [found] = refused(tp.Parameter, (2, -1))
    assert (found.code, found.message) == (
        "wrong-value",
        "`-1` in the shape of a `Parameter` is not a size",
    )


def test_a_layer_says_so_at_the_users_line():
    [found] = refused(tp.Linear, 4, "wide")
    assert (found.code, here(found)) == ("Linear/out_features", True)


@pytest.mark.parametrize("dtype", [tp.float32, tp.bfloat16, tp.int8, tp.bool])
def test_what_is_missing_is_filled(dtype):
    module = tp.Module()
    module.weight, module.other = tp.Parameter((2,), dtype), tp.Tensor([5.0])
    module.initialize_dummy_parameters()
    assert module.weight.dtype is dtype
    assert module.weight.tolist() == [1, 1]
    assert module.other.tolist() == [5.0]


# --- what is given ---


def test_another_shape_is_refused_at_the_line():
    module = Scaled()
    [found] = refused(setattr, module, "scale", tp.Tensor([1.0]))
    assert told([found]) == [
        (
            "weight-shape",
            "the parameter `Scaled.scale` is tensor<2xf32>, but this is tensor<1xf32>",
        )
    ]
    assert here(found)
    assert module.scale.tolist() == [2.0, 3.0]


def test_another_dtype_is_refused():
    [found] = refused(setattr, Scaled(), "shift", tp.Tensor([1, 2]))
    assert found.code == "weight-dtype"
    assert found.hint == "cast it: `tp.cast(..., tp.float32)`"


def test_what_was_no_tensor_can_become_one():
    module = tp.Module()
    module.bias = None
    module.bias = tp.Tensor([1.0])
    assert list(module.state_dict()) == ["bias"]


@pytest.mark.parametrize("given", [3, np.ones(2, np.float32), [1.0, 2.0], "ones"])
def test_a_parameter_becomes_no_array(given):
    """Which would be no parameter any more, and is a tensor that somebody forgot to make."""
    module = Scaled()
    [found] = refused(setattr, module, "scale", given)
    assert found.message.startswith("the parameter `Scaled.scale` is a tensor, but this is ")
    assert found.hint == (None if isinstance(given, str) else "make one of it: `tp.Tensor(...)`")
    module.scale = None
    assert "scale" not in module.state_dict()


def test_what_parameters_were_made_from_stays():
    """Their shapes and dtypes; what they do not depend on can be changed."""
    module = tp.LayerNorm(3)
    for name, value in (("dtype", tp.float16), ("normalized_shape", 4)):
        [found] = refused(setattr, module, name, value)
        assert found.message.startswith(f"`LayerNorm.{name}` is ")
        assert here(found)
    module.normalized_shape = (3,)
    module.eps = 0.5
    assert module.eps == 0.5


@pytest.mark.parametrize("given", [[3], [[tp.relu]], [{"a": "relu"}], [{1: tp.relu}]])
def test_a_chain_is_of_what_can_be_called(given):
    [found] = refused(tp.Sequential, *given)
    assert found.code == "wrong-type"
    assert here(found)


def test_a_state_is_loaded():
    target, source = tp.Sequential(Scaled(), [].copy), tp.Sequential(filled())
    assert target.load_state_dict(source.state_dict()) == (set(), set())
    assert target[0].shift.tolist() == [1.0, 1.0]


def test_loading_reaches_lists_and_dicts():
    holder = Holder()
    state = {path: tp.ones(each.shape) for path, each in holder.state_dict().items()}
    holder.load_state_dict(state)
    assert holder.named["deep"][0].shift is state["named.deep.0.shift"]
    assert holder.tensors[2] is state["tensors.2"]


def test_a_strict_load_reports_everything_and_changes_nothing():
    module = Scaled()
    given = {"scale": tp.Tensor([1, 2]), "shfit": tp.Tensor([1.0, 2.0])}
    found = refused(module.load_state_dict, given)
    assert [(each.code, each.hint) for each in found] == [
        ("weight-dtype", "cast it: `tp.cast(..., tp.float32)`"),
        ("weight-missing", "did you mean `shfit`?"),
        ("weight-unused", "did you mean `shift`?"),
    ]
    assert module.scale.tolist() == [2.0, 3.0]


def test_a_long_list_is_cut():
    module = tp.Sequential(*(filled() for _ in range(20)))
    found = refused(module.load_state_dict, {})
    assert len(found) == 13
    assert found[-1].message == "the parameter `6.scale` is missing, and 27 more"


def test_a_load_that_is_not_strict_tells_what_was_left_out():
    module = Scaled()
    missing = module.load_state_dict({"scale": tp.Tensor([5.0, 6.0]), "x": 3}, strict=False)
    assert missing == ({"shift"}, {"x"})
    assert module.scale.tolist() == [5.0, 6.0]


def test_arrays_of_other_libraries_become_parameters():
    """`load_state_dict(torch_module.state_dict())`; what is no array is refused with the rest."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    source, made = torch.nn.Linear(3, 2), tp.Linear(3, 2)
    assert made.load_state_dict(source.state_dict()) == (set(), set())
    assert made.weight.tolist() == source.weight.tolist()
    [found] = refused(filled().load_state_dict, {"scale": np.ones(2)}, strict=False)
    assert found.code == "weight-dtype"
    [found] = refused(filled().load_state_dict, {"scale": [1.0, 2.0]}, strict=False)
    assert found.message == "the parameter `scale` is a tensor, but this is [1.0, 2.0]"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("parameters", "write `module.state_dict().values()`; `module.named_parameters()` has"),
        ("eval", "a module is called, never trained, so there are no modes: leave it out"),
        ("half", "a dtype is an argument of modules: `tp.Linear(2, 3, dtype=tp.float16)`"),
        ("compile", "write `tp.compile(module, args=[tp.InputInfo(shape, dtype)])`"),
        ("weigth", "did you mean `weight`?"),
    ],
)
def test_what_modules_have_elsewhere(name, hint):
    [found] = refused(lambda: getattr(tp.Linear(3, 2), name))
    assert (found.code, found.hint[: len(hint)]) == ("unknown-name", hint)


# --- files ---


def test_weights_go_to_a_file_and_back(tmp_path):
    path = tmp_path / "weights.safetensors"
    tp.Sequential(filled()).save_weights(path)
    assert load_file(path)["0.scale"].tolist() == [2.0, 3.0]

    read = tp.Sequential(Scaled())
    assert read.load_weights(str(path)) == (set(), set())
    assert read[0].shift.tolist() == [1.0, 1.0]


def test_what_is_missing_is_not_saved(tmp_path):
    [found] = refused(Scaled().save_weights, tmp_path / "weights.safetensors")
    assert found.code == "weight-missing"
    assert list(tmp_path.iterdir()) == []


# --- one after the other ---


def test_a_sequence_calls_one_after_the_other():
    model = tp.Sequential(filled(), tp.relu, lambda x: x - 10.0)
    assert model(tp.Tensor([-1.0, 1.0])).tolist() == [-10.0, -6.0]


def test_a_sequence_has_names():
    up, down = filled(), filled()
    model = tp.Sequential({"up": up, "down": down})
    assert (model["up"], model[1], model[-1], model.down) == (up, down, down, down)
    assert (len(model), list(model)) == (2, [up, down])
    assert list(model.state_dict())[:2] == ["up.scale", "up.shift"]


@pytest.mark.parametrize("index", ["dwon", 2, -3])
def test_a_sequence_says_what_it_has_not(index):
    model = tp.Sequential({"up": filled(), "down": filled()})
    [found] = refused(model.__getitem__, index)
    assert found.message == f"there is no module `{index}` among 2"
    assert found.hint == ("did you mean `down`?" if index == "dwon" else None)


def test_a_sequence_has_no_other_attributes():
    with pytest.raises(AttributeError, match="`Sequential` has no attribute `other`"):
        _ = tp.Sequential().other


@pytest.mark.parametrize("kind", [tp.Conv, tp.ConvTranspose])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_sizes_that_are_left_out_are_filled_in(kind, rank):
    """Programs read them, as nvtripy's do."""
    layer = kind(4, 6, (3,) * rank, groups=None)
    assert layer.stride == layer.dilation == (1,) * rank
    assert layer.padding == ((0, 0),) * rank
    assert layer.groups == 1
    given = kind(4, 6, (3,) * rank, stride=(2,) * rank, groups=2)
    assert (given.stride, given.groups) == ((2,) * rank, 2)
