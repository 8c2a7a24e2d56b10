// RUN: tripybuild opt %s -p cse --mlir-print-debuginfo | filecheck %s

// What is shared is at the place of the first.

func.func @locations() -> (tensor<2xf32>, tensor<2xf32>) {
  %a = tensorrt.constant dense<1.0> : tensor<2xf32> loc("first")
  %b = tensorrt.constant dense<1.0> : tensor<2xf32> loc("second")
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}

// CHECK: tensorrt.constant dense<1.000000e+00> : tensor<2xf32> loc(#[[PLACE:loc[0-9]+]])
// CHECK-NOT: tensorrt.constant
// CHECK-NOT: second
// CHECK: #[[PLACE]] = loc("first")
