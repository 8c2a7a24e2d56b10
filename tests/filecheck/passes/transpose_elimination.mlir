// RUN: tripybuild opt %s --split-input-file -p tensorrt-transpose-elimination | filecheck %s
// RUN: same-values %s -p tensorrt-transpose-elimination
// RUN: settled %s -p tensorrt-transpose-elimination

// The form is mlir tensorrts.

// The operand that nothing is won by is transposed first.

func.func @the_operand_that_nothing_is_won_by_is_transposed_first(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) -> tensor<3x2xf32> {
  %c = tensorrt.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = tensorrt.element_wise <kSUM>(%x, %c : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %y : tensor<1x3xf32> to tensor<3x1xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %0 : tensor<2x3xf32> to tensor<3x2xf32>
  %3 = tensorrt.element_wise <kSUM>(%2, %1 : tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  return %3 : tensor<3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @the_operand_that_nothing_is_won_by_is_transposed_first(%arg0: tensor<2x3xf32>, %arg1: tensor<1x3xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00{{\]\]}}> : tensor<2x3xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUM>(%arg0, %cst_f32 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0, %arg1 : tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %2 = tensorrt.transpose {permutation = #map} %1 : tensor<2x3xf32> to tensor<3x2xf32>
// CHECK-NEXT:    return %2 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// Two operands of a constant and a small value.

func.func @two_operands_of_a_constant_and_a_small_value(%x: tensor<1x2xf32>) -> tensor<2x3xf32> {
  %c = tensorrt.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %0 = tensorrt.element_wise <kSUB>(%c, %x : tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %0 : tensor<3x2xf32> to tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @two_operands_of_a_constant_and_a_small_value(%arg0: tensor<1x2xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}1.000000e+00, 3.000000e+00, 5.000000e+00], [2.000000e+00, 4.000000e+00, 6.000000e+00{{\]\]}}> : tensor<2x3xf32>
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<1x2xf32> to tensor<2x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%cst_f32, %0 : tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    return %1 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

// A reshape of a constant is a constant where reshapes are canonical. That is a pattern of
// `reshape`, which not every pass has, and no folder.

func.func @a_reshape_of_a_constant_is_a_constant_where_reshapes_are_can() -> tensor<2x3xi32> {
  %c = tensorrt.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %0 = tensorrt.reshape %c : tensor<6xi32> to tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @a_reshape_of_a_constant_is_a_constant_where_reshapes_are_can() -> tensor<2x3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
// CHECK-NEXT:    %0 = tensorrt.reshape %cst_i32 : tensor<6xi32> to tensor<2x3xi32>
// CHECK-NEXT:    return %0 : tensor<2x3xi32>
// CHECK-NEXT:  }

// -----

// Transposes meet, are smaller, or are folded.

// Two are one.

func.func @two_are_one(%x: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>} %x : tensor<2x3x4x5xf32> to tensor<2x5x3x4xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>} %0 : tensor<2x5x3x4xf32> to tensor<2x4x5x3xf32>
  return %1 : tensor<2x4x5x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-LABEL: func.func @two_are_one(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x3x4x5xf32> to tensor<2x4x5x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x4x5x3xf32>
// CHECK-NEXT:  }

// -----

// And there and back none.

func.func @and_there_and_back_none(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<2x3xf32> to tensor<3x2xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %0 : tensor<3x2xf32> to tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @and_there_and_back_none(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

// Past an activation, to the next one.

func.func @past_an_activation_to_the_next_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<2x3xf32> to tensor<3x2xf32>
  %1 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %0 : tensor<3x2xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %1 : tensor<3x2xf32> to tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @past_an_activation_to_the_next_one(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %arg0 : tensor<2x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

// Past an identity that changes the type.

func.func @past_an_identity_that_changes_the_type(%x: tensor<2x3xf16>) -> tensor<2x3xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<2x3xf16> to tensor<3x2xf16>
  %1 = tensorrt.identity %0 : tensor<3x2xf16> to tensor<3x2xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %1 : tensor<3x2xf32> to tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @past_an_identity_that_changes_the_type(%arg0: tensor<2x3xf16>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<2x3xf16> to tensor<2x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

// What does not meet goes above again.

func.func @what_does_not_meet_goes_above_again(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2x3xf32>
  %1 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %0 : tensor<2x3xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %1 : tensor<2x3xf32> to tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @what_does_not_meet_goes_above_again(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x3xf32> to tensor<3x2xf32>
// CHECK-NEXT:    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %0 : tensor<3x2xf32>
// CHECK-NEXT:    %2 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %1 : tensor<3x2xf32>
// CHECK-NEXT:    return %2 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// Past a sum with a smaller operand.

func.func @past_a_sum_with_a_smaller_operand(%x: tensor<2x3x4x5xf32>, %b: tensor<1x1x1x3xf32>) -> tensor<2x3x4x5xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>} %x : tensor<2x3x4x5xf32> to tensor<2x4x5x3xf32>
  %1 = tensorrt.element_wise <kSUB>(%0, %b : tensor<2x4x5x3xf32>, tensor<1x1x1x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>} %1 : tensor<2x4x5x3xf32> to tensor<2x3x4x5xf32>
  return %2 : tensor<2x3x4x5xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK-LABEL: func.func @past_a_sum_with_a_smaller_operand(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<1x1x1x3xf32>) -> tensor<2x3x4x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg1 : tensor<1x1x1x3xf32> to tensor<1x3x1x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4x5xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x4x5xf32>
// CHECK-NEXT:  }

// -----

// Past a sum with a constant, which is folded.

func.func @past_a_sum_with_a_constant_which_is_folded(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = tensorrt.constant dense<[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]> : tensor<3x2xf32>
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<2x3xf32> to tensor<3x2xf32>
  %1 = tensorrt.element_wise <kSUB>(%c, %0 : tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %1 : tensor<3x2xf32> to tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @past_a_sum_with_a_constant_which_is_folded(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}0.000000e+00, 2.000000e+00, 4.000000e+00], [1.000000e+00, 3.000000e+00, 5.000000e+00{{\]\]}}> : tensor<2x3xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUB>(%cst_f32, %arg0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

// Past a sum of two transposes.

func.func @past_a_sum_of_two_transposes(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<2x3xf32> to tensor<3x2xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %y : tensor<2x3xf32> to tensor<3x2xf32>
  %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @past_a_sum_of_two_transposes(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUB>(%arg0, %arg1 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.transpose {permutation = #map} %0 : tensor<2x3xf32> to tensor<3x2xf32>
// CHECK-NEXT:    return %1 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// Of two, the larger goes down.

func.func @of_two_the_larger_goes_down(%x: tensor<1x3xf32>, %y: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<1x3xf32> to tensor<3x1xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %y : tensor<2x3xf32> to tensor<3x2xf32>
  %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<3x1xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @of_two_the_larger_goes_down(%arg0: tensor<1x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUB>(%arg0, %arg1 : tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.transpose {permutation = #map} %0 : tensor<2x3xf32> to tensor<3x2xf32>
// CHECK-NEXT:    return %1 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// Of two in other orders, too.

func.func @of_two_in_other_orders_too(%x: tensor<1x3x2xf32>, %y: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d0, d2, d1)>} %x : tensor<1x3x2xf32> to tensor<1x2x3xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d2, d0, d1)>} %y : tensor<2x3x4xf32> to tensor<4x2x3xf32>
  %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<1x2x3xf32>, tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
  return %2 : tensor<4x2x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2) -> (d2, d1, d0)>
// CHECK:       #map1 = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
// CHECK-LABEL: func.func @of_two_in_other_orders_too(%arg0: tensor<1x3x2xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<1x3x2xf32> to tensor<2x3x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%0, %arg1 : tensor<2x3x1xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %2 = tensorrt.transpose {permutation = #map1} %1 : tensor<2x3x4xf32> to tensor<4x2x3xf32>
// CHECK-NEXT:    return %2 : tensor<4x2x3xf32>
// CHECK-NEXT:  }

// -----

// A sum with itself.

func.func @a_sum_with_itself(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<2x3xf32> to tensor<3x2xf32>
  %1 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @a_sum_with_itself(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.transpose {permutation = #map} %0 : tensor<2x3xf32> to tensor<3x2xf32>
// CHECK-NEXT:    return %1 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// Above a sum, whose other operand is small and one a constant.

func.func @above_a_sum_whose_other_operand_is_small_and_one_a_constant(%x: tensor<2x1xf32>) -> tensor<3x2xf32> {
  %c = tensorrt.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
  %0 = tensorrt.element_wise <kSUB>(%c, %x : tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %0 : tensor<2x3xf32> to tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @above_a_sum_whose_other_operand_is_small_and_one_a_constant(%arg0: tensor<2x1xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}0.000000e+00, 3.000000e+00], [1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00{{\]\]}}> : tensor<3x2xf32>
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x1xf32> to tensor<1x2xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%cst_f32, %0 : tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    return %1 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// A constant.

func.func @a_constant() -> tensor<3x2xf32> {
  %c = tensorrt.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %c : tensor<2x3xf32> to tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @a_constant() -> tensor<3x2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}0.000000e+00, 3.000000e+00], [1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00{{\]\]}}> : tensor<3x2xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// A constant that repeats a number, of any size and with other uses.

func.func @a_constant_that_repeats_a_number_of_any_size_and_with_other() -> (tensor<600x500xf32>, tensor<500x600xf32>) {
  %c = tensorrt.constant dense<1.5> : tensor<500x600xf32>
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %c : tensor<500x600xf32> to tensor<600x500xf32>
  return %0, %c : tensor<600x500xf32>, tensor<500x600xf32>
}

// CHECK-LABEL: func.func @a_constant_that_repeats_a_number_of_any_size_and_with_other() -> (tensor<600x500xf32>, tensor<500x600xf32>) {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.500000e+00> : tensor<500x600xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.500000e+00> : tensor<600x500xf32>
// CHECK-NEXT:    return %cst_f32_0, %cst_f32 : tensor<600x500xf32>, tensor<500x600xf32>
// CHECK-NEXT:  }

// -----

// Unknown sizes.

func.func @unknown_sizes(%x: tensor<?x3xf32>, %b: tensor<3x1xf32>) -> tensor<?x3xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<?x3xf32> to tensor<3x?xf32>
  %1 = tensorrt.element_wise <kSUM>(%0, %b : tensor<3x?xf32>, tensor<3x1xf32>) -> tensor<3x?xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %1 : tensor<3x?xf32> to tensor<?x3xf32>
  return %2 : tensor<?x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @unknown_sizes(%arg0: tensor<?x3xf32>, %arg1: tensor<3x1xf32>) -> tensor<?x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg1 : tensor<3x1xf32> to tensor<1x3xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%arg0, %0 : tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
// CHECK-NEXT:    return %1 : tensor<?x3xf32>
// CHECK-NEXT:  }

// -----

// Where nothing would be won.

// Past a sum with an operand of the same size.

func.func @past_a_sum_with_an_operand_of_the_same_size(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<2x3xf32> to tensor<3x2xf32>
  %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @past_a_sum_with_an_operand_of_the_same_size(%arg0: tensor<2x3xf32>, %arg1: tensor<3x2xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x3xf32> to tensor<3x2xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0, %arg1 : tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    return %1 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// Past a sum with one of unknown size.

func.func @past_a_sum_with_one_of_unknown_size(%x: tensor<?x3xf32>, %y: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<?x3xf32> to tensor<3x?xf32>
  %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  return %1 : tensor<3x?xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @past_a_sum_with_one_of_unknown_size(%arg0: tensor<?x3xf32>, %arg1: tensor<3x?xf32>) -> tensor<3x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<?x3xf32> to tensor<3x?xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0, %arg1 : tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
// CHECK-NEXT:    return %1 : tensor<3x?xf32>
// CHECK-NEXT:  }

// -----

// Past a sum with a constant that others use.

func.func @past_a_sum_with_a_constant_that_others_use(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %c = tensorrt.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<2x2xf32> to tensor<2x2xf32>
  %1 = tensorrt.element_wise <kSUM>(%0, %c : tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = tensorrt.element_wise <kSUM>(%y, %c : tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @past_a_sum_with_a_constant_that_others_use(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}0.000000e+00, 1.000000e+00], [2.000000e+00, 3.000000e+00{{\]\]}}> : tensor<2x2xf32>
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x2xf32> to tensor<2x2xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0, %cst_f32 : tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%arg1, %cst_f32 : tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    return %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>
// CHECK-NEXT:  }

// -----

// Above a sum of arguments.

func.func @above_a_sum_of_arguments(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<3x2xf32> {
  %0 = tensorrt.element_wise <kSUM>(%x, %y : tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %0 : tensor<2x3xf32> to tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @above_a_sum_of_arguments(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUM>(%arg0, %arg1 : tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.transpose {permutation = #map} %0 : tensor<2x3xf32> to tensor<3x2xf32>
// CHECK-NEXT:    return %1 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// Above a sum of a small constant.

func.func @above_a_sum_of_a_small_constant(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %c = tensorrt.constant dense<[[0.0], [1.0]]> : tensor<2x1xf32>
  %0 = tensorrt.element_wise <kSUM>(%x, %c : tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %1 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %0 : tensor<2x3xf32> to tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @above_a_sum_of_a_small_constant(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}0.000000e+00], [1.000000e+00{{\]\]}}> : tensor<2x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUM>(%arg0, %cst_f32 : tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.transpose {permutation = #map} %0 : tensor<2x3xf32> to tensor<3x2xf32>
// CHECK-NEXT:    return %1 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// A constant that others use.

func.func @a_constant_that_others_use() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %c = tensorrt.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %c : tensor<2x2xf32> to tensor<2x2xf32>
  return %0, %c : tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @a_constant_that_others_use() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}0.000000e+00, 1.000000e+00], [2.000000e+00, 3.000000e+00{{\]\]}}> : tensor<2x2xf32>
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %cst_f32 : tensor<2x2xf32> to tensor<2x2xf32>
// CHECK-NEXT:    return %0, %cst_f32 : tensor<2x2xf32>, tensor<2x2xf32>
// CHECK-NEXT:  }

// -----

// Weights that are not in the text.

func.func @weights_that_are_not_in_the_text() -> tensor<3x2xf32> {
  %c = tensorrt.constant dense_resource<weights> : tensor<2x3xf32>
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %c : tensor<2x3xf32> to tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @weights_that_are_not_in_the_text() -> tensor<3x2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense_resource<weights> : tensor<2x3xf32>
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %cst_f32 : tensor<2x3xf32> to tensor<3x2xf32>
// CHECK-NEXT:    return %0 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// Channels last. A block of a model with channels last: transposes meet between its convolutions.

func.func @channels_last(%x: tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32> {
  %w = tensorrt.constant dense_resource<w> : tensor<3x3x1x1xf32>
  %b = tensorrt.constant dense<[[[[0.5, 1.0, 2.0]]]]> : tensor<1x1x1x3xf32>
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>} %x : tensor<2x4x5x3xf32> to tensor<2x3x4x5xf32>
  %1 = tensorrt.convolution {post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%0 : tensor<2x3x4x5xf32>) kernel(%w : tensor<3x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>} %1 : tensor<2x3x4x5xf32> to tensor<2x4x5x3xf32>
  %3 = tensorrt.element_wise <kSUM>(%2, %b : tensor<2x4x5x3xf32>, tensor<1x1x1x3xf32>) -> tensor<2x4x5x3xf32>
  %4 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %3 : tensor<2x4x5x3xf32>
  %5 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>} %4 : tensor<2x4x5x3xf32> to tensor<2x3x4x5xf32>
  %6 = tensorrt.convolution {post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%5 : tensor<2x3x4x5xf32>) kernel(%w : tensor<3x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  %7 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>} %6 : tensor<2x3x4x5xf32> to tensor<2x4x5x3xf32>
  return %7 : tensor<2x4x5x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK:       #map1 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-LABEL: func.func @channels_last(%arg0: tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[\[\[}}5.000000e-01{{\]\]}}, {{\[\[}}1.000000e+00{{\]\]}}, {{\[\[}}2.000000e+00{{\]\]\]\]}}> : tensor<1x3x1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense_resource<w> : tensor<3x3x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x4x5x3xf32> to tensor<2x3x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.convolution {post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%0 : tensor<2x3x4x5xf32>) kernel(%cst_f32_0 : tensor<3x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%1, %cst_f32 : tensor<2x3x4x5xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %3 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %2 : tensor<2x3x4x5xf32>
// CHECK-NEXT:    %4 = tensorrt.convolution {post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%3 : tensor<2x3x4x5xf32>) kernel(%cst_f32_0 : tensor<3x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %5 = tensorrt.transpose {permutation = #map1} %4 : tensor<2x3x4x5xf32> to tensor<2x4x5x3xf32>
// CHECK-NEXT:    return %5 : tensor<2x4x5x3xf32>
// CHECK-NEXT:  }

// -----

// Weights that were left out. A text without its weights is rewritten as the one with them.

// UNEVALUATED
func.func @weights_that_were_left_out() -> tensor<3x2xf32> {
  %c = tensorrt.constant dense_resource<__elided__> : tensor<2x3xf32>
  %0 = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %c : tensor<2x3xf32> to tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @weights_that_were_left_out() -> tensor<3x2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense_resource<__elided__> : tensor<3x2xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<3x2xf32>
// CHECK-NEXT:  }
