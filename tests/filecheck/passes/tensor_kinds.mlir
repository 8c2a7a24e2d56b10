// RUN: tripybuild opt %s -p test-tensor-kind-analysis 2>&1 | filecheck %s
// RUN: tripybuild opt %s -p 'test-tensor-kind-analysis{interprocedural}' 2>&1 | filecheck %s --check-prefix=THROUGH

// Sizes are on the host, and what they are computed of, as long as it is small; an argument is on the
// device unless it says otherwise, so it is wanted on both.

func.func @slice(%a: tensor<?xf32>, %s: tensor<1xi32>, %h: tensor<1xi32> {tensorrt.host_tensor}, %unused: tensor<f32>) -> (tensor<?xf32>, tensor<1xi32> {tensorrt.host_tensor}) {
  %size = tensorrt.element_wise {tag = "sum"} <kSUM>(%s, %h : tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %0 = tensorrt.slice %a[0][%size : tensor<1xi32>][1] {tag = "slice"} : tensor<?xf32> to tensor<?xf32>
  %1 = tensorrt.shape {tag = "shape"} %0 : tensor<?xf32> -> tensor<1xi32>
  %2 = tensorrt.unary {tag = "dead", unaryOperation = #tensorrt.unary_operation<kEXP>} %0 : tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<1xi32>
}

// CHECK:      func slice:
// CHECK-NEXT:  arg #0: device
// CHECK-NEXT:  arg #1: both
// CHECK-NEXT:  arg #2: host
// CHECK-NEXT:  arg #3: <<nullptr>>
// CHECK-NEXT: test_tag: sum:
// CHECK-NEXT:  operand #0: both
// CHECK-NEXT:  operand #1: host
// CHECK-NEXT:  result #0: host
// CHECK-NEXT: test_tag: slice:
// CHECK-NEXT:  operand #0: device
// CHECK-NEXT:  operand #1: host
// CHECK-NEXT:  result #0: device
// CHECK-NEXT: test_tag: shape:
// CHECK-NEXT:  operand #0: device
// CHECK-NEXT:  result #0: host
// CHECK-NEXT: test_tag: dead:
// CHECK-NEXT:  operand #0: device
// CHECK-NEXT:  result #0: <<uninitialized>>

// A condition is on the host; the large tensor that it is computed of is on the device. A shape alone
// does not say where its input is.

func.func @branch(%a: tensor<100xf32>, %b: tensor<?xf32>, %n: tensor<i32>) -> tensor<1xi32> {
  %max = tensorrt.reduce <kMAX> %a {tag = "large", reduceAxes = array<i64: 0>} : tensor<100xf32> -> tensor<f32>
  %zero = tensorrt.constant dense<0.0> : tensor<f32>
  %c = tensorrt.element_wise {tag = "small"} <kGREATER>(%max, %zero : tensor<f32>, tensor<f32>) -> tensor<i1>
  %exp = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %b : tensor<?xf32>
  %copy = tensorrt.identity %exp : tensor<?xf32> to tensor<?xf32>
  %0 = tensorrt.shape {tag = "only shape"} %copy : tensor<?xf32> -> tensor<1xi32>
  %1 = tensorrt.if (%c : tensor<i1>) {tag = "if"} -> tensor<1xi32> {
    tensorrt.yield {tag = "then"} %0 : tensor<1xi32>
  } else {
    tensorrt.yield %0 : tensor<1xi32>
  }
  return %1 : tensor<1xi32>
}

// CHECK:      func branch:
// CHECK:      test_tag: large:
// CHECK-NEXT:  operand #0: device
// CHECK-NEXT:  result #0: host
// CHECK-NEXT: test_tag: small:
// CHECK-NEXT:  operand #0: host
// CHECK-NEXT:  operand #1: host
// CHECK-NEXT:  result #0: host
// CHECK-NEXT: test_tag: only shape:
// CHECK-NEXT:  operand #0: unknown
// CHECK-NEXT:  result #0: device
// CHECK-NEXT: test_tag: if:
// CHECK-NEXT:  operand #0: host
// CHECK-NEXT:  result #0: device
// CHECK-NEXT:   Region #0:
// CHECK-NEXT:   Region #1:
// CHECK-NEXT: test_tag: then:
// CHECK-NEXT:  operand #0: device

// What a loop carries goes from its results through each turn to its first value; bounds are on the
// host.

func.func @loop(%n: tensor<i32>, %x: tensor<2xi32>) -> (tensor<2xi32> {tensorrt.host_tensor}) {
  %0 = tensorrt.for %i = %n to %n step %n init(%c = %x) -> (tensor<2xi32>) {
    %1 = tensorrt.element_wise {tag = "turn"} <kSUM>(%c, %c : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    tensorrt.yield %1 : tensor<2xi32>
  } {tag = "for"}
  return %0 : tensor<2xi32>
}

// CHECK:      func loop:
// CHECK-NEXT:  arg #0: host
// CHECK-NEXT:  arg #1: host
// CHECK-NEXT: test_tag: for:
// CHECK-NEXT:  operand #0: host
// CHECK-NEXT:  operand #1: host
// CHECK-NEXT:  operand #2: host
// CHECK-NEXT:  operand #3: host
// CHECK-NEXT:  result #0: host
// CHECK-NEXT:   Region #0:
// CHECK-NEXT:     arg #0: <<nullptr>>
// CHECK-NEXT:     arg #1: host
// CHECK-NEXT: test_tag: turn:

func.func @while(%n: tensor<i32>) -> tensor<i32> {
  %0 = tensorrt.while {tag = "while"} (%n : tensor<i32>) -> tensor<i32> {
  ^bb0(%a: tensor<i32>):
    %c = tensorrt.element_wise {tag = "condition"} <kLESS>(%a, %a : tensor<i32>, tensor<i32>) -> tensor<i1>
    tensorrt.condition(%c : tensor<i1>) %a : tensor<i32>
  }, {
  ^bb0(%b: tensor<i32>):
    tensorrt.yield %b : tensor<i32>
  }
  return %0 : tensor<i32>
}

// CHECK:      test_tag: while:
// CHECK-NEXT:  operand #0: both
// CHECK-NEXT:  result #0: device
// CHECK-NEXT:   Region #0:
// CHECK-NEXT:     arg #0: both
// CHECK-NEXT:   Region #1:
// CHECK-NEXT:     arg #0: both
// CHECK-NEXT: test_tag: condition:
// CHECK-NEXT:  operand #0: both
// CHECK-NEXT:  operand #1: both
// CHECK-NEXT:  result #0: host

// A callee is looked into where that is asked.

func.func private @callee(%s: tensor<1xi32> {tensorrt.host_tensor}) -> (tensor<1xi32> {tensorrt.host_tensor}) {
  return %s : tensor<1xi32>
}
func.func @caller(%x: tensor<1xi32>) -> tensor<1xi32> {
  %neg = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %x : tensor<1xi32>
  %0 = call @callee(%neg) {tag = "call"} : (tensor<1xi32>) -> tensor<1xi32>
  return %0 : tensor<1xi32>
}

// CHECK:      test_tag: call:
// CHECK-NEXT:  operand #0: unknown
// CHECK-NEXT:  result #0: device
// THROUGH:      test_tag: call:
// THROUGH-NEXT:  operand #0: host
// THROUGH-NEXT:  result #0: device

// Scalars that are taken out of a tensor are on the host.

func.func @extract(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %x[%c0] : tensor<4xf32>
  return %0 : f32
}

// CHECK:      func extract:
// CHECK-NEXT:  arg #0: both
