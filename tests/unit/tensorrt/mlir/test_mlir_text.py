"""MLIR's text: what is printed is what MLIR itself prints, and reads back as the same."""

import pytest
from oracles import mlir

from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.context import new_context
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir.writing import printer

FORMS = [{}, {"generic": True}, {"locations": True}]
NUMBERS = ",".join(map(str, range(101)))
ATTRIBUTES = [
    *["1", "1 : i32", "-1 : i8", "255 : ui8", "0xFF : i8", "-5 : si16", "1 : index", "true"],
    *["9223372036854775807", "-9223372036854775808", "18446744073709551615 : ui64", "0x10"],
    *["1.0", "-0.0 : f32", "0.7 : f32", "0.01 : f32", "0.1 : f16", "1.0 : bf16", "1.5e-10 : f64"],
    *["16777217.0 : f32", "1.0e10 : f32", "123456789.0 : f64", "3.4e38 : f32", "1.0e-45 : f32"],
    *["0x7FC00000 : f32", "0xFF80 : bf16", "0x7C00 : f16", "3.0 : f8E4M3FN", "1.0 : f8E5M2"],
    *[r'"x\22y\0A\C3\A9 \FF"', r'"caf\C3\A9"', '"a\\\\b"', "@f", "@f::@g", '@"a b"', "unit"],
    *['[1, 2 : i32, 1.0, 2.0 : f32, "s", unit]', "[[1, 2], [3.0]]", "[{a = 1 : i64}]", "[]"],
    *['{b = 1, a, "b c" = 2, "0" = "z"}', "{}", "array<i64: 1, -2>", "array<i32>", "array<i8: -1>"],
    *["array<f32: 1.0, 0.1, 0x7F800000>", "array<i1: true, false>", '#foo.bar<x [1] "y>">'],
    *["#foo.bar", "!foo.bar<x>", "tensor<2x!foo.bar>", 'tensor<2xf32, "enc">', "i32", "none"],
    *["tensor<4x?xf32>", "tensor<*xf32>", "tensor<f32>", "(i32, f32) -> f32", "() -> ()"],
    *["(i32) -> (i32, i32)", "memref<2x3xf32, strided<[3, 1], offset: ?>>", "vector<[4]x2xf32>"],
    *["complex<f32>", "tuple<i32, f32>", "strided<[1, ?], offset: 3>", "affine_map<() -> ()>"],
    "affine_map<(d0, d1) -> (d0 + d1 mod 2, d1 floordiv 3, d0 ceildiv 4, d0 * 5 - 1)>",
    "affine_map<(d0, d1)[s0] -> (d0 - d1, (d0 + s0) mod 2, -d0, d0 - d1 * 3)>",
    *["affine_set<(d0) : (d0 - 1 >= 0)>", "affine_map<(d0, d1, d2) -> (d0, d2, d1)>"],
    *["dense<> : tensor<0xf32>", "dense<[]> : tensor<0xi32>", "dense<[[],[]]> : tensor<2x0xi32>"],
    *["dense<1> : tensor<i32>", "dense<[1, -1]> : tensor<2xi8>", "dense<255> : tensor<2xi8>"],
    *["dense<[[1,2],[3,4]]> : tensor<2x2xi64>", "dense<true> : tensor<3xi1>"],
    *["dense<[true, false]> : tensor<2xi1>", "dense<[1, 0]> : tensor<2xi1>"],
    "dense<[0x7F800000, 0xFF800000, 1.0, 0x7FC00001]> : tensor<4xf32>",
    *[
        "dense<0x7C00> : tensor<f16>",
        "dense<0x7F800000> : tensor<2xf32>",
        "dense<-0.> : tensor<f32>",
    ],
    *['dense<"0x0000803F00000040"> : tensor<2xf32>', 'dense<"0x0000803F"> : tensor<2xf32>'],
    *[
        "dense<[1, 2]> : tensor<2xui8>",
        "dense<[-1, 7]> : tensor<2xi4>",
        "dense<[15, 7]> : tensor<2xi4>",
    ],
    *["dense<[0.5, -6.0]> : tensor<2xf4E2M1FN>", "dense<[0.4, -448.0]> : tensor<2xf8E4M3FN>"],
    *["dense<0.4> : tensor<bf16>", "dense<(1.0,2.0)> : tensor<complex<f32>>"],
    *["dense<[(1,2),(3,4)]> : tensor<2xcomplex<i32>>", "dense<1> : vector<4xi32>"],
    *[
        "dense<5> : tensor<3xindex>",
        "dense<[[[1]]]> : tensor<1x1x1xi32>",
        "dense<0xFF> : tensor<i8>",
    ],
    *[
        "dense<[18446744073709551615]> : tensor<1xui64>",
        "dense<-9223372036854775808> : tensor<i64>",
    ],
    *[f"dense<[{NUMBERS}]> : tensor<101xi32>", f"dense<[{NUMBERS[:-4]}]> : tensor<100xi32>"],
    f"dense<[{','.join(f'{n}.5' for n in range(101))}]> : tensor<101xf16>",
    f"dense<[{','.join(str(n % 16 - 8) for n in range(101))}]> : tensor<101xi4>",
    "dense<[[0.1, 0.7],[1.0e10, 123456.7]]> : tensor<2x2xf32>",
    "dense<[1, // one\n 2]> : tensor<2xi32>",
]
MODULES = {
    "names": """
#map = affine_map<(d0, d1) -> (d1, d0)>
module @x attributes {q.b = 1 : i32, q.a = 0.7 : f32} {
  "foo.x"() {m = #map} : () -> ()
  func.func @f(%x: tensor<2xf32> {a.z = 1, a.b}, %y: i32) -> (tensor<2xf32> {a.r})
      attributes {q.z} {
    %c = arith.constant 0 : i32
    %c4 = arith.constant 0 : i32
    %d = arith.constant dense<[1.0, 0x7F800000]> : tensor<2xf32>
    %u:2 = "foo.y"(%c) : (i32) -> (i32, i32)
    "foo.y"(%u#1) ({
      %q = arith.constant 3 : index
      %k = "foo.z"() : () -> i32
    }) : (i32) -> ()
    %l = "foo.z"() : () -> i32
    %t = arith.constant true
    %n = arith.constant -7 : i64
    %f = arith.constant 2.5 : f32
    return %d : tensor<2xf32>
  }
}""",
    "locations": """
#other = loc("o":7:8)
func.func @f(%a: tensor<2xf32> loc("x")) -> tensor<2xf32> {
  %0 = "foo.y"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc(fused<"meta">["a", "b":3:4])
  %1 = "foo.y"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc(fused["a", "b"("c":3:5)])
  %2 = "foo.y"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc(callsite("a" at "b":3:4))
  %3 = "foo.y"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc("b":3:4 to :5)
  %4 = "foo.y"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc("b":3:4 to 6:5)
  %5 = "foo.y"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc(#late)
  %6 = "foo.y"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc(unknown)
  %7 = "foo.y"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc(fused["q", #other, "r":1:1 to 2:2])
  return %a : tensor<2xf32>
}
#late = loc("late"("z":1:2))""",
    "arith-and-tensor": """
func.func @f(%a: i32, %i: index, %t: tensor<?x3xf32>) -> i32 {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %t, %c0 : tensor<?x3xf32>
  %e = tensor.extract %t[%i, %i] : tensor<?x3xf32>
  %k = tensor.cast %t : tensor<?x3xf32> to tensor<2x3xf32>
  %fe = tensor.from_elements %e, %e : tensor<2xf32>
  %em = tensor.empty(%d) : tensor<?x4xf32>
  %sp = tensor.splat %e : tensor<4xf32>
  %m = arith.muli %a, %a : i32
  %n = arith.cmpi slt, %m, %a : i32
  %o = arith.select %n, %m, %a : i32
  %x = arith.extsi %a : i32 to i64
  %0 = tensor.extract_slice %k[0, %i] [1, 2] [1, 1] : tensor<2x3xf32> to tensor<1x2xf32>
  %1 = tensor.insert_slice %0 into %k[0, %i] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<2x3xf32>
  %2 = tensor.collapse_shape %k [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  return %o : i32
}""",
    "scf": """
func.func @f(%c: i1, %a: i32, %lb: index) -> i32 {
  %0 = scf.if %c -> (i32) {
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  %l = scf.for %i = %lb to %lb step %lb iter_args(%z = %a) -> (i32) {
    %1 = arith.addi %z, %a : i32
    scf.yield %1 : i32
  }
  scf.for %i = %lb to %lb step %lb {
    func.call @g(%a) : (i32) -> ()
  }
  %ww = scf.while (%y = %a) : (i32) -> i32 {
    scf.condition(%c) %y : i32
  } do {
  ^bb0(%y: i32):
    scf.yield %y : i32
  }
  call @g(%a) : (i32) -> ()
  return %l : i32
}
func.func private @g(i32)""",
    "blocks": """
func.func @f(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^x(%a : i32), ^y
^x(%b: i32):
  cf.br ^y
^y:
  return %a : i32
^z:
  cf.br ^y
}""",
    "functions": """
func.func private @f(tensor<2xf32> {a.b}, i32) -> (i32 {c.d = 1 : i32}) attributes {x.y}
func.func private @g() -> ()
func.func private @h() -> (i32, f32)
func.func nested @k(%a: i32) { return }
func.func private @l() -> ((i32) -> i32)
module @inner { func.func public @f() { return } }
module {}""",
    "unregistered": """
"a.op"() ({
^bb0(%x: i32, %y: f32):
  "a.r"(%x) : (i32) -> ()
^bb1:
  "a.e"() : () -> ()
}, {}, {
^bb0:
}) {q = 1 : i32} : () -> ()
"a.graph"() ({ "a.t"()[^bb1] : () -> ()
^bb1:
 "a.q"() <{z = 1 : i32, b}> : () -> () }) : () -> ()""",
}


def read(text):
    """Read a text that may hold anything."""
    return parser.parse(text, context=new_context(allow_unregistered=True))


@pytest.mark.parametrize("written", ATTRIBUTES, ids=lambda each: each[:40])
def test_attribute_is_printed_as_mlir_prints_it(written):
    """The same text, and a second reading changes nothing."""
    text = f'"a.b"() {{v = {written}}} : () -> ()'
    found = printer.text(read(text))

    assert found.strip("\n") == mlir.printed(text)
    assert printer.text(read(found)) == found


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("name", MODULES)
def test_module_is_printed_as_mlir_prints_it(name, form):
    """Names, order, aliases and blanks are MLIR's in all forms."""
    text = MODULES[name].strip()
    module = read(text)
    found = printer.text(module, **form)

    assert found.strip("\n") == mlir.printed(text, **form)
    assert verifier.problems(module) == []


@pytest.mark.parametrize("form", [{"locations": True}, {"locations": True, "generic": True}])
@pytest.mark.parametrize("name", MODULES)
def test_printed_text_reads_back_as_the_same_module(name, form):
    """Structure, attributes and locations survive, in both forms."""
    module = read(MODULES[name].strip())
    again = read(printer.text(module, **form))

    assert again.is_structurally_equivalent(module)
    assert [each.location for each in again.walk()] == [each.location for each in module.walk()]


@pytest.mark.parametrize(
    "written",
    [
        "dense<[1, [2]]> : tensor<2xi32>",
        "dense<[1, 2]> : tensor<3xi32>",
        "dense<1> : tensor<2xf32>",
        "dense<1.0> : tensor<2xi32>",
        "dense<true> : tensor<2xi32>",
        "dense<true> : tensor<2xf32>",
        "dense<256> : tensor<2xi8>",
        "dense<-1> : tensor<2xui8>",
        "dense<0x1FFFF> : tensor<f16>",
        "dense<1> : tensor<?xi32>",
        "dense<> : tensor<1xi32>",
        'dense<"0x00"> : tensor<2xi32>',
        'dense<"0xZZ"> : tensor<2xi8>',
        'dense<"00"> : tensor<2xi8>',
        "dense<[1,]> : tensor<1xi32>",
        "dense<[1 2]> : tensor<2xi32>",
        "array<i8: 256>",
        "#nothing",
    ],
)
def test_what_mlir_refuses_is_refused(written):
    """Values that MLIR does not read are not read here."""
    text = f'"a.b"() {{v = {written}}} : () -> ()'

    assert mlir.refused(text)
    with pytest.raises(parser.DiagnosticError) as raised:
        read(text)
    assert raised.value.diagnostics[0].span.line == 1


def test_operation_that_its_format_cannot_show_is_printed_generically():
    """As MLIR does with what does not verify."""
    text = """func.func @f(%a: index) {
  "scf.for"(%a, %a, %a) ({
    scf.yield
  }) : (index, index, index) -> ()
  return
}"""
    module = read(text)

    assert '"scf.for"(%arg0, %arg0, %arg0) ({' in printer.text(module)
    assert verifier.problems(module) != []
