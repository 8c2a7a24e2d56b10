"""`canonicalize` on conditions and loops: unused results, values that are the same every time."""

import pytest

from tests.oracles.canonical import canonical

V = "tensor<4xf32>"
SUM = "tensorrt.element_wise <kSUM>"
BINARY = f"{V}, {V}) -> {V}"


def condition(results, true, false, returned="%r"):
    """A condition; `%r` and `%r#1` are its results."""
    types = ", ".join([V] * results)
    name = f"%r:{results}" if results > 1 else "%r"
    return f"""
func.func @main(%c: tensor<i1>, %a: {V}, %b: {V}) -> {V} {{
  {name} = tensorrt.if (%c : tensor<i1>) -> {types} {{
    %s = {SUM}(%a, %b : {BINARY}
    %t = {SUM}(%a, %a : {BINARY}
    tensorrt.yield {true} : {types}
  }} else {{
    %s = {SUM}(%b, %b : {BINARY}
    %t = {SUM}(%s, %a : {BINARY}
    tensorrt.yield {false} : {types}
  }}
  return {returned} : {V}
}}
"""


@pytest.mark.parametrize("returned", ["%r#0", "%r#1"])
def test_a_result_that_nobody_uses_goes(returned):
    found = canonical(condition(2, "%s, %t", "%t, %s", returned))
    assert "-> tensor<4xf32> {" in found
    assert "tensorrt.yield %" in found
    assert ":2 = tensorrt.if" not in found


def test_results_that_are_used_stay():
    text = condition(2, "%s, %t", "%t, %s").replace(
        "return %r", f"%q = {SUM}(%r#0, %r#1 : {BINARY}\n  return %q"
    )
    assert ":2 = tensorrt.if" in canonical(text)


def test_a_value_that_both_regions_give_is_the_result():
    assert canonical(condition(1, "%a", "%a")).names == ()
    assert "if" in canonical(condition(1, "%a", "%b")).names
    found = canonical(condition(2, "%a, %s", "%a, %t", "%r#1"))
    assert ":2 = tensorrt.if" not in found


def loop(carried, body, yielded, returned):
    """A loop of three turns that carries `%x`, `%y`, ... from `%a`, `%b`, ... on."""
    names = "xyz"[:carried]
    first = ", ".join(f"%{x} = %{a}" for x, a in zip(names, "aba", strict=False))
    types = ", ".join([V] * carried)
    result = f"%r:{carried}" if carried > 1 else "%r"
    return f"""
func.func @main(%a: {V}, %b: {V}) -> {V} {{
  %lb = tensorrt.constant dense<0> : tensor<i32>
  %ub = tensorrt.constant dense<3> : tensor<i32>
  %step = tensorrt.constant dense<1> : tensor<i32>
  {result} = tensorrt.for %i = %lb to %ub step %step init({first}) -> ({types}) {{
    {body}
    tensorrt.yield {yielded} : {types}
  }}
  return {returned} : {V}
}}
"""


ADD = f"%s = {SUM}(%x, %y : {BINARY}"


@pytest.mark.parametrize("yielded", ["%s, %y", "%s, %b"])
def test_a_value_that_does_not_change_is_not_carried(yielded):
    found = canonical(loop(2, ADD, yielded, "%r#0"))
    assert "%arg3 = %arg0) -> (tensor<4xf32>)" in found
    assert ":2 = tensorrt.for" not in found
    assert canonical(loop(2, ADD, yielded, "%r#1")).names == ()


def test_a_value_that_changes_is_carried():
    found = canonical(loop(2, ADD, "%s, %x", "%r#0"))
    assert ":2 = tensorrt.for" in found
    found = canonical(loop(2, ADD, "%s, %s", "%r#0"))
    assert ":2 = tensorrt.for" in found


def test_a_value_that_only_carries_itself_goes():
    body = f"{ADD}\n    %t = {SUM}(%z, %z : {BINARY}"
    found = canonical(loop(3, body, "%s, %x, %s", "%r#0"))
    assert ":2 = tensorrt.for" in found
    assert found.names.count("element_wise") == 1


def test_a_loop_that_nobody_uses_goes():
    assert canonical(loop(2, ADD, "%s, %x", "%a")).names == ()


def turns(forwarded="%n, %x, %y", given="%m, %s, %v", returned="%r#1", first="%zero, %a, %b"):
    """A loop that counts to three, and carries two values as well."""
    types = f"tensor<f32>, {V}, {V}"
    scalar = "tensor<f32>, tensor<f32>)"
    return f"""
func.func @main(%a: {V}, %b: {V}) -> {V} {{
  %zero = tensorrt.constant dense<0.0> : tensor<f32>
  %one = tensorrt.constant dense<1.0> : tensor<f32>
  %three = tensorrt.constant dense<3.0> : tensor<f32>
  %r:3 = tensorrt.while ({first} : {types}) -> {types} {{
  ^bb0(%n: tensor<f32>, %x: {V}, %y: {V}):
    %go = tensorrt.element_wise <kLESS>(%n, %three : {scalar} -> tensor<i1>
    tensorrt.condition(%go : tensor<i1>) {forwarded} : {types}
  }}, {{
  ^bb0(%k: tensor<f32>, %u: {V}, %v: {V}):
    %m = {SUM}(%k, %one : {scalar} -> tensor<f32>
    %s = {SUM}(%u, %v : {BINARY}
    tensorrt.yield {given} : {types}
  }}
  return {returned} : {V}
}}
"""


def test_a_while_loop_carries_what_changes():
    found = canonical(turns())
    assert ":2 = tensorrt.while" in found
    assert canonical(turns(returned="%r#2")).names == ()
    found = canonical(turns(given="%m, %s, %b"))
    assert ":2 = tensorrt.while" in found


@pytest.mark.parametrize(
    "change", [{"forwarded": "%n, %y, %x"}, {"given": "%m, %s, %u"}, {"given": "%m, %v, %s"}]
)
def test_a_while_loop_keeps_what_takes_turns(change):
    assert ":3 = tensorrt.while" in canonical(turns(**change))
