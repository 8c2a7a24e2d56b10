// RUN: tripybuild opt %s --split-input-file -p inline | filecheck %s
// RUN: tripybuild opt %s --split-input-file -p 'inline{default-pipeline={} max-iterations=1 inlining-threshold=50}' | filecheck %s --check-prefix=SMALL
// RUN: tripybuild opt %s --split-input-file -p 'inline{max-iterations=0}' | filecheck %s --check-prefix=NEVER
// RUN: tripybuild opt %s --split-input-file -p 'inline{op-pipelines=func.func(cse)}' --mlir-print-debuginfo | filecheck %s --check-prefix=PLACES
// RUN: settled %s -p inline

// A chain of calls needs one iteration; private functions go when nobody names them any more.

func.func private @exp(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @exp(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @exp(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-NOT: private
// CHECK-LABEL: func.func @chain(%arg0: tensor<2xf32>)
// CHECK-NEXT: %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %arg0 : tensor<2xf32>
// CHECK-NEXT: %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %0 : tensor<2xf32>
// CHECK-NEXT: return %1 : tensor<2xf32>

// NEVER: func.func private @exp
// NEVER: call @twice

// Two operations are more than half of three, so no callee is small enough.
// SMALL: func.func private @exp
// SMALL: func.func private @twice
// SMALL: call @exp
// SMALL: func.func @chain
// SMALL-NEXT: call @twice

// PLACES: %0 = tensorrt.unary {{.*}} loc([[UNARY:#loc[0-9]+]])
// PLACES: #[[BODY:loc[0-9]+]] = loc("inline.mlir":10:8)
// PLACES: #[[INNER:loc[0-9]+]] = loc("inline.mlir":14:8)
// PLACES: #[[OUTER:loc[0-9]+]] = loc("inline.mlir":19:8)
// PLACES: #[[CALL:loc[0-9]+]] = loc(callsite(#[[BODY]] at #[[INNER]]))
// PLACES: [[UNARY]] = loc(callsite(#[[CALL]] at #[[OUTER]]))

// -----

// Bodies of callees stay where others may call them, and calls of declarations, of what calls itself
// and of what must not be inlined.

func.func private @elsewhere(tensor<2xf32>) -> tensor<2xf32>
func.func @public(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @elsewhere(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @ping(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @pong(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @pong(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @ping(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @kept(%x: tensor<2xf32>) -> tensor<2xf32> attributes {no_inline} {
  return %x : tensor<2xf32>
}
func.func @caller(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @public(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @ping(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = call @kept(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = call @kept(%2) {no_inline} : (tensor<2xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}

// CHECK: func.func private @elsewhere
// CHECK: func.func @public
// CHECK: func.func private @ping
// CHECK-NEXT: call @pong
// CHECK: func.func private @pong
// CHECK: func.func private @kept
// CHECK-LABEL: func.func @caller
// CHECK-NEXT: %0 = call @elsewhere(%arg0)
// CHECK-NEXT: %1 = call @ping(%0)
// CHECK-NEXT: %2 = call @kept(%1)
// CHECK-NEXT: %3 = call @kept(%2)

// -----

// Functions of a module of engines are inlined inside of it; what calls an engine is no call of a
// function, and its callee is named.

tensorrt.module @engines {
  func.func private @part(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @engine(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = func.call @part(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
func.func @run(%x: tensor<2xf32>, %out: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensorrt.call @engines::@engine(%x : tensor<2xf32>) outs(%out : tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: tensorrt.module @engines
// CHECK-NEXT: func.func private @engine
// CHECK-NEXT: %0 = tensorrt.activation
// CHECK: func.func @run
// CHECK-NEXT: tensorrt.call @engines::@engine

// -----

// A function that an attribute names, in a list or a dictionary, has a use.

func.func private @in_a_list() {
  return
}
func.func private @in_a_dictionary() {
  return
}
func.func private @nowhere() {
  return
}
func.func @names() attributes {several = [@in_a_list], one = {callee = @in_a_dictionary}} {
  return
}

// CHECK: func.func private @in_a_list
// CHECK: func.func private @in_a_dictionary
// CHECK-NOT: @nowhere
// CHECK: func.func @names
