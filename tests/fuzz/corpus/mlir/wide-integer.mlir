// Softmax over what is merged.

func.func @softmax_over_what_is_merged(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.softmax {axis = 0 : i2147483647} %0 : tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @softmax_over_what_is_merged(%arg0: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<6x4xf32>
// CHECK-NEXT:    %1 = tensorrt.softmax {axis = 0 : i64} %0 : tensor<6x4xf32>
// CHECK-NEXT:    return %1 : tensor<6x4xf32>
// CHECK-NEXT:  }