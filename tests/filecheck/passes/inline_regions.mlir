// RUN: tripybuild opt %s -p inline | filecheck %s
// RUN: same-values %s -p inline
// RUN: settled %s -p inline

// Calls in bodies of control flow are replaced as well, and a callee may hold regions.

func.func @choose(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensorrt.if (%c : tensor<i1>) -> tensor<2xf32> {
    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2xf32>
    tensorrt.yield %1 : tensor<2xf32>
  } else {
    tensorrt.yield %x : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = tensorrt.if (%c : tensor<i1>) -> tensor<2xf32> {
    %1 = func.call @choose(%c, %x) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
    tensorrt.yield %1 : tensor<2xf32>
  } else {
    tensorrt.yield %x : tensor<2xf32>
  }
  %2 = func.call @choose(%c, %0) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %2 : tensor<2xf32>, tensor<2xf32>
}

// CHECK: func.func @choose
// CHECK: func.func @main
// CHECK-NEXT: %0 = tensorrt.if
// CHECK-NEXT: tensorrt.if
// CHECK-NEXT: tensorrt.unary
// CHECK-NOT: call
// CHECK: return %0, %{{[0-9]+}}
