// RUN: tripybuild opt %s --split-input-file -p canonicalize | filecheck %s
// RUN: same-values %s -p canonicalize
// RUN: settled %s -p canonicalize

// A reshape of a constant is a constant where reshapes are canonical. That is a pattern of
// `reshape`, which not every pass has, and no folder.

func.func @a_reshape_of_a_constant_is_a_constant_where_reshapes_are_can() -> tensor<2x3xi32> {
  %c = tensorrt.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %0 = tensorrt.reshape %c : tensor<6xi32> to tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @a_reshape_of_a_constant_is_a_constant_where_reshapes_are_can() -> tensor<2x3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<{{\[\[}}1, 2, 3], [4, 5, 6{{\]\]}}> : tensor<2x3xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<2x3xi32>
// CHECK-NEXT:  }

// -----

// A sign is folded.

func.func @a_sign_is_folded() -> tensor<3xf32> {
  %c = tensorrt.constant dense<[1.0, -0.0, 0xFF800000]> : tensor<3xf32>
  %r = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %c : tensor<3xf32>
  return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @a_sign_is_folded() -> tensor<3xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<[-1.000000e+00, 0.000000e+00, 0x7F800000]> : tensor<3xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<3xf32>
// CHECK-NEXT:  }

// -----

func.func @a_sign_is_folded_2() -> tensor<300000xf32> {
  %c = tensorrt.constant dense<2.5> : tensor<300000xf32>
  %r = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %c : tensor<300000xf32>
  return %r : tensor<300000xf32>
}

// CHECK-LABEL: func.func @a_sign_is_folded_2() -> tensor<300000xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<-2.500000e+00> : tensor<300000xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<300000xf32>
// CHECK-NEXT:  }

// -----

func.func @a_sign_is_folded_3() -> tensor<3xi32> {
  %c = tensorrt.constant dense<[1, -2, -2147483648]> : tensor<3xi32>
  %r = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %c : tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @a_sign_is_folded_3() -> tensor<3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[-1, 2, -2147483648]> : tensor<3xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<3xi32>
// CHECK-NEXT:  }

// -----

func.func @a_sign_is_folded_4() -> tensor<2xbf16> {
  %c = tensorrt.constant dense<1.5> : tensor<2xbf16>
  %r = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %c : tensor<2xbf16>
  return %r : tensor<2xbf16>
}

// CHECK-LABEL: func.func @a_sign_is_folded_4() -> tensor<2xbf16> {
// CHECK-NEXT:    %cst_bf16 = tensorrt.constant dense<-1.500000e+00> : tensor<2xbf16>
// CHECK-NEXT:    return %cst_bf16 : tensor<2xbf16>
// CHECK-NEXT:  }

// -----

func.func @a_sign_is_folded_5() -> tensor<2xf16> {
  %c = tensorrt.constant dense<1.5> : tensor<2xf16>
  %r = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %c : tensor<2xf16>
  return %r : tensor<2xf16>
}

// CHECK-LABEL: func.func @a_sign_is_folded_5() -> tensor<2xf16> {
// CHECK-NEXT:    %cst_f16 = tensorrt.constant dense<-1.500000e+00> : tensor<2xf16>
// CHECK-NEXT:    return %cst_f16 : tensor<2xf16>
// CHECK-NEXT:  }

// -----

func.func @a_sign_is_folded_6() -> tensor<2xi64> {
  %c = tensorrt.constant dense<7> : tensor<2xi64>
  %r = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %c : tensor<2xi64>
  return %r : tensor<2xi64>
}

// CHECK-LABEL: func.func @a_sign_is_folded_6() -> tensor<2xi64> {
// CHECK-NEXT:    %cst_i64 = tensorrt.constant dense<-7> : tensor<2xi64>
// CHECK-NEXT:    return %cst_i64 : tensor<2xi64>
// CHECK-NEXT:  }

// -----

// Shapes are computed.

func.func @shapes_are_computed() -> tensor<3xi32> {
  %c = tensorrt.constant dense<[1, 2, 3]> : tensor<3xi32>
  %d = tensorrt.constant dense<[10, 20, 30]> : tensor<3xi32>
  %r = tensorrt.element_wise <kSUM>(%c, %d : tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @shapes_are_computed() -> tensor<3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[11, 22, 33]> : tensor<3xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<3xi32>
// CHECK-NEXT:  }

// -----

func.func @shapes_are_computed_2() -> tensor<3xi32> {
  %c = tensorrt.constant dense<[1, 2, 3]> : tensor<3xi32>
  %d = tensorrt.constant dense<[10, 20, 30]> : tensor<3xi32>
  %r = tensorrt.element_wise <kSUB>(%c, %d : tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @shapes_are_computed_2() -> tensor<3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[-9, -18, -27]> : tensor<3xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<3xi32>
// CHECK-NEXT:  }

// -----

// Sums wrap around.

func.func @sums_wrap_around() -> tensor<3xi32> {
  %c = tensorrt.constant dense<2147483647> : tensor<3xi32>
  %d = tensorrt.constant dense<1> : tensor<3xi32>
  %r = tensorrt.element_wise <kSUM>(%c, %d : tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @sums_wrap_around() -> tensor<3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<-2147483648> : tensor<3xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<3xi32>
// CHECK-NEXT:  }

// -----

// Other sums are not computed.

func.func @other_sums_are_not_computed() -> tensor<3xi32> {
  %c = tensorrt.constant dense<[1, 2, 3]> : tensor<3xi32>
  %d = tensorrt.constant dense<[10, 20, 30]> : tensor<3xi32>
  %r = tensorrt.element_wise <kPROD>(%c, %d : tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @other_sums_are_not_computed() -> tensor<3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[1, 2, 3]> : tensor<3xi32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<[10, 20, 30]> : tensor<3xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%cst_i32, %cst_i32_0 : tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT:    return %0 : tensor<3xi32>
// CHECK-NEXT:  }

// -----

func.func @other_sums_are_not_computed_2() -> tensor<3xi64> {
  %c = tensorrt.constant dense<[1, 2, 3]> : tensor<3xi64>
  %d = tensorrt.constant dense<[10, 20, 30]> : tensor<3xi64>
  %r = tensorrt.element_wise <kSUM>(%c, %d : tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  return %r : tensor<3xi64>
}

// CHECK-LABEL: func.func @other_sums_are_not_computed_2() -> tensor<3xi64> {
// CHECK-NEXT:    %cst_i64 = tensorrt.constant dense<[1, 2, 3]> : tensor<3xi64>
// CHECK-NEXT:    %cst_i64_0 = tensorrt.constant dense<[10, 20, 30]> : tensor<3xi64>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUM>(%cst_i64, %cst_i64_0 : tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
// CHECK-NEXT:    return %0 : tensor<3xi64>
// CHECK-NEXT:  }

// -----

func.func @other_sums_are_not_computed_3() -> tensor<3xf32> {
  %c = tensorrt.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %d = tensorrt.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %r = tensorrt.element_wise <kSUM>(%c, %d : tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// CHECK-LABEL: func.func @other_sums_are_not_computed_3() -> tensor<3xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<[1.000000e+01, 2.000000e+01, 3.000000e+01]> : tensor<3xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUM>(%cst_f32, %cst_f32_0 : tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    return %0 : tensor<3xf32>
// CHECK-NEXT:  }

// -----

func.func @other_sums_are_not_computed_4() -> tensor<1x3xi32> {
  %c = tensorrt.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>
  %d = tensorrt.constant dense<[[10, 20, 30]]> : tensor<1x3xi32>
  %r = tensorrt.element_wise <kSUM>(%c, %d : tensor<1x3xi32>, tensor<1x3xi32>) -> tensor<1x3xi32>
  return %r : tensor<1x3xi32>
}

// CHECK-LABEL: func.func @other_sums_are_not_computed_4() -> tensor<1x3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<{{\[\[}}1, 2, 3{{\]\]}}> : tensor<1x3xi32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<{{\[\[}}10, 20, 30{{\]\]}}> : tensor<1x3xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUM>(%cst_i32, %cst_i32_0 : tensor<1x3xi32>, tensor<1x3xi32>) -> tensor<1x3xi32>
// CHECK-NEXT:    return %0 : tensor<1x3xi32>
// CHECK-NEXT:  }

// -----

// Shapes are put together.

func.func @shapes_are_put_together() -> tensor<3xi32> {
  %c = tensorrt.constant dense<[1, 2]> : tensor<2xi32>
  %d = tensorrt.constant dense<[3]> : tensor<1xi32>
  %r = tensorrt.concatenation {axis = 0 : i32} ins(%c, %d : tensor<2xi32>, tensor<1xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @shapes_are_put_together() -> tensor<3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[1, 2, 3]> : tensor<3xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<3xi32>
// CHECK-NEXT:  }

// -----

// One input is the result and empty ones go.

func.func @one_input_is_the_result_and_empty_ones_go(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = tensorrt.concatenation {axis = 0 : i32} ins(%a : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @one_input_is_the_result_and_empty_ones_go(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

func.func @one_input_is_the_result_and_empty_ones_go_2(%a: tensor<2x3xf32>, %b: tensor<2x0xf32>) -> tensor<2x3xf32> {
  %r = tensorrt.concatenation {axis = 1 : i32} ins(%b, %a, %b : tensor<2x0xf32>, tensor<2x3xf32>, tensor<2x0xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @one_input_is_the_result_and_empty_ones_go_2(%arg0: tensor<2x3xf32>, %arg1: tensor<2x0xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

func.func @one_input_is_the_result_and_empty_ones_go_3(%a: tensor<2x3xf32>, %b: tensor<2x0xf32>) -> tensor<2x6xf32> {
  %r = tensorrt.concatenation {axis = 1 : i32} ins(%a, %b, %a : tensor<2x3xf32>, tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @one_input_is_the_result_and_empty_ones_go_3(%arg0: tensor<2x3xf32>, %arg1: tensor<2x0xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT:    %0 = tensorrt.concatenation {axis = 1 : i32} ins(%arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
// CHECK-NEXT:    return %0 : tensor<2x6xf32>
// CHECK-NEXT:  }

// -----

func.func @one_input_is_the_result_and_empty_ones_go_4(%a: tensor<2x0xf32>, %b: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %r = tensorrt.concatenation {axis = 1 : i32} ins(%a, %b : tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<2x0xf32>
  return %r : tensor<2x0xf32>
}

// CHECK-LABEL: func.func @one_input_is_the_result_and_empty_ones_go_4(%arg0: tensor<2x0xf32>, %arg1: tensor<2x0xf32>) -> tensor<2x0xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x0xf32>
// CHECK-NEXT:  }

// -----

// Values and floats are not put together.

func.func @values_and_floats_are_not_put_together(%a: tensor<1xi32>) -> tensor<3xi32> {
  %c = tensorrt.constant dense<[1, 2]> : tensor<2xi32>
  %r = tensorrt.concatenation {axis = 0 : i32} ins(%c, %a : tensor<2xi32>, tensor<1xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @values_and_floats_are_not_put_together(%arg0: tensor<1xi32>) -> tensor<3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[1, 2]> : tensor<2xi32>
// CHECK-NEXT:    %0 = tensorrt.concatenation {axis = 0 : i32} ins(%cst_i32, %arg0 : tensor<2xi32>, tensor<1xi32>) -> tensor<3xi32>
// CHECK-NEXT:    return %0 : tensor<3xi32>
// CHECK-NEXT:  }

// -----

func.func @values_and_floats_are_not_put_together_2() -> tensor<2xf32> {
  %c = tensorrt.constant dense<[1.0]> : tensor<1xf32>
  %r = tensorrt.concatenation {axis = 0 : i32} ins(%c, %c : tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @values_and_floats_are_not_put_together_2() -> tensor<2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e+00> : tensor<1xf32>
// CHECK-NEXT:    %0 = tensorrt.concatenation {axis = 0 : i32} ins(%cst_f32, %cst_f32 : tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
// CHECK-NEXT:    return %0 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

// Known sizes are a constant.

func.func @known_sizes_are_a_constant(%a: tensor<2x0x5xf32>) -> tensor<3xi32> {
  %r = tensorrt.shape %a : tensor<2x0x5xf32> -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @known_sizes_are_a_constant(%arg0: tensor<2x0x5xf32>) -> tensor<3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[2, 0, 5]> : tensor<3xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<3xi32>
// CHECK-NEXT:  }

// -----

func.func @known_sizes_are_a_constant_2(%a: tensor<7x7x7xi8>) -> tensor<3xi32> {
  %r = tensorrt.shape %a : tensor<7x7x7xi8> -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @known_sizes_are_a_constant_2(%arg0: tensor<7x7x7xi8>) -> tensor<3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<7> : tensor<3xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<3xi32>
// CHECK-NEXT:  }

// -----

// The shape of a scalar and unknown sizes.

func.func @the_shape_of_a_scalar_and_unknown_sizes(%a: tensor<f32>) -> tensor<0xi32> {
  %r = tensorrt.shape %a : tensor<f32> -> tensor<0xi32>
  return %r : tensor<0xi32>
}

// CHECK-LABEL: func.func @the_shape_of_a_scalar_and_unknown_sizes(%arg0: tensor<f32>) -> tensor<0xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<> : tensor<0xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<0xi32>
// CHECK-NEXT:  }

// -----

func.func @the_shape_of_a_scalar_and_unknown_sizes_2(%a: tensor<2x?x5xf32>) -> tensor<3xi32> {
  %r = tensorrt.shape %a : tensor<2x?x5xf32> -> tensor<3xi32>
  return %r : tensor<3xi32>
}

// CHECK-LABEL: func.func @the_shape_of_a_scalar_and_unknown_sizes_2(%arg0: tensor<2x?x5xf32>) -> tensor<3xi32> {
// CHECK-NEXT:    %0 = tensorrt.shape %arg0 : tensor<2x?x5xf32> -> tensor<3xi32>
// CHECK-NEXT:    return %0 : tensor<3xi32>
// CHECK-NEXT:  }

// -----

// A size that is no i32 is not written.

// UNEVALUATED
func.func @a_size_that_is_no_i32_is_not_written(%a: tensor<3000000000xi8>) -> tensor<1xi32> {
  %r = tensorrt.shape %a : tensor<3000000000xi8> -> tensor<1xi32>
  return %r : tensor<1xi32>
}

// CHECK-LABEL: func.func @a_size_that_is_no_i32_is_not_written(%arg0: tensor<3000000000xi8>) -> tensor<1xi32> {
// CHECK-NEXT:    %0 = tensorrt.shape %arg0 : tensor<3000000000xi8> -> tensor<1xi32>
// CHECK-NEXT:    return %0 : tensor<1xi32>
// CHECK-NEXT:  }

// -----

// Casts that change nothing go.

func.func @casts_that_change_nothing_go(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = tensorrt.cast %a : tensor<4xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_2(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = tensorrt.identity %a : tensor<4xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_2(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_3(%a: tensor<4xf16>) -> tensor<4xf16> {
  %v0 = tensorrt.cast %a : tensor<4xf16> to tensor<4xf32>
  %r = tensorrt.cast %v0 : tensor<4xf32> to tensor<4xf16>
  return %r : tensor<4xf16>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_3(%arg0: tensor<4xf16>) -> tensor<4xf16> {
// CHECK-NEXT:    return %arg0 : tensor<4xf16>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_4(%a: tensor<4xf16>) -> tensor<4xf16> {
  %v0 = tensorrt.identity %a : tensor<4xf16> to tensor<4xf32>
  %r = tensorrt.identity %v0 : tensor<4xf32> to tensor<4xf16>
  return %r : tensor<4xf16>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_4(%arg0: tensor<4xf16>) -> tensor<4xf16> {
// CHECK-NEXT:    return %arg0 : tensor<4xf16>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_5(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %v0 = tensorrt.cast %a : tensor<4xbf16> to tensor<4xf32>
  %r = tensorrt.cast %v0 : tensor<4xf32> to tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_5(%arg0: tensor<4xbf16>) -> tensor<4xbf16> {
// CHECK-NEXT:    return %arg0 : tensor<4xbf16>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_6(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %v0 = tensorrt.identity %a : tensor<4xbf16> to tensor<4xf32>
  %r = tensorrt.identity %v0 : tensor<4xf32> to tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_6(%arg0: tensor<4xbf16>) -> tensor<4xbf16> {
// CHECK-NEXT:    return %arg0 : tensor<4xbf16>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_7(%a: tensor<4xi8>) -> tensor<4xi8> {
  %v0 = tensorrt.cast %a : tensor<4xi8> to tensor<4xi32>
  %r = tensorrt.cast %v0 : tensor<4xi32> to tensor<4xi8>
  return %r : tensor<4xi8>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_7(%arg0: tensor<4xi8>) -> tensor<4xi8> {
// CHECK-NEXT:    return %arg0 : tensor<4xi8>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_8(%a: tensor<4xi8>) -> tensor<4xi8> {
  %v0 = tensorrt.identity %a : tensor<4xi8> to tensor<4xi32>
  %r = tensorrt.identity %v0 : tensor<4xi32> to tensor<4xi8>
  return %r : tensor<4xi8>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_8(%arg0: tensor<4xi8>) -> tensor<4xi8> {
// CHECK-NEXT:    return %arg0 : tensor<4xi8>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_9(%a: tensor<4xi8>) -> tensor<4xi8> {
  %v0 = tensorrt.cast %a : tensor<4xi8> to tensor<4xf16>
  %r = tensorrt.cast %v0 : tensor<4xf16> to tensor<4xi8>
  return %r : tensor<4xi8>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_9(%arg0: tensor<4xi8>) -> tensor<4xi8> {
// CHECK-NEXT:    return %arg0 : tensor<4xi8>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_10(%a: tensor<4xi8>) -> tensor<4xi8> {
  %v0 = tensorrt.identity %a : tensor<4xi8> to tensor<4xf16>
  %r = tensorrt.identity %v0 : tensor<4xf16> to tensor<4xi8>
  return %r : tensor<4xi8>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_10(%arg0: tensor<4xi8>) -> tensor<4xi8> {
// CHECK-NEXT:    return %arg0 : tensor<4xi8>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_11(%a: tensor<4xi1>) -> tensor<4xi1> {
  %v0 = tensorrt.cast %a : tensor<4xi1> to tensor<4xi32>
  %r = tensorrt.cast %v0 : tensor<4xi32> to tensor<4xi1>
  return %r : tensor<4xi1>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_11(%arg0: tensor<4xi1>) -> tensor<4xi1> {
// CHECK-NEXT:    return %arg0 : tensor<4xi1>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_12(%a: tensor<4xi1>) -> tensor<4xi1> {
  %v0 = tensorrt.identity %a : tensor<4xi1> to tensor<4xi32>
  %r = tensorrt.identity %v0 : tensor<4xi32> to tensor<4xi1>
  return %r : tensor<4xi1>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_12(%arg0: tensor<4xi1>) -> tensor<4xi1> {
// CHECK-NEXT:    return %arg0 : tensor<4xi1>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_13(%a: tensor<4xf32>) -> tensor<4xf32> {
  %v0 = tensorrt.cast %a : tensor<4xf32> to tensor<4xf16>
  %r = tensorrt.cast %v0 : tensor<4xf16> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_13(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %0 = tensorrt.cast %arg0 : tensor<4xf32> to tensor<4xf16>
// CHECK-NEXT:    %1 = tensorrt.cast %0 : tensor<4xf16> to tensor<4xf32>
// CHECK-NEXT:    return %1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_14(%a: tensor<4xf32>) -> tensor<4xf32> {
  %v0 = tensorrt.identity %a : tensor<4xf32> to tensor<4xf16>
  %r = tensorrt.identity %v0 : tensor<4xf16> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_14(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<4xf32> to tensor<4xf16>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<4xf16> to tensor<4xf32>
// CHECK-NEXT:    return %1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_15(%a: tensor<4xi32>) -> tensor<4xi32> {
  %v0 = tensorrt.cast %a : tensor<4xi32> to tensor<4xf32>
  %r = tensorrt.cast %v0 : tensor<4xf32> to tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_15(%arg0: tensor<4xi32>) -> tensor<4xi32> {
// CHECK-NEXT:    %0 = tensorrt.cast %arg0 : tensor<4xi32> to tensor<4xf32>
// CHECK-NEXT:    %1 = tensorrt.cast %0 : tensor<4xf32> to tensor<4xi32>
// CHECK-NEXT:    return %1 : tensor<4xi32>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_16(%a: tensor<4xi32>) -> tensor<4xi32> {
  %v0 = tensorrt.identity %a : tensor<4xi32> to tensor<4xf32>
  %r = tensorrt.identity %v0 : tensor<4xf32> to tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_16(%arg0: tensor<4xi32>) -> tensor<4xi32> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<4xi32> to tensor<4xf32>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<4xf32> to tensor<4xi32>
// CHECK-NEXT:    return %1 : tensor<4xi32>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_17(%a: tensor<4xf16>) -> tensor<4xf16> {
  %v0 = tensorrt.cast %a : tensor<4xf16> to tensor<4xi32>
  %r = tensorrt.cast %v0 : tensor<4xi32> to tensor<4xf16>
  return %r : tensor<4xf16>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_17(%arg0: tensor<4xf16>) -> tensor<4xf16> {
// CHECK-NEXT:    %0 = tensorrt.cast %arg0 : tensor<4xf16> to tensor<4xi32>
// CHECK-NEXT:    %1 = tensorrt.cast %0 : tensor<4xi32> to tensor<4xf16>
// CHECK-NEXT:    return %1 : tensor<4xf16>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_18(%a: tensor<4xf16>) -> tensor<4xf16> {
  %v0 = tensorrt.identity %a : tensor<4xf16> to tensor<4xi32>
  %r = tensorrt.identity %v0 : tensor<4xi32> to tensor<4xf16>
  return %r : tensor<4xf16>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_18(%arg0: tensor<4xf16>) -> tensor<4xf16> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<4xf16> to tensor<4xi32>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<4xi32> to tensor<4xf16>
// CHECK-NEXT:    return %1 : tensor<4xf16>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_19(%a: tensor<4xf16>) -> tensor<4xf16> {
  %v0 = tensorrt.cast %a : tensor<4xf16> to tensor<4xbf16>
  %r = tensorrt.cast %v0 : tensor<4xbf16> to tensor<4xf16>
  return %r : tensor<4xf16>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_19(%arg0: tensor<4xf16>) -> tensor<4xf16> {
// CHECK-NEXT:    %0 = tensorrt.cast %arg0 : tensor<4xf16> to tensor<4xbf16>
// CHECK-NEXT:    %1 = tensorrt.cast %0 : tensor<4xbf16> to tensor<4xf16>
// CHECK-NEXT:    return %1 : tensor<4xf16>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_20(%a: tensor<4xf16>) -> tensor<4xf16> {
  %v0 = tensorrt.identity %a : tensor<4xf16> to tensor<4xbf16>
  %r = tensorrt.identity %v0 : tensor<4xbf16> to tensor<4xf16>
  return %r : tensor<4xf16>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_20(%arg0: tensor<4xf16>) -> tensor<4xf16> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<4xf16> to tensor<4xbf16>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<4xbf16> to tensor<4xf16>
// CHECK-NEXT:    return %1 : tensor<4xf16>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_21(%a: tensor<4xf16>) -> tensor<4xbf16> {
  %v0 = tensorrt.cast %a : tensor<4xf16> to tensor<4xf32>
  %r = tensorrt.cast %v0 : tensor<4xf32> to tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_21(%arg0: tensor<4xf16>) -> tensor<4xbf16> {
// CHECK-NEXT:    %0 = tensorrt.cast %arg0 : tensor<4xf16> to tensor<4xf32>
// CHECK-NEXT:    %1 = tensorrt.cast %0 : tensor<4xf32> to tensor<4xbf16>
// CHECK-NEXT:    return %1 : tensor<4xbf16>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_22(%a: tensor<4xf16>) -> tensor<4xbf16> {
  %v0 = tensorrt.identity %a : tensor<4xf16> to tensor<4xf32>
  %r = tensorrt.identity %v0 : tensor<4xf32> to tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_22(%arg0: tensor<4xf16>) -> tensor<4xbf16> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<4xf16> to tensor<4xf32>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<4xf32> to tensor<4xbf16>
// CHECK-NEXT:    return %1 : tensor<4xbf16>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_23(%a: tensor<4xi32>) -> tensor<4xi32> {
  %v0 = tensorrt.cast %a : tensor<4xi32> to tensor<4xi1>
  %r = tensorrt.cast %v0 : tensor<4xi1> to tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_23(%arg0: tensor<4xi32>) -> tensor<4xi32> {
// CHECK-NEXT:    %0 = tensorrt.cast %arg0 : tensor<4xi32> to tensor<4xi1>
// CHECK-NEXT:    %1 = tensorrt.cast %0 : tensor<4xi1> to tensor<4xi32>
// CHECK-NEXT:    return %1 : tensor<4xi32>
// CHECK-NEXT:  }

// -----

func.func @casts_that_change_nothing_go_24(%a: tensor<4xi32>) -> tensor<4xi32> {
  %v0 = tensorrt.identity %a : tensor<4xi32> to tensor<4xi1>
  %r = tensorrt.identity %v0 : tensor<4xi1> to tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @casts_that_change_nothing_go_24(%arg0: tensor<4xi32>) -> tensor<4xi32> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<4xi32> to tensor<4xi1>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<4xi1> to tensor<4xi32>
// CHECK-NEXT:    return %1 : tensor<4xi32>
// CHECK-NEXT:  }

// -----

// A constant is rounded as its type is.

// UNEVALUATED
func.func @a_constant_is_rounded_as_its_type_is() -> tensor<4xf16> {
  %c = tensorrt.constant dense<[2049.0, 2051.0, 1.0, 2.0]> : tensor<4xf32>
  %r = tensorrt.cast %c : tensor<4xf32> to tensor<4xf16>
  return %r : tensor<4xf16>
}

// CHECK-LABEL: func.func @a_constant_is_rounded_as_its_type_is() -> tensor<4xf16> {
// CHECK-NEXT:    %cst_f16 = tensorrt.constant dense<[2.048000e+03, 2.052000e+03, 1.000000e+00, 2.000000e+00]> : tensor<4xf16>
// CHECK-NEXT:    return %cst_f16 : tensor<4xf16>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @a_constant_is_rounded_as_its_type_is_2() -> tensor<4xf16> {
  %c = tensorrt.constant dense<1.0e+30> : tensor<4xf32>
  %r = tensorrt.cast %c : tensor<4xf32> to tensor<4xf16>
  return %r : tensor<4xf16>
}

// CHECK-LABEL: func.func @a_constant_is_rounded_as_its_type_is_2() -> tensor<4xf16> {
// CHECK-NEXT:    %cst_f16 = tensorrt.constant dense<0x7C00> : tensor<4xf16>
// CHECK-NEXT:    return %cst_f16 : tensor<4xf16>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @a_constant_is_rounded_as_its_type_is_3() -> tensor<4xbf16> {
  %c = tensorrt.constant dense<0xFF800000> : tensor<4xf32>
  %r = tensorrt.cast %c : tensor<4xf32> to tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// CHECK-LABEL: func.func @a_constant_is_rounded_as_its_type_is_3() -> tensor<4xbf16> {
// CHECK-NEXT:    %cst_bf16 = tensorrt.constant dense<0xFF80> : tensor<4xbf16>
// CHECK-NEXT:    return %cst_bf16 : tensor<4xbf16>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @a_constant_is_rounded_as_its_type_is_4() -> tensor<4xf32> {
  %c = tensorrt.constant dense<[1.0, 2.0, 3.0, -0.0]> : tensor<4xf16>
  %r = tensorrt.cast %c : tensor<4xf16> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_constant_is_rounded_as_its_type_is_4() -> tensor<4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, -0.000000e+00]> : tensor<4xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

// Constants of integers are not cast.

func.func @constants_of_integers_are_not_cast() -> tensor<4xf32> {
  %c = tensorrt.constant dense<3> : tensor<4xi32>
  %r = tensorrt.cast %c : tensor<4xi32> to tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @constants_of_integers_are_not_cast() -> tensor<4xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<3> : tensor<4xi32>
// CHECK-NEXT:    %0 = tensorrt.cast %cst_i32 : tensor<4xi32> to tensor<4xf32>
// CHECK-NEXT:    return %0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

// Dead ops go and equal constants are one.

func.func @dead_ops_go_and_equal_constants_are_one(%a: tensor<2xf32>) -> tensor<2xf32> {
  %d = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %a : tensor<2xf32>
  %e = tensorrt.element_wise <kSUM>(%d, %d : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %x = tensorrt.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = tensorrt.element_wise <kPROD>(%a, %x : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = tensorrt.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %z = tensorrt.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %t = tensorrt.element_wise <kPROD>(%s, %y : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %r = tensorrt.element_wise <kMIN>(%t, %z : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @dead_ops_go_and_equal_constants_are_one(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_f32_0 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%0, %cst_f32_0 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kMIN>(%1, %cst_f32 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    return %2 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

// Constants of branches stand at the head of the function.

func.func @constants_of_branches_stand_at_the_head_of_the_function(%c: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %r = tensorrt.if (%c : tensor<i1>) -> tensor<2xf32> {
    %k = tensorrt.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %s = tensorrt.element_wise <kSUM>(%a, %k : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tensorrt.yield %s : tensor<2xf32>
  } else {
    %k = tensorrt.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %s = tensorrt.element_wise <kSUB>(%a, %k : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tensorrt.yield %s : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @constants_of_branches_stand_at_the_head_of_the_function(%arg0: tensor<i1>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %0 = tensorrt.if(%arg0 : tensor<i1>) -> tensor<2xf32> {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg1, %cst_f32 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      tensorrt.yield %1 : tensor<2xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUB>(%arg1, %cst_f32 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      tensorrt.yield %1 : tensor<2xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

// A branch that nobody uses goes.

func.func @a_branch_that_nobody_uses_goes(%c: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %r = tensorrt.if (%c : tensor<i1>) -> tensor<2xf32> {
    tensorrt.yield %a : tensor<2xf32>
  } else {
    tensorrt.yield %a : tensor<2xf32>
  }
  return %a : tensor<2xf32>
}

// CHECK-LABEL: func.func @a_branch_that_nobody_uses_goes(%arg0: tensor<i1>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    return %arg1 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

// An assertion stays.

// UNEVALUATED
func.func @an_assertion_stays(%c: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  tensorrt.assertion {message = "no"} ins(%c : tensor<i1>)
  return %a : tensor<2xf32>
}

// CHECK-LABEL: func.func @an_assertion_stays(%arg0: tensor<i1>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    tensorrt.assertion {message = "no"} ins(%arg0 : tensor<i1>)
// CHECK-NEXT:    return %arg1 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

// Shapes of plugins are computed.

// UNEVALUATED
func.func @shapes_of_plugins_are_computed(%a: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %r = tensorrt.opaque_plugin {plugin_name = "p", plugin_version = "1", plugin_namespace = "",
    creator_params = {}} (%a) : (tensor<?x4xf32>) -> tensor<?x8xf32> {
  ^bb0(%n: i64, %m: i64):
    %one = arith.constant 1 : i64
    %three = arith.constant 3 : i64
    %four = arith.addi %one, %three : i64
    %two = arith.subi %three, %one : i64
    %eight = arith.muli %four, %two : i64
    %zero = arith.constant 0 : i64
    %same = arith.addi %n, %zero : i64
    tensorrt.yield %same, %eight : i64, i64
  }
  return %r : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @shapes_of_plugins_are_computed(%arg0: tensor<?x4xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "p", plugin_namespace = "", plugin_version = "1"}(%arg0) : (tensor<?x4xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT:    ^bb0(%arg1: i64, %arg2: i64):
// CHECK-NEXT:      %c8_i64 = arith.constant 8 : i64
// CHECK-NEXT:      tensorrt.yield %arg1, %c8_i64 : i64, i64
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : tensor<?x8xf32>
// CHECK-NEXT:  }
