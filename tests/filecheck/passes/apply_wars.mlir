// RUN: tripybuild opt %s --split-input-file -p tensorrt-apply-wars | filecheck %s
// RUN: same-values %s -p tensorrt-apply-wars
// RUN: settled %s -p tensorrt-apply-wars

// Bytes go through floats. TensorRT converts a byte to and from f32 and f16 only.

func.func @bytes_go_through_floats(%x: tensor<2xui8>) -> tensor<2xi32> {
  %0 = tensorrt.identity %x : tensor<2xui8> to tensor<2xi32>
  return %0 : tensor<2xi32>
}

// CHECK-LABEL: func.func @bytes_go_through_floats(%arg0: tensor<2xui8>) -> tensor<2xi32> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<2xui8> to tensor<2xf32>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<2xf32> to tensor<2xi32>
// CHECK-NEXT:    return %1 : tensor<2xi32>
// CHECK-NEXT:  }

// -----

func.func @bytes_go_through_floats_2(%x: tensor<2xi32>) -> tensor<2xui8> {
  %0 = tensorrt.identity %x : tensor<2xi32> to tensor<2xui8>
  return %0 : tensor<2xui8>
}

// CHECK-LABEL: func.func @bytes_go_through_floats_2(%arg0: tensor<2xi32>) -> tensor<2xui8> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<2xi32> to tensor<2xf32>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<2xf32> to tensor<2xui8>
// CHECK-NEXT:    return %1 : tensor<2xui8>
// CHECK-NEXT:  }

// -----

func.func @bytes_go_through_floats_3(%x: tensor<2xui8>) -> tensor<2xbf16> {
  %0 = tensorrt.identity %x : tensor<2xui8> to tensor<2xbf16>
  return %0 : tensor<2xbf16>
}

// CHECK-LABEL: func.func @bytes_go_through_floats_3(%arg0: tensor<2xui8>) -> tensor<2xbf16> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<2xui8> to tensor<2xf32>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<2xf32> to tensor<2xbf16>
// CHECK-NEXT:    return %1 : tensor<2xbf16>
// CHECK-NEXT:  }

// -----

// What tensorrt converts stays. These it does itself.

func.func @what_tensorrt_converts_stays(%x: tensor<2xui8>) -> tensor<2xf32> {
  %0 = tensorrt.identity %x : tensor<2xui8> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @what_tensorrt_converts_stays(%arg0: tensor<2xui8>) -> tensor<2xf32> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<2xui8> to tensor<2xf32>
// CHECK-NEXT:    return %0 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

func.func @what_tensorrt_converts_stays_2(%x: tensor<2xf16>) -> tensor<2xui8> {
  %0 = tensorrt.identity %x : tensor<2xf16> to tensor<2xui8>
  return %0 : tensor<2xui8>
}

// CHECK-LABEL: func.func @what_tensorrt_converts_stays_2(%arg0: tensor<2xf16>) -> tensor<2xui8> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<2xf16> to tensor<2xui8>
// CHECK-NEXT:    return %0 : tensor<2xui8>
// CHECK-NEXT:  }

// -----

func.func @what_tensorrt_converts_stays_3(%x: tensor<2xi32>) -> tensor<2xf32> {
  %0 = tensorrt.identity %x : tensor<2xi32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @what_tensorrt_converts_stays_3(%arg0: tensor<2xi32>) -> tensor<2xf32> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<2xi32> to tensor<2xf32>
// CHECK-NEXT:    return %0 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

// Bytes have two dimensions. TensorRT 8.6 computes functions of i8 matrices.

func.func @bytes_have_two_dimensions(%x: tensor<5xi8>) -> tensor<5xi8> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<5xi8>
  return %0 : tensor<5xi8>
}

// CHECK-LABEL: func.func @bytes_have_two_dimensions(%arg0: tensor<5xi8>) -> tensor<5xi8> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<5xi8> to tensor<1x5xi8>
// CHECK-NEXT:    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<1x5xi8>
// CHECK-NEXT:    %2 = tensorrt.collapse_rank %1 : tensor<1x5xi8> to tensor<5xi8>
// CHECK-NEXT:    return %2 : tensor<5xi8>
// CHECK-NEXT:  }

// -----

func.func @bytes_have_two_dimensions_2(%x: tensor<i8>) -> tensor<i8> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<i8>
  return %0 : tensor<i8>
}

// CHECK-LABEL: func.func @bytes_have_two_dimensions_2(%arg0: tensor<i8>) -> tensor<i8> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<i8> to tensor<1x1xi8>
// CHECK-NEXT:    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<1x1xi8>
// CHECK-NEXT:    %2 = tensorrt.collapse_rank %1 : tensor<1x1xi8> to tensor<i8>
// CHECK-NEXT:    return %2 : tensor<i8>
// CHECK-NEXT:  }

// -----

func.func @bytes_have_two_dimensions_3(%x: tensor<?xi8>) -> tensor<?xi8> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<?xi8>
  return %0 : tensor<?xi8>
}

// CHECK-LABEL: func.func @bytes_have_two_dimensions_3(%arg0: tensor<?xi8>) -> tensor<?xi8> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<?xi8> to tensor<1x?xi8>
// CHECK-NEXT:    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<1x?xi8>
// CHECK-NEXT:    %2 = tensorrt.collapse_rank %1 : tensor<1x?xi8> to tensor<?xi8>
// CHECK-NEXT:    return %2 : tensor<?xi8>
// CHECK-NEXT:  }

// -----

// Other functions stay. Two dimensions, or other elements.

func.func @other_functions_stay(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func.func @other_functions_stay(%arg0: tensor<5xf32>) -> tensor<5xf32> {
// CHECK-NEXT:    %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %arg0 : tensor<5xf32>
// CHECK-NEXT:    return %0 : tensor<5xf32>
// CHECK-NEXT:  }

// -----

func.func @other_functions_stay_2(%x: tensor<2x2xi8>) -> tensor<2x2xi8> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<2x2xi8>
  return %0 : tensor<2x2xi8>
}

// CHECK-LABEL: func.func @other_functions_stay_2(%arg0: tensor<2x2xi8>) -> tensor<2x2xi8> {
// CHECK-NEXT:    %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %arg0 : tensor<2x2xi8>
// CHECK-NEXT:    return %0 : tensor<2x2xi8>
// CHECK-NEXT:  }

// -----

func.func @other_functions_stay_3(%x: tensor<5xi32>) -> tensor<5xi32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<5xi32>
  return %0 : tensor<5xi32>
}

// CHECK-LABEL: func.func @other_functions_stay_3(%arg0: tensor<5xi32>) -> tensor<5xi32> {
// CHECK-NEXT:    %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %arg0 : tensor<5xi32>
// CHECK-NEXT:    return %0 : tensor<5xi32>
// CHECK-NEXT:  }

// -----

// A product that is a scalar. Strongly typed, it is one of vectors.

func.func @a_product_that_is_a_scalar(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>) -> tensor<f32> {
  %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>}
    ins(%a, %b : tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x1xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @a_product_that_is_a_scalar(%arg0: tensor<1x4xf32>, %arg1: tensor<1x4xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%arg0, %arg1 : tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x1xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
// CHECK-NEXT:    return %1 : tensor<f32>
// CHECK-NEXT:  }

// -----

func.func @a_product_that_is_a_scalar_2(%a: tensor<1x4xf32>, %b: tensor<4x1xf32>) -> tensor<f32> {
  %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>}
    ins(%a, %b : tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @a_product_that_is_a_scalar_2(%arg0: tensor<1x4xf32>, %arg1: tensor<4x1xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %arg1 : tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
// CHECK-NEXT:    return %1 : tensor<f32>
// CHECK-NEXT:  }

// -----

func.func @a_product_that_is_a_scalar_3(%a: tensor<4x1xf32>, %b: tensor<4x1xf32>) -> tensor<f32> {
  %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kTRANSPOSE>, op1 = #tensorrt.matrix_operation<kNONE>}
    ins(%a, %b : tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @a_product_that_is_a_scalar_3(%arg0: tensor<4x1xf32>, %arg1: tensor<4x1xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kTRANSPOSE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %arg1 : tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
// CHECK-NEXT:    return %1 : tensor<f32>
// CHECK-NEXT:  }

// -----

func.func @a_product_that_is_a_scalar_4(%a: tensor<1x1xf32>, %b: tensor<1x1xf32>) -> tensor<f32> {
  %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>}
    ins(%a, %b : tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @a_product_that_is_a_scalar_4(%arg0: tensor<1x1xf32>, %arg1: tensor<1x1xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %arg1 : tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %0 : tensor<1x1xf32> to tensor<f32>
// CHECK-NEXT:    return %1 : tensor<f32>
// CHECK-NEXT:  }

// -----

// Other slices stay. Static ones are checked; other modes have a meaning out of bounds; it must be
// asked for.

// VALUES: 1=1,2 2=2,3
func.func @other_slices_stay(%x: tensor<4x6xf32>, %s: tensor<2xi32>, %n: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.slice %x[%s: tensor<2xi32>][%n: tensor<2xi32>][1, 1] : tensor<4x6xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @other_slices_stay(%arg0: tensor<4x6xf32>, %arg1: tensor<2xi32>, %arg2: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.slice %arg0[%arg1: tensor<2xi32>][%arg2: tensor<2xi32>][1, 1] : tensor<4x6xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x?xf32>
// CHECK-NEXT:  }
