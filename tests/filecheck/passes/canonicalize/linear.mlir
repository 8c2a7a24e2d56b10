// RUN: tripybuild opt %s --split-input-file -p canonicalize | filecheck %s
// RUN: same-values %s -p canonicalize
// RUN: settled %s -p canonicalize

// A constant kernel is an attribute.

func.func @a_constant_kernel_is_an_attribute(%a: tensor<1x4x8x8xf32>, %b: tensor<6xf32>) -> tensor<1x6x4x5xf32> {
  %k = tensorrt.constant dense<0.5> : tensor<6x2x3x3xf32>
  %r = tensorrt.convolution {stride = array<i64: 2, 1>, pre_padding = array<i64: 1, 0>, post_padding = array<i64: 0, 1>, num_groups = 2 : ui32, dilation = array<i64: 1, 2>} in(%a : tensor<1x4x8x8xf32>) kernel(%k : tensor<6x2x3x3xf32>) bias(%b : tensor<6xf32>) -> tensor<1x6x4x5xf32>
  return %r : tensor<1x6x4x5xf32>
}

// CHECK-LABEL: func.func @a_constant_kernel_is_an_attribute(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<6xf32>) -> tensor<1x6x4x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.convolution {dilation = array<i64: 1, 2>, kernelStatic = dense<5.000000e-01> : tensor<6x2x3x3xf32>, num_groups = 2 : ui32, post_padding = array<i64: 0, 1>, pre_padding = array<i64: 1, 0>, stride = array<i64: 2, 1>} in(%arg0 : tensor<1x4x8x8xf32>) bias(%arg1 : tensor<6xf32>) -> tensor<1x6x4x5xf32>
// CHECK-NEXT:    return %0 : tensor<1x6x4x5xf32>
// CHECK-NEXT:  }

// -----

func.func @a_constant_kernel_is_an_attribute_2(%a: tensor<1x4x8x8xf32>, %b: tensor<6xf32>) -> tensor<1x6x4x5xf32> {
  %k = tensorrt.constant dense_resource<w> : tensor<6x2x3x3xf32>
  %r = tensorrt.convolution {stride = array<i64: 2, 1>, pre_padding = array<i64: 1, 0>, post_padding = array<i64: 0, 1>, num_groups = 2 : ui32, dilation = array<i64: 1, 2>} in(%a : tensor<1x4x8x8xf32>) kernel(%k : tensor<6x2x3x3xf32>) bias(%b : tensor<6xf32>) -> tensor<1x6x4x5xf32>
  return %r : tensor<1x6x4x5xf32>
}
  {-# dialect_resources: {builtin: {w: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"}} #-}

// CHECK-LABEL: func.func @a_constant_kernel_is_an_attribute_2(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<6xf32>) -> tensor<1x6x4x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.convolution {dilation = array<i64: 1, 2>, kernelStatic = dense_resource<w> : tensor<6x2x3x3xf32>, num_groups = 2 : ui32, post_padding = array<i64: 0, 1>, pre_padding = array<i64: 1, 0>, stride = array<i64: 2, 1>} in(%arg0 : tensor<1x4x8x8xf32>) bias(%arg1 : tensor<6xf32>) -> tensor<1x6x4x5xf32>
// CHECK-NEXT:    return %0 : tensor<1x6x4x5xf32>
// CHECK-NEXT:  }
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: {-#
// CHECK-NEXT:   dialect_resources: {
// CHECK-NEXT:     builtin: {
// CHECK-NEXT:       w: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: #-}

// -----

// A kernel that is computed stays.

func.func @a_kernel_that_is_computed_stays(%a: tensor<1x4x8x8xf32>, %b: tensor<6xf32>, %c: tensor<6x2x3x3xf32>) -> tensor<1x6x4x5xf32> {
  %r = tensorrt.convolution {stride = array<i64: 2, 1>, pre_padding = array<i64: 1, 0>, post_padding = array<i64: 0, 1>, num_groups = 2 : ui32, dilation = array<i64: 1, 2>} in(%a : tensor<1x4x8x8xf32>) kernel(%c : tensor<6x2x3x3xf32>) bias(%b : tensor<6xf32>) -> tensor<1x6x4x5xf32>
  return %r : tensor<1x6x4x5xf32>
}

// CHECK-LABEL: func.func @a_kernel_that_is_computed_stays(%arg0: tensor<1x4x8x8xf32>, %arg1: tensor<6xf32>, %arg2: tensor<6x2x3x3xf32>) -> tensor<1x6x4x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.convolution {dilation = array<i64: 1, 2>, num_groups = 2 : ui32, post_padding = array<i64: 0, 1>, pre_padding = array<i64: 1, 0>, stride = array<i64: 2, 1>} in(%arg0 : tensor<1x4x8x8xf32>) kernel(%arg2 : tensor<6x2x3x3xf32>) bias(%arg1 : tensor<6xf32>) -> tensor<1x6x4x5xf32>
// CHECK-NEXT:    return %0 : tensor<1x6x4x5xf32>
// CHECK-NEXT:  }

// -----

// A transpose of the right side goes into the product.

func.func @a_transpose_of_the_right_side_goes_into_the_product(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %t = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d0, d2, d1)>} %b : tensor<2x5x4xf32> to tensor<2x4x5xf32>
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%a, %t : tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @a_transpose_of_the_right_side_goes_into_the_product(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%arg0, %arg1 : tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x5xf32>
// CHECK-NEXT:  }

// -----

// A transpose that is used elsewhere stays.

func.func @a_transpose_that_is_used_elsewhere_stays(%a: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %t = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d0, d2, d1)>} %a : tensor<2x4x4xf32> to tensor<2x4x4xf32>
  %p = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%a, %t : tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %r = tensorrt.element_wise <kSUM>(%p, %t : tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %r : tensor<2x4x4xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-LABEL: func.func @a_transpose_that_is_used_elsewhere_stays(%arg0: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x4x4xf32> to tensor<2x4x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%1, %0 : tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
// CHECK-NEXT:    return %2 : tensor<2x4x4xf32>
// CHECK-NEXT:  }

// -----

// A transpose of other dimensions stays.

func.func @a_transpose_of_other_dimensions_stays(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<2x3x5xf32> {
  %t = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d1, d0, d2)>} %b : tensor<4x2x5xf32> to tensor<2x4x5xf32>
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%a, %t : tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-LABEL: func.func @a_transpose_of_other_dimensions_stays(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4x2x5xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg1 : tensor<4x2x5xf32> to tensor<2x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x5xf32>
// CHECK-NEXT:  }

// -----

// A transposed left side is an op of its own.

func.func @a_transposed_left_side_is_an_op_of_its_own(%a: tensor<2x4x3xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kTRANSPOSE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%a, %b : tensor<2x4x3xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-LABEL: func.func @a_transposed_left_side_is_an_op_of_its_own(%arg0: tensor<2x4x3xf32>, %arg1: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x4x3xf32> to tensor<2x3x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x5xf32>
// CHECK-NEXT:  }

// -----

// One value on both sides is transposed on the left only.

func.func @one_value_on_both_sides_is_transposed_on_the_left_only(%a: tensor<4x3xf32>) -> tensor<3x3xf32> {
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kTRANSPOSE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%a, %a : tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @one_value_on_both_sides_is_transposed_on_the_left_only(%arg0: tensor<4x3xf32>) -> tensor<3x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<4x3xf32> to tensor<3x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg0 : tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
// CHECK-NEXT:    return %1 : tensor<3x3xf32>
// CHECK-NEXT:  }

// -----

func.func @one_value_on_both_sides_is_transposed_on_the_left_only_2(%a: tensor<4x3xf32>) -> tensor<4x4xf32> {
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%a, %a : tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @one_value_on_both_sides_is_transposed_on_the_left_only_2(%arg0: tensor<4x3xf32>) -> tensor<4x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%arg0, %arg0 : tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    return %0 : tensor<4x4xf32>
// CHECK-NEXT:  }

// -----

// Two transposes of the left side are none.

func.func @two_transposes_of_the_left_side_are_none(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %t = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d0, d2, d1)>} %a : tensor<2x3x4xf32> to tensor<2x4x3xf32>
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kTRANSPOSE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%t, %b : tensor<2x4x3xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @two_transposes_of_the_left_side_are_none(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %arg1 : tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x5xf32>
// CHECK-NEXT:  }

// -----

// Vectors stay.

func.func @vectors_stay(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<3xf32> {
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kVECTOR>} ins(%a, %b : tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @vectors_stay(%arg0: tensor<3x4xf32>, %arg1: tensor<4xf32>) -> tensor<3xf32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kVECTOR>} ins(%arg0, %arg1 : tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
// CHECK-NEXT:    return %0 : tensor<3xf32>
// CHECK-NEXT:  }

// -----

// A softmax stands on the left.

func.func @a_softmax_stands_on_the_left(%a: tensor<2x3x6x5xf32>, %b: tensor<2x3x4x5xf32>) -> tensor<2x3x6x4xf32> {
  %s = tensorrt.softmax {axis = 3 : i64} %b : tensor<2x3x4x5xf32>
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%a, %s : tensor<2x3x6x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x6x4xf32>
  return %r : tensor<2x3x6x4xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
// CHECK-LABEL: func.func @a_softmax_stands_on_the_left(%arg0: tensor<2x3x6x5xf32>, %arg1: tensor<2x3x4x5xf32>) -> tensor<2x3x6x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 3 : i64} %arg1 : tensor<2x3x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%0, %arg0 : tensor<2x3x4x5xf32>, tensor<2x3x6x5xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %2 = tensorrt.transpose {permutation = #map} %1 : tensor<2x3x4x6xf32> to tensor<2x3x6x4xf32>
// CHECK-NEXT:    return %2 : tensor<2x3x6x4xf32>
// CHECK-NEXT:  }

// -----

// Other products of softmax stay.

func.func @other_products_of_softmax_stay(%a: tensor<2x3x6x4xf32>, %b: tensor<2x3x4x5xf32>) -> tensor<2x3x6x5xf32> {
  %s = tensorrt.softmax {axis = 2 : i64} %b : tensor<2x3x4x5xf32>
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%a, %s : tensor<2x3x6x4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x6x5xf32>
  return %r : tensor<2x3x6x5xf32>
}

// CHECK-LABEL: func.func @other_products_of_softmax_stay(%arg0: tensor<2x3x6x4xf32>, %arg1: tensor<2x3x4x5xf32>) -> tensor<2x3x6x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 2 : i64} %arg1 : tensor<2x3x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<2x3x6x4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x6x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x6x5xf32>
// CHECK-NEXT:  }

// -----

func.func @other_products_of_softmax_stay_2(%a: tensor<3x6x5xf32>, %b: tensor<3x4x5xf32>) -> tensor<3x6x4xf32> {
  %s = tensorrt.softmax {axis = 2 : i64} %b : tensor<3x4x5xf32>
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%a, %s : tensor<3x6x5xf32>, tensor<3x4x5xf32>) -> tensor<3x6x4xf32>
  return %r : tensor<3x6x4xf32>
}

// CHECK-LABEL: func.func @other_products_of_softmax_stay_2(%arg0: tensor<3x6x5xf32>, %arg1: tensor<3x4x5xf32>) -> tensor<3x6x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 2 : i64} %arg1 : tensor<3x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%arg0, %0 : tensor<3x6x5xf32>, tensor<3x4x5xf32>) -> tensor<3x6x4xf32>
// CHECK-NEXT:    return %1 : tensor<3x6x4xf32>
// CHECK-NEXT:  }

// -----

// Two softmaxes do not take turns.

func.func @two_softmaxes_do_not_take_turns(%a: tensor<2x3x6x5xf32>, %b: tensor<2x3x4x5xf32>) -> tensor<2x3x6x4xf32> {
  %s = tensorrt.softmax {axis = 3 : i64} %b : tensor<2x3x4x5xf32>
  %u = tensorrt.softmax {axis = 3 : i64} %a : tensor<2x3x6x5xf32>
  %r = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%u, %s : tensor<2x3x6x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x6x4xf32>
  return %r : tensor<2x3x6x4xf32>
}

// CHECK-LABEL: func.func @two_softmaxes_do_not_take_turns(%arg0: tensor<2x3x6x5xf32>, %arg1: tensor<2x3x4x5xf32>) -> tensor<2x3x6x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 3 : i64} %arg1 : tensor<2x3x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.softmax {axis = 3 : i64} %arg0 : tensor<2x3x6x5xf32>
// CHECK-NEXT:    %2 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%1, %0 : tensor<2x3x6x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x6x4xf32>
// CHECK-NEXT:    return %2 : tensor<2x3x6x4xf32>
// CHECK-NEXT:  }
