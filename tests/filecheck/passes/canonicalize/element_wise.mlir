// RUN: tripybuild opt %s --split-input-file -p canonicalize | filecheck %s
// RUN: same-values %s -p canonicalize
// RUN: settled %s -p canonicalize

// The larger of a value and zero is relu.

func.func @the_larger_of_a_value_and_zero_is_relu(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @the_larger_of_a_value_and_zero_is_relu(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %arg0 : tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @the_larger_of_a_value_and_zero_is_relu_2(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<-0.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @the_larger_of_a_value_and_zero_is_relu_2(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %arg0 : tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @the_larger_of_a_value_and_zero_is_relu_3(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMAX>(%c, %a : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @the_larger_of_a_value_and_zero_is_relu_3(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %arg0 : tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @the_larger_of_a_value_and_zero_is_relu_4(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<-0.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMAX>(%c, %a : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @the_larger_of_a_value_and_zero_is_relu_4(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %arg0 : tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// What is no relu stays.

func.func @what_is_no_relu_stays(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMIN>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @what_is_no_relu_stays(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMIN>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @what_is_no_relu_stays_2(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<1.0e-6> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @what_is_no_relu_stays_2(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<9.99999997E-7> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @what_is_no_relu_stays_3(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @what_is_no_relu_stays_3(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00{{\]\]}}> : tensor<2x4xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// Relu needs floats and an input that is not stretched.

func.func @relu_needs_floats_and_an_input_that_is_not_stretched(%a: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %c = tensorrt.constant dense<0> : tensor<2x4xi32>
  %r = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}

// CHECK-LABEL: func.func @relu_needs_floats_and_an_input_that_is_not_stretched(%arg0: tensor<2x4xi32>) -> tensor<2x4xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<1x1xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_i32 : tensor<2x4xi32>, tensor<1x1xi32>) -> tensor<2x4xi32>
// CHECK-NEXT:    return %0 : tensor<2x4xi32>
// CHECK-NEXT:  }

// -----

func.func @relu_needs_floats_and_an_input_that_is_not_stretched_2(%a: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMAX>(%a, %c : tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @relu_needs_floats_and_an_input_that_is_not_stretched_2(%arg0: tensor<1x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<2x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32 : tensor<1x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// A value between two numbers is clip.

func.func @a_value_between_two_numbers_is_clip(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<-1.5> : tensor<2x4xf32>
  %m = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<2.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMIN>(%m, %d : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_value_between_two_numbers_is_clip(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kCLIP>, alpha = -1.500000e+00 : f32, beta = 2.000000e+00 : f32} %arg0 : tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_value_between_two_numbers_is_clip_2(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %c = tensorrt.constant dense<0.1> : tensor<2x4xf16>
  %m = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %d = tensorrt.constant dense<0.1> : tensor<2x4xf16>
  %r = tensorrt.element_wise <kMIN>(%m, %d : tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  return %r : tensor<2x4xf16>
}

// CHECK-LABEL: func.func @a_value_between_two_numbers_is_clip_2(%arg0: tensor<2x4xf16>) -> tensor<2x4xf16> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kCLIP>, alpha = 0.0999755859 : f32, beta = 0.0999755859 : f32} %arg0 : tensor<2x4xf16>
// CHECK-NEXT:    return %0 : tensor<2x4xf16>
// CHECK-NEXT:  }

// -----

func.func @a_value_between_two_numbers_is_clip_3(%a: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
  %c = tensorrt.constant dense<-3.0> : tensor<2x4xbf16>
  %m = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xbf16>, tensor<2x4xbf16>) -> tensor<2x4xbf16>
  %d = tensorrt.constant dense<3.0> : tensor<2x4xbf16>
  %r = tensorrt.element_wise <kMIN>(%m, %d : tensor<2x4xbf16>, tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %r : tensor<2x4xbf16>
}

// CHECK-LABEL: func.func @a_value_between_two_numbers_is_clip_3(%arg0: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kCLIP>, alpha = -3.000000e+00 : f32, beta = 3.000000e+00 : f32} %arg0 : tensor<2x4xbf16>
// CHECK-NEXT:    return %0 : tensor<2x4xbf16>
// CHECK-NEXT:  }

// -----

func.func @a_value_between_two_numbers_is_clip_4(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0xFF800000> : tensor<2x4xf32>
  %m = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<6.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMIN>(%m, %d : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_value_between_two_numbers_is_clip_4(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kCLIP>, alpha = 0xFF800000 : f32, beta = 6.000000e+00 : f32} %arg0 : tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_value_between_two_numbers_is_clip_5(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0.0> : tensor<2x4xf32>
  %m = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<0x7F800000> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMIN>(%m, %d : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_value_between_two_numbers_is_clip_5(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0x7F800000> : tensor<2x4xf32>
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %arg0 : tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMIN>(%0, %cst_f32 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// Clip needs bounds in order that are numbers.

func.func @clip_needs_bounds_in_order_that_are_numbers(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<2.0> : tensor<2x4xf32>
  %m = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<1.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMIN>(%m, %d : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @clip_needs_bounds_in_order_that_are_numbers(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<2.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32_0 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMIN>(%0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @clip_needs_bounds_in_order_that_are_numbers_2(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0x7FC00000> : tensor<2x4xf32>
  %m = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<1.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMIN>(%m, %d : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @clip_needs_bounds_in_order_that_are_numbers_2(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<0x7FC00000> : tensor<2x4xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32_0 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMIN>(%0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @clip_needs_bounds_in_order_that_are_numbers_3(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<1.0> : tensor<2x4xf32>
  %m = tensorrt.element_wise <kMAX>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<0xFFC00000> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMIN>(%m, %d : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @clip_needs_bounds_in_order_that_are_numbers_3(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0xFFC00000> : tensor<2x4xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32_0 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMIN>(%0, %cst_f32 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// A difference after a convolution is a sum.

func.func @a_difference_after_a_convolution_is_a_sum(%a: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %v = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, kernelStatic = dense<0.5> : tensor<3x3x1x1xf32>} in(%a : tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %c = tensorrt.constant dense<[[[[1.0]], [[-2.0]], [[0.0]]]]> : tensor<1x3x1x1xf32>
  %r = tensorrt.element_wise <kSUB>(%v, %c : tensor<1x3x8x8xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// CHECK-LABEL: func.func @a_difference_after_a_convolution_is_a_sum(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[\[\[}}-1.000000e+00{{\]\]}}, {{\[\[}}2.000000e+00{{\]\]}}, {{\[\[}}-0.000000e+00{{\]\]\]\]}}> : tensor<1x3x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.convolution {kernelStatic = dense<5.000000e-01> : tensor<3x3x1x1xf32>, post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%arg0 : tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0, %cst_f32 : tensor<1x3x8x8xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x8x8xf32>
// CHECK-NEXT:    return %1 : tensor<1x3x8x8xf32>
// CHECK-NEXT:  }

// -----

// A difference elsewhere stays and so does one of values.

func.func @a_difference_elsewhere_stays_and_so_does_one_of_values(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<1.5> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kSUB>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_difference_elsewhere_stays_and_so_does_one_of_values(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.500000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUB>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_difference_elsewhere_stays_and_so_does_one_of_values_2(%a: tensor<1x3x8x8xf32>, %b: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %v = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, kernelStatic = dense<0.5> : tensor<3x3x1x1xf32>} in(%a : tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %r = tensorrt.element_wise <kSUB>(%v, %b : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// CHECK-LABEL: func.func @a_difference_elsewhere_stays_and_so_does_one_of_values_2(%arg0: tensor<1x3x8x8xf32>, %arg1: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.convolution {kernelStatic = dense<5.000000e-01> : tensor<3x3x1x1xf32>, post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%arg0 : tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%0, %arg1 : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
// CHECK-NEXT:    return %1 : tensor<1x3x8x8xf32>
// CHECK-NEXT:  }

// -----

// A sum with a negated value is a difference.

func.func @a_sum_with_a_negated_value_is_a_difference(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %n = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %b : tensor<2x4xf32>
  %r = tensorrt.element_wise <kSUM>(%a, %n : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_sum_with_a_negated_value_is_a_difference(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUB>(%arg0, %arg1 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_sum_with_a_negated_value_is_a_difference_2(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %n = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %b : tensor<2x4xf32>
  %r = tensorrt.element_wise <kSUM>(%n, %a : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_sum_with_a_negated_value_is_a_difference_2(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %arg1 : tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0, %arg0 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// A bias after a half convolution is half.

func.func @a_bias_after_a_half_convolution_is_half(%a: tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf32> {
  %v = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, kernelStatic = dense<0.5> : tensor<3x3x1x1xf16>} in(%a : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
  %i = tensorrt.identity %v : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
  %c = tensorrt.constant dense<0.25> : tensor<1x3x1x1xf32>
  %r = tensorrt.element_wise <kSUM>(%i, %c : tensor<1x3x8x8xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// CHECK-LABEL: func.func @a_bias_after_a_half_convolution_is_half(%arg0: tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf32> {
// CHECK-NEXT:    %cst_f16 = tensorrt.constant dense<2.500000e-01> : tensor<1x1x1x1xf16>
// CHECK-NEXT:    %0 = tensorrt.convolution {kernelStatic = dense<5.000000e-01> : tensor<3x3x1x1xf16>, post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%arg0 : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0, %cst_f16 : tensor<1x3x8x8xf16>, tensor<1x1x1x1xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %2 = tensorrt.identity %1 : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
// CHECK-NEXT:    return %2 : tensor<1x3x8x8xf32>
// CHECK-NEXT:  }

// -----

func.func @a_bias_after_a_half_convolution_is_half_2(%a: tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf32> {
  %v = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, kernelStatic = dense<0.5> : tensor<3x3x1x1xf16>} in(%a : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
  %i = tensorrt.identity %v : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
  %c = tensorrt.constant dense<0.25> : tensor<1x3x1x1xf32>
  %r = tensorrt.element_wise <kPROD>(%i, %c : tensor<1x3x8x8xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// CHECK-LABEL: func.func @a_bias_after_a_half_convolution_is_half_2(%arg0: tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf32> {
// CHECK-NEXT:    %cst_f16 = tensorrt.constant dense<2.500000e-01> : tensor<1x1x1x1xf16>
// CHECK-NEXT:    %0 = tensorrt.convolution {kernelStatic = dense<5.000000e-01> : tensor<3x3x1x1xf16>, post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%arg0 : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%0, %cst_f16 : tensor<1x3x8x8xf16>, tensor<1x1x1x1xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %2 = tensorrt.identity %1 : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
// CHECK-NEXT:    return %2 : tensor<1x3x8x8xf32>
// CHECK-NEXT:  }

// -----

func.func @a_bias_after_a_half_convolution_is_half_3(%a: tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf32> {
  %v = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, kernelStatic = dense<0.5> : tensor<3x3x1x1xf16>} in(%a : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
  %i = tensorrt.identity %v : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
  %c = tensorrt.constant dense<0.25> : tensor<1x3x1x1xf32>
  %r = tensorrt.element_wise <kSUB>(%i, %c : tensor<1x3x8x8xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// CHECK-LABEL: func.func @a_bias_after_a_half_convolution_is_half_3(%arg0: tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf32> {
// CHECK-NEXT:    %cst_f16 = tensorrt.constant dense<-2.500000e-01> : tensor<1x1x1x1xf16>
// CHECK-NEXT:    %0 = tensorrt.convolution {kernelStatic = dense<5.000000e-01> : tensor<3x3x1x1xf16>, post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%arg0 : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0, %cst_f16 : tensor<1x3x8x8xf16>, tensor<1x1x1x1xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %2 = tensorrt.identity %1 : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
// CHECK-NEXT:    return %2 : tensor<1x3x8x8xf32>
// CHECK-NEXT:  }

// -----

// Other widened values stay.

func.func @other_widened_values_stay(%a: tensor<1x3x8x8xf16>, %b: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %v = tensorrt.softmax {axis = 1 : i64} %a : tensor<1x3x8x8xf16>
  %i = tensorrt.identity %v : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
  %c = tensorrt.constant dense<0.25> : tensor<1x3x8x8xf32>
  %r = tensorrt.element_wise <kSUM>(%i, %c : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// CHECK-LABEL: func.func @other_widened_values_stay(%arg0: tensor<1x3x8x8xf16>, %arg1: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.500000e-01> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 1 : i64} %arg0 : tensor<1x3x8x8xf16>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%1, %cst_f32 : tensor<1x3x8x8xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x8x8xf32>
// CHECK-NEXT:    return %2 : tensor<1x3x8x8xf32>
// CHECK-NEXT:  }

// -----

func.func @other_widened_values_stay_2(%a: tensor<1x3x8x8xf16>, %b: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %v = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, kernelStatic = dense<0.5> : tensor<3x3x1x1xf16>} in(%a : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
  %i = tensorrt.identity %v : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
  %c = tensorrt.constant dense<0.25> : tensor<1x3x8x8xf32>
  %r = tensorrt.element_wise <kDIV>(%i, %c : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// CHECK-LABEL: func.func @other_widened_values_stay_2(%arg0: tensor<1x3x8x8xf16>, %arg1: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.500000e-01> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.convolution {kernelStatic = dense<5.000000e-01> : tensor<3x3x1x1xf16>, post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%arg0 : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kDIV>(%1, %cst_f32 : tensor<1x3x8x8xf32>, tensor<1x1x1x1xf32>) -> tensor<1x3x8x8xf32>
// CHECK-NEXT:    return %2 : tensor<1x3x8x8xf32>
// CHECK-NEXT:  }

// -----

func.func @other_widened_values_stay_3(%a: tensor<1x3x8x8xf16>, %b: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %v = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, kernelStatic = dense<0.5> : tensor<3x3x1x1xf16>} in(%a : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
  %i = tensorrt.identity %v : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
  %r = tensorrt.element_wise <kSUM>(%i, %b : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// CHECK-LABEL: func.func @other_widened_values_stay_3(%arg0: tensor<1x3x8x8xf16>, %arg1: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.convolution {kernelStatic = dense<5.000000e-01> : tensor<3x3x1x1xf16>, post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%arg0 : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%1, %arg1 : tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
// CHECK-NEXT:    return %2 : tensor<1x3x8x8xf32>
// CHECK-NEXT:  }

// -----

// A chain after a half convolution is half.

func.func @a_chain_after_a_half_convolution_is_half(%a: tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf32> {
  %v = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, kernelStatic = dense<0.5> : tensor<3x3x1x1xf16>} in(%a : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
  %h = tensorrt.constant dense<2.0> : tensor<1x3x1x1xf16>
  %s = tensorrt.element_wise <kPROD>(%v, %h : tensor<1x3x8x8xf16>, tensor<1x3x1x1xf16>) -> tensor<1x3x8x8xf16>
  %i = tensorrt.identity %s : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
  %c = tensorrt.constant dense<0.25> : tensor<1x3x1x1xf32>
  %r = tensorrt.element_wise <kSUM>(%i, %c : tensor<1x3x8x8xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// CHECK-LABEL: func.func @a_chain_after_a_half_convolution_is_half(%arg0: tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf32> {
// CHECK-NEXT:    %cst_f16 = tensorrt.constant dense<2.500000e-01> : tensor<1x1x1x1xf16>
// CHECK-NEXT:    %cst_f16_0 = tensorrt.constant dense<2.000000e+00> : tensor<1x1x1x1xf16>
// CHECK-NEXT:    %0 = tensorrt.convolution {kernelStatic = dense<5.000000e-01> : tensor<3x3x1x1xf16>, post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%arg0 : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%0, %cst_f16_0 : tensor<1x3x8x8xf16>, tensor<1x1x1x1xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%1, %cst_f16 : tensor<1x3x8x8xf16>, tensor<1x1x1x1xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %3 = tensorrt.identity %2 : tensor<1x3x8x8xf16> to tensor<1x3x8x8xf32>
// CHECK-NEXT:    return %3 : tensor<1x3x8x8xf32>
// CHECK-NEXT:  }

// -----

// A constant of one number is small.

func.func @a_constant_of_one_number_is_small(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<2.5> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kSUB>(%c, %a : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_constant_of_one_number_is_small(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.500000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUB>(%cst_f32, %arg0 : tensor<1x1xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_constant_of_one_number_is_small_2(%a: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %c = tensorrt.constant dense<7> : tensor<2x4xi32>
  %r = tensorrt.element_wise <kDIV>(%c, %a : tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}

// CHECK-LABEL: func.func @a_constant_of_one_number_is_small_2(%arg0: tensor<2x4xi32>) -> tensor<2x4xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<7> : tensor<1x1xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kDIV>(%cst_i32, %arg0 : tensor<1x1xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
// CHECK-NEXT:    return %0 : tensor<2x4xi32>
// CHECK-NEXT:  }

// -----

func.func @a_constant_of_one_number_is_small_3(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<2.5> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kSUB>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_constant_of_one_number_is_small_3(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.500000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUB>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_constant_of_one_number_is_small_4(%a: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %c = tensorrt.constant dense<7> : tensor<2x4xi32>
  %r = tensorrt.element_wise <kDIV>(%a, %c : tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}

// CHECK-LABEL: func.func @a_constant_of_one_number_is_small_4(%arg0: tensor<2x4xi32>) -> tensor<2x4xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<7> : tensor<1x1xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kDIV>(%arg0, %cst_i32 : tensor<2x4xi32>, tensor<1x1xi32>) -> tensor<2x4xi32>
// CHECK-NEXT:    return %0 : tensor<2x4xi32>
// CHECK-NEXT:  }

// -----

// A constant is as small as the other side allows.

func.func @a_constant_is_as_small_as_the_other_side_allows(%a: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<2.5> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kSUM>(%a, %c : tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_constant_is_as_small_as_the_other_side_allows(%arg0: tensor<1x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.500000e+00> : tensor<2x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUM>(%arg0, %cst_f32 : tensor<1x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// DYNAMIC: 0=2,4
func.func @a_constant_is_as_small_as_the_other_side_allows_2(%a: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<2.5> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kSUM>(%a, %c : tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_constant_is_as_small_as_the_other_side_allows_2(%arg0: tensor<?x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.500000e+00> : tensor<2x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUM>(%arg0, %cst_f32 : tensor<?x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// A constant that is not finite keeps its shape.

func.func @a_constant_that_is_not_finite_keeps_its_shape(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0x7F800000> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMIN>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_constant_that_is_not_finite_keeps_its_shape(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0x7F800000> : tensor<2x4xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMIN>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_constant_that_is_not_finite_keeps_its_shape_2(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0xFF800000> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMIN>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_constant_that_is_not_finite_keeps_its_shape_2(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0xFF800000> : tensor<2x4xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMIN>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_constant_that_is_not_finite_keeps_its_shape_3(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0x7FC00000> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMIN>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_constant_that_is_not_finite_keeps_its_shape_3(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0x7FC00000> : tensor<2x4xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMIN>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// Small constants become one.

func.func @small_constants_become_one(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<2.5> : tensor<2x4xf32>
  %s = tensorrt.element_wise <kSUM>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<2.5> : tensor<1x4xf32>
  %r = tensorrt.element_wise <kPROD>(%s, %d : tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @small_constants_become_one(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.500000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUM>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// A product that is undone is nothing.

func.func @a_product_that_is_undone_is_nothing(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<3.0> : tensor<2x4xf32>
  %p = tensorrt.element_wise <kPROD>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = tensorrt.element_wise <kDIV>(%p, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_product_that_is_undone_is_nothing(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_product_that_is_undone_is_nothing_2(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %c = tensorrt.constant dense<0.1> : tensor<2x4xf16>
  %p = tensorrt.element_wise <kPROD>(%a, %c : tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %r = tensorrt.element_wise <kDIV>(%p, %c : tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  return %r : tensor<2x4xf16>
}

// CHECK-LABEL: func.func @a_product_that_is_undone_is_nothing_2(%arg0: tensor<2x4xf16>) -> tensor<2x4xf16> {
// CHECK-NEXT:    return %arg0 : tensor<2x4xf16>
// CHECK-NEXT:  }

// -----

func.func @a_product_that_is_undone_is_nothing_3(%a: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %c = tensorrt.constant dense<1> : tensor<2x4xi32>
  %p = tensorrt.element_wise <kPROD>(%a, %c : tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  %r = tensorrt.element_wise <kDIV>(%p, %c : tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}

// CHECK-LABEL: func.func @a_product_that_is_undone_is_nothing_3(%arg0: tensor<2x4xi32>) -> tensor<2x4xi32> {
// CHECK-NEXT:    return %arg0 : tensor<2x4xi32>
// CHECK-NEXT:  }

// -----

// Other products stay.

func.func @other_products_stay(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<3.0> : tensor<2x4xf32>
  %p = tensorrt.element_wise <kPROD>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<4.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kDIV>(%p, %d : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @other_products_stay(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<4.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<3.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_f32_0 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @other_products_stay_2(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0.0> : tensor<2x4xf32>
  %p = tensorrt.element_wise <kPROD>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<0.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kDIV>(%p, %d : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @other_products_stay_2(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @other_products_stay_3(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0x7F800000> : tensor<2x4xf32>
  %p = tensorrt.element_wise <kPROD>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<0x7F800000> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kDIV>(%p, %d : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @other_products_stay_3(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0x7F800000> : tensor<2x4xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @other_products_stay_4(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0x7FC00000> : tensor<2x4xf32>
  %p = tensorrt.element_wise <kPROD>(%a, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensorrt.constant dense<0x7FC00000> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kDIV>(%p, %d : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @other_products_stay_4(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0x7FC00000> : tensor<2x4xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_f32 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

func.func @other_products_stay_5(%a: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %c = tensorrt.constant dense<3> : tensor<2x4xi32>
  %p = tensorrt.element_wise <kPROD>(%a, %c : tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  %d = tensorrt.constant dense<3> : tensor<2x4xi32>
  %r = tensorrt.element_wise <kDIV>(%p, %d : tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}

// CHECK-LABEL: func.func @other_products_stay_5(%arg0: tensor<2x4xi32>) -> tensor<2x4xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<3> : tensor<1x1xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_i32 : tensor<2x4xi32>, tensor<1x1xi32>) -> tensor<2x4xi32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_i32 : tensor<2x4xi32>, tensor<1x1xi32>) -> tensor<2x4xi32>
// CHECK-NEXT:    return %1 : tensor<2x4xi32>
// CHECK-NEXT:  }

// -----

func.func @other_products_stay_6(%a: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %c = tensorrt.constant dense<1> : tensor<2x4xi32>
  %p = tensorrt.element_wise <kPROD>(%a, %c : tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  %d = tensorrt.constant dense<2> : tensor<2x4xi32>
  %r = tensorrt.element_wise <kDIV>(%p, %d : tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}

// CHECK-LABEL: func.func @other_products_stay_6(%arg0: tensor<2x4xi32>) -> tensor<2x4xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<2> : tensor<1x1xi32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<1> : tensor<1x1xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_i32_0 : tensor<2x4xi32>, tensor<1x1xi32>) -> tensor<2x4xi32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_i32 : tensor<2x4xi32>, tensor<1x1xi32>) -> tensor<2x4xi32>
// CHECK-NEXT:    return %1 : tensor<2x4xi32>
// CHECK-NEXT:  }

// -----

// A product that stretches stays.

func.func @a_product_that_stretches_stays(%a: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<3.0> : tensor<2x4xf32>
  %p = tensorrt.element_wise <kPROD>(%a, %c : tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = tensorrt.element_wise <kDIV>(%p, %c : tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_product_that_stretches_stays(%arg0: tensor<1x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<3.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<3.000000e+00> : tensor<2x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_f32_0 : tensor<1x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// A bias that is a resource is added all the same.

func.func @a_bias_that_is_a_resource_is_added_all_the_same(%a: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
  %v = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, kernelStatic = dense<0.5> : tensor<3x3x1x1xf32>} in(%a : tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %c = tensorrt.constant dense_resource<__elided__> : tensor<1x3x1x1xf32>
  %r = tensorrt.element_wise <kSUB>(%v, %c : tensor<1x3x8x8xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x8x8xf32>
  return %r : tensor<1x3x8x8xf32>
}

// CHECK-LABEL: func.func @a_bias_that_is_a_resource_is_added_all_the_same(%arg0: tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense_resource<__elided__> : tensor<1x3x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.convolution {kernelStatic = dense<5.000000e-01> : tensor<3x3x1x1xf32>, post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%arg0 : tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
// CHECK-NEXT:    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %cst_f32 : tensor<1x3x1x1xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%0, %1 : tensor<1x3x8x8xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x8x8xf32>
// CHECK-NEXT:    return %2 : tensor<1x3x8x8xf32>
// CHECK-NEXT:  }

// -----

// A constant may stretch what has an unknown size. The size may be 1: all types are the same, and
// still the constant makes two rows of one.

// DYNAMIC: 0=1,4
func.func @a_constant_may_stretch_what_has_an_unknown_size(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = tensorrt.constant dense<0.0> : tensor<2x4xf32>
  %r = tensorrt.element_wise <kMAX>(%a, %c : tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @a_constant_may_stretch_what_has_an_unknown_size(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<2x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32 : tensor<?x4xf32>, tensor<2x1xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:    return %0 : tensor<?x4xf32>
// CHECK-NEXT:  }

// -----

// DYNAMIC: 0=1,4
func.func @a_constant_may_stretch_what_has_an_unknown_size_2(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = tensorrt.constant dense<1.0> : tensor<2x4xf32>
  %d = tensorrt.constant dense<2.0> : tensor<2x4xf32>
  %s = tensorrt.element_wise <kMAX>(%a, %c : tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
  %r = tensorrt.element_wise <kMIN>(%s, %d : tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @a_constant_may_stretch_what_has_an_unknown_size_2(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.000000e+00> : tensor<2x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<2x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32_0 : tensor<?x4xf32>, tensor<2x1xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMIN>(%0, %cst_f32 : tensor<?x4xf32>, tensor<2x1xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:    return %1 : tensor<?x4xf32>
// CHECK-NEXT:  }

// -----

// DYNAMIC: 0=1,4
func.func @a_constant_may_stretch_what_has_an_unknown_size_3(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = tensorrt.constant dense<2.0> : tensor<2x4xf32>
  %s = tensorrt.element_wise <kPROD>(%a, %c : tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
  %r = tensorrt.element_wise <kDIV>(%s, %c : tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @a_constant_may_stretch_what_has_an_unknown_size_3(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.000000e+00> : tensor<2x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_f32 : tensor<?x4xf32>, tensor<2x1xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<?x4xf32>, tensor<2x1xf32>) -> tensor<?x4xf32>
// CHECK-NEXT:    return %1 : tensor<?x4xf32>
// CHECK-NEXT:  }

// -----

// A result that knows more than its operand stays. The value is of another type, though nothing is
// stretched.

// DYNAMIC: 0=2,4
func.func @a_result_that_knows_more_than_its_operand_stays(%a: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<0.0> : tensor<1x4xf32>
  %r = tensorrt.element_wise <kMAX>(%a, %c : tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_result_that_knows_more_than_its_operand_stays(%arg0: tensor<?x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32 : tensor<?x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// DYNAMIC: 0=2,4
func.func @a_result_that_knows_more_than_its_operand_stays_2(%a: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %c = tensorrt.constant dense<2.0> : tensor<1x4xf32>
  %s = tensorrt.element_wise <kPROD>(%a, %c : tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %r = tensorrt.element_wise <kDIV>(%s, %c : tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @a_result_that_knows_more_than_its_operand_stays_2(%arg0: tensor<?x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_f32 : tensor<?x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x4xf32>
// CHECK-NEXT:  }

// -----

// A half convolution as integers stays.

func.func @a_half_convolution_as_integers_stays(%a: tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xi32> {
  %v = tensorrt.convolution {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, kernelStatic = dense<0.5> : tensor<3x3x1x1xf16>} in(%a : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
  %i = tensorrt.identity %v : tensor<1x3x8x8xf16> to tensor<1x3x8x8xi32>
  %c = tensorrt.constant dense<3> : tensor<1x3x1x1xi32>
  %r = tensorrt.element_wise <kSUM>(%i, %c : tensor<1x3x8x8xi32>, tensor<1x3x1x1xi32>) -> tensor<1x3x8x8xi32>
  return %r : tensor<1x3x8x8xi32>
}

// CHECK-LABEL: func.func @a_half_convolution_as_integers_stays(%arg0: tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<3> : tensor<1x1x1x1xi32>
// CHECK-NEXT:    %0 = tensorrt.convolution {kernelStatic = dense<5.000000e-01> : tensor<3x3x1x1xf16>, post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>} in(%arg0 : tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf16>
// CHECK-NEXT:    %1 = tensorrt.identity %0 : tensor<1x3x8x8xf16> to tensor<1x3x8x8xi32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%1, %cst_i32 : tensor<1x3x8x8xi32>, tensor<1x1x1x1xi32>) -> tensor<1x3x8x8xi32>
// CHECK-NEXT:    return %2 : tensor<1x3x8x8xi32>
// CHECK-NEXT:  }
