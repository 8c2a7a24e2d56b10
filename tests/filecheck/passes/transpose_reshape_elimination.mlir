// RUN: tripybuild opt %s --split-input-file -p tensorrt-transpose-reshape-elimination | filecheck %s
// RUN: same-values %s -p tensorrt-transpose-reshape-elimination
// RUN: settled %s -p tensorrt-transpose-reshape-elimination

// The form is mlir tensorrts.

// Only what a reshape merges gets new letters.

func.func @only_what_a_reshape_merges_gets_new_letters(%x: tensor<10x12xf32>, %y: tensor<10x5xf32>) -> tensor<12xf32> {
  %0 = tensorrt.reshape %x : tensor<10x12xf32> to tensor<10x3x4xf32>
  %1 = tensorrt.einsum {equation = "cab,cd->ab"} ins(%0, %y : tensor<10x3x4xf32>, tensor<10x5xf32>) -> tensor<3x4xf32>
  %2 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %1 : tensor<3x4xf32>
  %3 = tensorrt.reshape %2 : tensor<3x4xf32> to tensor<12xf32>
  return %3 : tensor<12xf32>
}

// CHECK-LABEL: func.func @only_what_a_reshape_merges_gets_new_letters(%arg0: tensor<10x12xf32>, %arg1: tensor<10x5xf32>) -> tensor<12xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg1 : tensor<10x5xf32> to tensor<10x1x5xf32>
// CHECK-NEXT:    %1 = tensorrt.einsum {equation = "ce,ced->e"} ins(%arg0, %0 : tensor<10x12xf32>, tensor<10x1x5xf32>) -> tensor<12xf32>
// CHECK-NEXT:    %2 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %1 : tensor<12xf32>
// CHECK-NEXT:    return %2 : tensor<12xf32>
// CHECK-NEXT:  }

// -----

// Layouts meet and cancel, or are taken in.

// A product between reshapes.

func.func @a_product_between_reshapes(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @a_product_between_reshapes(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg1 : tensor<4x5xf32> to tensor<1x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x5xf32>
// CHECK-NEXT:  }

// -----

// A product between transposes is one of vectors.

func.func @a_product_between_transposes_is_one_of_vectors(%x: tensor<3x4xf32>, %y: tensor<5x4xf32>) -> tensor<5x3xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %y : tensor<5x4xf32> to tensor<4x5xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%x, %0 : tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %1 : tensor<3x5xf32> to tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @a_product_between_transposes_is_one_of_vectors(%arg0: tensor<3x4xf32>, %arg1: tensor<5x4xf32>) -> tensor<5x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<3x4xf32> to tensor<1x3x4xf32>
// CHECK-NEXT:    %1 = tensorrt.expand_rank %arg1 : tensor<5x4xf32> to tensor<5x1x4xf32>
// CHECK-NEXT:    %2 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kVECTOR>} ins(%0, %1 : tensor<1x3x4xf32>, tensor<5x1x4xf32>) -> tensor<5x3xf32>
// CHECK-NEXT:    return %2 : tensor<5x3xf32>
// CHECK-NEXT:  }

// -----

func.func @rewrites(%x: tensor<2x8x12xf32>, %w: tensor<12x12xf32>) -> tensor<2x3x8x4xf32> {
  %0 = tensorrt.expand_rank %w : tensor<12x12xf32> to tensor<1x12x12xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%x, %0 : tensor<2x8x12xf32>, tensor<1x12x12xf32>) -> tensor<2x8x12xf32>
  %2 = tensorrt.reshape %1 : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
  %3 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>} %2 : tensor<2x8x3x4xf32> to tensor<2x3x8x4xf32>
  return %3 : tensor<2x3x8x4xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-LABEL: func.func @rewrites(%arg0: tensor<2x8x12xf32>, %arg1: tensor<12x12xf32>) -> tensor<2x3x8x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg1 : tensor<12x12xf32> to tensor<12x3x4xf32>
// CHECK-NEXT:    %1 = tensorrt.transpose {permutation = #map} %0 : tensor<12x3x4xf32> to tensor<3x12x4xf32>
// CHECK-NEXT:    %2 = tensorrt.expand_rank %arg0 : tensor<2x8x12xf32> to tensor<2x1x8x12xf32>
// CHECK-NEXT:    %3 = tensorrt.expand_rank %1 : tensor<3x12x4xf32> to tensor<1x3x12x4xf32>
// CHECK-NEXT:    %4 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%2, %3 : tensor<2x1x8x12xf32>, tensor<1x3x12x4xf32>) -> tensor<2x3x8x4xf32>
// CHECK-NEXT:    return %4 : tensor<2x3x8x4xf32>
// CHECK-NEXT:  }

// -----

// Activation, unary, identity and softmax between layouts.

func.func @activation_unary_identity_and_softmax_between_layouts(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %0 : tensor<6x4xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %1 : tensor<6x4xf32> to tensor<4x6xf32>
  %3 = tensorrt.softmax {axis = 0 : i64} %2 : tensor<4x6xf32>
  %4 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %3 : tensor<4x6xf32>
  %5 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %4 : tensor<4x6xf32> to tensor<6x4xf32>
  %6 = tensorrt.reshape %5 : tensor<6x4xf32> to tensor<2x3x4xf32>
  return %6 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @activation_unary_identity_and_softmax_between_layouts(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %arg0 : tensor<2x3x4xf32>
// CHECK-NEXT:    %1 = tensorrt.softmax {axis = 2 : i64} %0 : tensor<2x3x4xf32>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %1 : tensor<2x3x4xf32>
// CHECK-NEXT:    return %2 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

// Softmax in three dimensions, from above.

func.func @softmax_in_three_dimensions_from_above(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %0 = tensorrt.softmax {axis = 1 : i64} %x : tensor<2x3x4xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d1, d2, d0)>} %0 : tensor<2x3x4xf32> to tensor<3x4x2xf32>
  return %1 : tensor<3x4x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-LABEL: func.func @softmax_in_three_dimensions_from_above(%arg0: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x3x4xf32> to tensor<3x4x2xf32>
// CHECK-NEXT:    %1 = tensorrt.softmax {axis = 0 : i64} %0 : tensor<3x4x2xf32>
// CHECK-NEXT:    return %1 : tensor<3x4x2xf32>
// CHECK-NEXT:  }

// -----

// Softmax in three dimensions, between two transposes.

func.func @softmax_in_three_dimensions_between_two_transposes(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d1, d2, d0)>} %x : tensor<2x3x4xf32> to tensor<3x4x2xf32>
  %1 = tensorrt.softmax {axis = 0 : i64} %0 : tensor<3x4x2xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d2, d0, d1)>} %1 : tensor<3x4x2xf32> to tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @softmax_in_three_dimensions_between_two_transposes(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 1 : i64} %arg0 : tensor<2x3x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

// Quantization with one scale.

func.func @quantization_with_one_scale(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %s = tensorrt.constant dense<0.25> : tensor<f32>
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.quantize in(%0 : tensor<6x4xf32>) scale(%s : tensor<f32>) -> tensor<6x4xi8>
  %2 = tensorrt.dequantize in(%1 : tensor<6x4xi8>) scale(%s : tensor<f32>) -> tensor<6x4xf32>
  %3 = tensorrt.reshape %2 : tensor<6x4xf32> to tensor<2x3x4xf32>
  return %3 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @quantization_with_one_scale(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT:    %0 = tensorrt.quantize in(%arg0 : tensor<2x3x4xf32>) scale(%cst_f32 : tensor<f32>) -> tensor<2x3x4xi8>
// CHECK-NEXT:    %1 = tensorrt.dequantize in(%0 : tensor<2x3x4xi8>) scale(%cst_f32 : tensor<f32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @rewrites_2(%x: tensor<2x3x4xf32>, %y: tensor<6x4xf32>) -> tensor<2x3x4xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.element_wise <kSUB>(%0, %y : tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = tensorrt.reshape %1 : tensor<6x4xf32> to tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @rewrites_2(%arg0: tensor<2x3x4xf32>, %arg1: tensor<6x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg1 : tensor<6x4xf32> to tensor<2x3x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

// A sum of two reshapes of one shape.

func.func @a_sum_of_two_reshapes_of_one_shape(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.reshape %y : tensor<2x3x4xf32> to tensor<6x4xf32>
  %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @a_sum_of_two_reshapes_of_one_shape(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUB>(%arg0, %arg1 : tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %1 = tensorrt.reshape %0 : tensor<2x3x4xf32> to tensor<6x4xf32>
// CHECK-NEXT:    return %1 : tensor<6x4xf32>
// CHECK-NEXT:  }

// -----

// A transpose that moves ones only.

func.func @a_transpose_that_moves_ones_only(%x: tensor<3x1x4xf32>) -> tensor<1x3x4xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d1, d0, d2)>} %x : tensor<3x1x4xf32> to tensor<1x3x4xf32>
  return %0 : tensor<1x3x4xf32>
}

// CHECK-LABEL: func.func @a_transpose_that_moves_ones_only(%arg0: tensor<3x1x4xf32>) -> tensor<1x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<3x1x4xf32> to tensor<1x3x4xf32>
// CHECK-NEXT:    return %0 : tensor<1x3x4xf32>
// CHECK-NEXT:  }

// -----

// A shuffle is its steps.

func.func @a_shuffle_is_its_steps(%x: tensor<2x3x4xf32>) -> tensor<2x12xf32> {
  %0 = tensorrt.shuffle {first_transpose = array<i64: 2, 0, 1>, reshape = array<i64: 4, 6>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%x : tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = tensorrt.reshape %0 : tensor<6x4xf32> to tensor<2x12xf32>
  return %1 : tensor<2x12xf32>
}

// CHECK-LABEL: func.func @a_shuffle_is_its_steps(%arg0: tensor<2x3x4xf32>) -> tensor<2x12xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<2x12xf32>
// CHECK-NEXT:    return %0 : tensor<2x12xf32>
// CHECK-NEXT:  }

// -----

// An einsum over two dimensions is a product over one.

func.func @an_einsum_over_two_dimensions_is_a_product_over_one(%x: tensor<2x3x4xf32>, %y: tensor<5x3x4xf32>) -> tensor<2x5xf32> {
  %0 = tensorrt.einsum {equation = "acd,bcd->ab"} ins(%x, %y : tensor<2x3x4xf32>, tensor<5x3x4xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @an_einsum_over_two_dimensions_is_a_product_over_one(%arg0: tensor<2x3x4xf32>, %arg1: tensor<5x3x4xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<2x12xf32>
// CHECK-NEXT:    %1 = tensorrt.reshape %arg1 : tensor<5x3x4xf32> to tensor<5x12xf32>
// CHECK-NEXT:    %2 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%0, %1 : tensor<2x12xf32>, tensor<5x12xf32>) -> tensor<2x5xf32>
// CHECK-NEXT:    return %2 : tensor<2x5xf32>
// CHECK-NEXT:  }

// -----

// An einsum takes transposes in, and is a product of vectors.

func.func @an_einsum_takes_transposes_in_and_is_a_product_of_vectors(%x: tensor<2x3x4x5xf32>, %y: tensor<2x6x3x5xf32>) -> tensor<2x4x6x3xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>} %y : tensor<2x6x3x5xf32> to tensor<2x3x6x5xf32>
  %1 = tensorrt.einsum {equation = "bhqd,bhkd->bhqk"} ins(%x, %0 : tensor<2x3x4x5xf32>, tensor<2x3x6x5xf32>) -> tensor<2x3x4x6xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>} %1 : tensor<2x3x4x6xf32> to tensor<2x4x6x3xf32>
  return %2 : tensor<2x4x6x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// CHECK-LABEL: func.func @an_einsum_takes_transposes_in_and_is_a_product_of_vectors(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x6x3x5xf32>) -> tensor<2x4x6x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x3x4x5xf32> to tensor<2x4x3x5xf32>
// CHECK-NEXT:    %1 = tensorrt.expand_rank %0 : tensor<2x4x3x5xf32> to tensor<2x4x1x3x5xf32>
// CHECK-NEXT:    %2 = tensorrt.expand_rank %arg1 : tensor<2x6x3x5xf32> to tensor<2x1x6x3x5xf32>
// CHECK-NEXT:    %3 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kVECTOR>} ins(%1, %2 : tensor<2x4x1x3x5xf32>, tensor<2x1x6x3x5xf32>) -> tensor<2x4x6x3xf32>
// CHECK-NEXT:    return %3 : tensor<2x4x6x3xf32>
// CHECK-NEXT:  }

// -----

// Where a layout matters, or its sizes are not known.

// Quantization with a scale for each row.

func.func @quantization_with_a_scale_for_each_row(%x: tensor<4x6xf32>, %s: tensor<6xf32>) -> tensor<6x4xf32> {
  %1 = tensorrt.quantize {axis = 1 : i32} in(%x : tensor<4x6xf32>) scale(%s : tensor<6xf32>) -> tensor<4x6xi8>
  %2 = tensorrt.dequantize {axis = 1 : i32} in(%1 : tensor<4x6xi8>) scale(%s : tensor<6xf32>) -> tensor<4x6xf32>
  %3 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %2 : tensor<4x6xf32> to tensor<6x4xf32>
  return %3 : tensor<6x4xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @quantization_with_a_scale_for_each_row(%arg0: tensor<4x6xf32>, %arg1: tensor<6xf32>) -> tensor<6x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.quantize {axis = 1 : i32} in(%arg0 : tensor<4x6xf32>) scale(%arg1 : tensor<6xf32>) -> tensor<4x6xi8>
// CHECK-NEXT:    %1 = tensorrt.dequantize {axis = 1 : i32} in(%0 : tensor<4x6xi8>) scale(%arg1 : tensor<6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:    %2 = tensorrt.transpose {permutation = #map} %1 : tensor<4x6xf32> to tensor<6x4xf32>
// CHECK-NEXT:    return %2 : tensor<6x4xf32>
// CHECK-NEXT:  }

// -----

// Quantization along a dimension of size 1.

func.func @quantization_along_a_dimension_of_size_1(%x: tensor<1x6xf32>, %s: tensor<1xf32>) -> tensor<2x3xf32> {
  %1 = tensorrt.quantize {axis = 0 : i32} in(%x : tensor<1x6xf32>) scale(%s : tensor<1xf32>) -> tensor<1x6xi8>
  %2 = tensorrt.dequantize {axis = 0 : i32} in(%1 : tensor<1x6xi8>) scale(%s : tensor<1xf32>) -> tensor<1x6xf32>
  %3 = tensorrt.reshape %2 : tensor<1x6xf32> to tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @quantization_along_a_dimension_of_size_1(%arg0: tensor<1x6xf32>, %arg1: tensor<1xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.quantize {axis = 0 : i32} in(%arg0 : tensor<1x6xf32>) scale(%arg1 : tensor<1xf32>) -> tensor<1x6xi8>
// CHECK-NEXT:    %1 = tensorrt.dequantize {axis = 0 : i32} in(%0 : tensor<1x6xi8>) scale(%arg1 : tensor<1xf32>) -> tensor<1x6xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<1x6xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %2 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

// Softmax over what is merged.

func.func @softmax_over_what_is_merged(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.softmax {axis = 0 : i64} %0 : tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @softmax_over_what_is_merged(%arg0: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<6x4xf32>
// CHECK-NEXT:    %1 = tensorrt.softmax {axis = 0 : i64} %0 : tensor<6x4xf32>
// CHECK-NEXT:    return %1 : tensor<6x4xf32>
// CHECK-NEXT:  }

// -----

// Products of unknown sizes.

// DYNAMIC: 0=3,3,4
func.func @products_of_unknown_sizes(%x: tensor<?x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<?x3x5xf32> {
  %0 = tensorrt.reshape %x : tensor<?x3x4xf32> to tensor<?x4xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  %2 = tensorrt.reshape %1 : tensor<?x5xf32> to tensor<?x3x5xf32>
  return %2 : tensor<?x3x5xf32>
}

// CHECK-LABEL: func.func @products_of_unknown_sizes(%arg0: tensor<?x3x4xf32>, %arg1: tensor<4x5xf32>) -> tensor<?x3x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<?x3x4xf32> to tensor<?x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<?x5xf32> to tensor<?x3x5xf32>
// CHECK-NEXT:    return %2 : tensor<?x3x5xf32>
// CHECK-NEXT:  }

// -----

// Two unknown sizes that are reshaped.

// DYNAMIC: 0=3,3
// VALUES: 1=3,3
func.func @two_unknown_sizes_that_are_reshaped(%x: tensor<?x?xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.reshape %x shape(%s : tensor<2xi32>) : tensor<?x?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @two_unknown_sizes_that_are_reshaped(%arg0: tensor<?x?xf32>, %arg1: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 shape(%arg1: tensor<2xi32>) : tensor<?x?xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// An attention multiplies vectors. Queries keep their layout, as what comes of them does; keys and
// values have their heads first.

func.func @an_attention_multiplies_vectors(%q: tensor<2x8x12xf32>, %k: tensor<2x8x12xf32>, %v: tensor<2x8x12xf32>) -> tensor<2x8x12xf32> {
  %0 = tensorrt.reshape %q : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>} %0 : tensor<2x8x3x4xf32> to tensor<2x3x8x4xf32>
  %2 = tensorrt.reshape %k : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
  %3 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>} %2 : tensor<2x8x3x4xf32> to tensor<2x3x8x4xf32>
  %4 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%1, %3 : tensor<2x3x8x4xf32>, tensor<2x3x8x4xf32>) -> tensor<2x3x8x8xf32>
  %5 = tensorrt.softmax {axis = 3 : i64} %4 : tensor<2x3x8x8xf32>
  %6 = tensorrt.reshape %v : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
  %7 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>} %6 : tensor<2x8x3x4xf32> to tensor<2x3x8x4xf32>
  %8 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%5, %7 : tensor<2x3x8x8xf32>, tensor<2x3x8x4xf32>) -> tensor<2x3x8x4xf32>
  %9 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>} %8 : tensor<2x3x8x4xf32> to tensor<2x8x3x4xf32>
  %10 = tensorrt.reshape %9 : tensor<2x8x3x4xf32> to tensor<2x8x12xf32>
  return %10 : tensor<2x8x12xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// CHECK-LABEL: func.func @an_attention_multiplies_vectors(%arg0: tensor<2x8x12xf32>, %arg1: tensor<2x8x12xf32>, %arg2: tensor<2x8x12xf32>) -> tensor<2x8x12xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
// CHECK-NEXT:    %1 = tensorrt.reshape %arg1 : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
// CHECK-NEXT:    %2 = tensorrt.transpose {permutation = #map} %1 : tensor<2x8x3x4xf32> to tensor<2x3x8x4xf32>
// CHECK-NEXT:    %3 = tensorrt.expand_rank %2 : tensor<2x3x8x4xf32> to tensor<2x1x3x8x4xf32>
// CHECK-NEXT:    %4 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%0, %3 : tensor<2x8x3x4xf32>, tensor<2x1x3x8x4xf32>) -> tensor<2x8x3x8xf32>
// CHECK-NEXT:    %5 = tensorrt.softmax {axis = 3 : i64} %4 : tensor<2x8x3x8xf32>
// CHECK-NEXT:    %6 = tensorrt.reshape %arg2 : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
// CHECK-NEXT:    %7 = tensorrt.transpose {permutation = #map} %6 : tensor<2x8x3x4xf32> to tensor<2x3x8x4xf32>
// CHECK-NEXT:    %8 = tensorrt.expand_rank %7 : tensor<2x3x8x4xf32> to tensor<2x1x3x8x4xf32>
// CHECK-NEXT:    %9 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%5, %8 : tensor<2x8x3x8xf32>, tensor<2x1x3x8x4xf32>) -> tensor<2x8x3x4xf32>
// CHECK-NEXT:    %10 = tensorrt.reshape %9 : tensor<2x8x3x4xf32> to tensor<2x8x12xf32>
// CHECK-NEXT:    return %10 : tensor<2x8x12xf32>
// CHECK-NEXT:  }
