// RUN: tripybuild opt %s --split-input-file -p 'tensorrt-apply-wars{tensorrt-strongly-typed}' | filecheck %s
// RUN: same-values %s -p 'tensorrt-apply-wars{tensorrt-strongly-typed}'
// RUN: settled %s -p 'tensorrt-apply-wars{tensorrt-strongly-typed}'

// A product that is a scalar. Strongly typed, it is one of vectors.

func.func @a_product_that_is_a_scalar(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>) -> tensor<f32> {
  %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>}
    ins(%a, %b : tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x1xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @a_product_that_is_a_scalar(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<1x4xf32> to tensor<4xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %arg1 : tensor<1x4xf32> to tensor<4xf32>
// CHECK-NEXT:    %2 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kVECTOR>} ins(%0, %1 : tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:    return %2 : tensor<f32>
// CHECK-NEXT:  }

// -----

func.func @a_product_that_is_a_scalar_2(%a: tensor<1x4xf32>, %b: tensor<4x1xf32>) -> tensor<f32> {
  %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>}
    ins(%a, %b : tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @a_product_that_is_a_scalar_2(%arg0: tensor<1x4xf32>, %arg1: tensor<4x1xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<1x4xf32> to tensor<4xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %arg1 : tensor<4x1xf32> to tensor<4xf32>
// CHECK-NEXT:    %2 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kVECTOR>} ins(%0, %1 : tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:    return %2 : tensor<f32>
// CHECK-NEXT:  }

// -----

func.func @a_product_that_is_a_scalar_3(%a: tensor<4x1xf32>, %b: tensor<4x1xf32>) -> tensor<f32> {
  %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kTRANSPOSE>, op1 = #tensorrt.matrix_operation<kNONE>}
    ins(%a, %b : tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @a_product_that_is_a_scalar_3(%arg0: tensor<4x1xf32>, %arg1: tensor<4x1xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<4x1xf32> to tensor<4xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %arg1 : tensor<4x1xf32> to tensor<4xf32>
// CHECK-NEXT:    %2 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kVECTOR>} ins(%0, %1 : tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT:    return %2 : tensor<f32>
// CHECK-NEXT:  }

// -----

func.func @a_product_that_is_a_scalar_4(%a: tensor<1x1xf32>, %b: tensor<1x1xf32>) -> tensor<f32> {
  %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>}
    ins(%a, %b : tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @a_product_that_is_a_scalar_4(%arg0: tensor<1x1xf32>, %arg1: tensor<1x1xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<1x1xf32> to tensor<1xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %arg1 : tensor<1x1xf32> to tensor<1xf32>
// CHECK-NEXT:    %2 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kVECTOR>} ins(%0, %1 : tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT:    return %2 : tensor<f32>
// CHECK-NEXT:  }

// -----

// Products of vectors stay. They are what is wanted; so are products of more than one element.

func.func @products_of_vectors_stay(%a: tensor<1x4xf32>, %b: tensor<1x4x1xf32>) -> tensor<f32> {
  %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kNONE>}
    ins(%a, %b : tensor<1x4xf32>, tensor<1x4x1xf32>) -> tensor<1x1xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @products_of_vectors_stay(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4x1xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %arg1 : tensor<1x4xf32>, tensor<1x4x1xf32>) -> tensor<1x1xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
// CHECK-NEXT:    return %1 : tensor<f32>
// CHECK-NEXT:  }
