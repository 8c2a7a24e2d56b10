// RUN: tripybuild opt %s --split-input-file -p canonicalize | filecheck %s
// RUN: same-values %s -p canonicalize
// RUN: settled %s -p canonicalize

// A dimension that comes back is kept.

func.func @a_dimension_that_comes_back_is_kept(%a: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %r = tensorrt.expand_rank %s : tensor<2x5xf32> to tensor<2x1x5xf32>
  return %r : tensor<2x1x5xf32>
}

// CHECK-LABEL: func.func @a_dimension_that_comes_back_is_kept(%arg0: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x1x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x5xf32>
// CHECK-NEXT:  }

// -----

func.func @a_dimension_that_comes_back_is_kept_2(%a: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
  %s = tensorrt.reduce <kMAX> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %r = tensorrt.expand_rank %s : tensor<2x5xf32> to tensor<2x1x5xf32>
  return %r : tensor<2x1x5xf32>
}

// CHECK-LABEL: func.func @a_dimension_that_comes_back_is_kept_2(%arg0: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x1x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x5xf32>
// CHECK-NEXT:  }

// -----

func.func @a_dimension_that_comes_back_is_kept_3(%a: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
  %s = tensorrt.reduce <kMIN> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %r = tensorrt.expand_rank %s : tensor<2x5xf32> to tensor<2x1x5xf32>
  return %r : tensor<2x1x5xf32>
}

// CHECK-LABEL: func.func @a_dimension_that_comes_back_is_kept_3(%arg0: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMIN> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x1x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x5xf32>
// CHECK-NEXT:  }

// -----

func.func @a_dimension_that_comes_back_is_kept_4(%a: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
  %s = tensorrt.reduce <kPROD> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %r = tensorrt.expand_rank %s : tensor<2x5xf32> to tensor<2x1x5xf32>
  return %r : tensor<2x1x5xf32>
}

// CHECK-LABEL: func.func @a_dimension_that_comes_back_is_kept_4(%arg0: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kPROD> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x1x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x5xf32>
// CHECK-NEXT:  }

// -----

func.func @a_dimension_that_comes_back_is_kept_5(%a: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
  %s = tensorrt.reduce <kAVG> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %r = tensorrt.expand_rank %s : tensor<2x5xf32> to tensor<2x1x5xf32>
  return %r : tensor<2x1x5xf32>
}

// CHECK-LABEL: func.func @a_dimension_that_comes_back_is_kept_5(%arg0: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x1x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x5xf32>
// CHECK-NEXT:  }

// -----

// Unknown sizes are kept.

func.func @unknown_sizes_are_kept(%a: tensor<?x8x?xf32>) -> tensor<?x1x?xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<?x8x?xf32> -> tensor<?x?xf32>
  %r = tensorrt.expand_rank %s : tensor<?x?xf32> to tensor<?x1x?xf32>
  return %r : tensor<?x1x?xf32>
}

// CHECK-LABEL: func.func @unknown_sizes_are_kept(%arg0: tensor<?x8x?xf32>) -> tensor<?x1x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<?x8x?xf32> -> tensor<?x1x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x1x?xf32>
// CHECK-NEXT:  }

// -----

// A dimension elsewhere is not.

func.func @a_dimension_elsewhere_is_not(%a: tensor<2x8x5xf32>) -> tensor<1x2x5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %r = tensorrt.expand_rank %s : tensor<2x5xf32> to tensor<1x2x5xf32>
  return %r : tensor<1x2x5xf32>
}

// CHECK-LABEL: func.func @a_dimension_elsewhere_is_not(%arg0: tensor<2x8x5xf32>) -> tensor<1x2x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %1 = tensorrt.expand_rank %0 : tensor<2x5xf32> to tensor<1x2x5xf32>
// CHECK-NEXT:    return %1 : tensor<1x2x5xf32>
// CHECK-NEXT:  }

// -----

func.func @a_dimension_elsewhere_is_not_2(%a: tensor<2x8x5xf32>) -> tensor<2x5x1xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %r = tensorrt.expand_rank %s : tensor<2x5xf32> to tensor<2x5x1xf32>
  return %r : tensor<2x5x1xf32>
}

// CHECK-LABEL: func.func @a_dimension_elsewhere_is_not_2(%arg0: tensor<2x8x5xf32>) -> tensor<2x5x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %1 = tensorrt.expand_rank %0 : tensor<2x5xf32> to tensor<2x5x1xf32>
// CHECK-NEXT:    return %1 : tensor<2x5x1xf32>
// CHECK-NEXT:  }

// -----

func.func @a_dimension_elsewhere_is_not_3(%a: tensor<2x8x5xf32>) -> tensor<2x1x5x1xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %r = tensorrt.expand_rank %s : tensor<2x5xf32> to tensor<2x1x5x1xf32>
  return %r : tensor<2x1x5x1xf32>
}

// CHECK-LABEL: func.func @a_dimension_elsewhere_is_not_3(%arg0: tensor<2x8x5xf32>) -> tensor<2x1x5x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %1 = tensorrt.expand_rank %0 : tensor<2x5xf32> to tensor<2x1x5x1xf32>
// CHECK-NEXT:    return %1 : tensor<2x1x5x1xf32>
// CHECK-NEXT:  }

// -----

// The place of the dimension counts and not only the rank.

func.func @the_place_of_the_dimension_counts_and_not_only_the_rank(%a: tensor<1x1x5xf32>) -> tensor<1x5x1xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 0>} : tensor<1x1x5xf32> -> tensor<1x5xf32>
  %r = tensorrt.expand_rank %s : tensor<1x5xf32> to tensor<1x5x1xf32>
  return %r : tensor<1x5x1xf32>
}

// CHECK-LABEL: func.func @the_place_of_the_dimension_counts_and_not_only_the_rank(%arg0: tensor<1x1x5xf32>) -> tensor<1x5x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 0>} : tensor<1x1x5xf32> -> tensor<1x5xf32>
// CHECK-NEXT:    %1 = tensorrt.expand_rank %0 : tensor<1x5xf32> to tensor<1x5x1xf32>
// CHECK-NEXT:    return %1 : tensor<1x5x1xf32>
// CHECK-NEXT:  }

// -----

// Two axes and two users stay.

func.func @two_axes_and_two_users_stay(%a: tensor<2x8x5xf32>) -> tensor<1x8x1xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 0, 2>} : tensor<2x8x5xf32> -> tensor<8xf32>
  %r = tensorrt.expand_rank %s : tensor<8xf32> to tensor<1x8x1xf32>
  return %r : tensor<1x8x1xf32>
}

// CHECK-LABEL: func.func @two_axes_and_two_users_stay(%arg0: tensor<2x8x5xf32>) -> tensor<1x8x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 0, 2>} : tensor<2x8x5xf32> -> tensor<8xf32>
// CHECK-NEXT:    %1 = tensorrt.expand_rank %0 : tensor<8xf32> to tensor<1x8x1xf32>
// CHECK-NEXT:    return %1 : tensor<1x8x1xf32>
// CHECK-NEXT:  }

// -----

func.func @two_axes_and_two_users_stay_2(%a: tensor<2x8x5xf32>) -> (tensor<2x1x5xf32>, tensor<2x5xf32>) {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %r = tensorrt.expand_rank %s : tensor<2x5xf32> to tensor<2x1x5xf32>
  return %r, %s : tensor<2x1x5xf32>, tensor<2x5xf32>
}

// CHECK-LABEL: func.func @two_axes_and_two_users_stay_2(%arg0: tensor<2x8x5xf32>) -> (tensor<2x1x5xf32>, tensor<2x5xf32>) {
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %1 = tensorrt.expand_rank %0 : tensor<2x5xf32> to tensor<2x1x5xf32>
// CHECK-NEXT:    return %1, %0 : tensor<2x1x5xf32>, tensor<2x5xf32>
// CHECK-NEXT:  }

// -----

// A sum over its count is an average.

func.func @a_sum_over_its_count_is_an_average(%a: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x1x5xf32>
  %c = tensorrt.constant dense<8.0> : tensor<2x1x5xf32>
  %r = tensorrt.element_wise <kDIV>(%s, %c : tensor<2x1x5xf32>, tensor<2x1x5xf32>) -> tensor<2x1x5xf32>
  return %r : tensor<2x1x5xf32>
}

// CHECK-LABEL: func.func @a_sum_over_its_count_is_an_average(%arg0: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x1x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x5xf32>
// CHECK-NEXT:  }

// -----

func.func @a_sum_over_its_count_is_an_average_2(%a: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %c = tensorrt.constant dense<8.0> : tensor<2x5xf32>
  %r = tensorrt.element_wise <kDIV>(%s, %c : tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @a_sum_over_its_count_is_an_average_2(%arg0: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x5xf32>
// CHECK-NEXT:  }

// -----

// An average whose dimension comes back keeps it.

func.func @an_average_whose_dimension_comes_back_keeps_it(%a: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %c = tensorrt.constant dense<8.0> : tensor<2x5xf32>
  %q = tensorrt.element_wise <kDIV>(%s, %c : tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  %r = tensorrt.expand_rank %q : tensor<2x5xf32> to tensor<2x1x5xf32>
  return %r : tensor<2x1x5xf32>
}

// CHECK-LABEL: func.func @an_average_whose_dimension_comes_back_keeps_it(%arg0: tensor<2x8x5xf32>) -> tensor<2x1x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x1x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x5xf32>
// CHECK-NEXT:  }

// -----

// What is no average stays.

func.func @what_is_no_average_stays(%a: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
  %s = tensorrt.reduce <kMAX> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %c = tensorrt.constant dense<8.0> : tensor<2x5xf32>
  %r = tensorrt.element_wise <kDIV>(%s, %c : tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @what_is_no_average_stays(%arg0: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x5xf32>, tensor<1x1xf32>) -> tensor<2x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x5xf32>
// CHECK-NEXT:  }

// -----

func.func @what_is_no_average_stays_2(%a: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %c = tensorrt.constant dense<7.0> : tensor<2x5xf32>
  %r = tensorrt.element_wise <kDIV>(%s, %c : tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @what_is_no_average_stays_2(%arg0: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<7.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x5xf32>, tensor<1x1xf32>) -> tensor<2x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x5xf32>
// CHECK-NEXT:  }

// -----

func.func @what_is_no_average_stays_3(%a: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %c = tensorrt.constant dense<8.0> : tensor<2x5xf32>
  %r = tensorrt.element_wise <kPROD>(%s, %c : tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @what_is_no_average_stays_3(%arg0: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%0, %cst_f32 : tensor<2x5xf32>, tensor<1x1xf32>) -> tensor<2x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x5xf32>
// CHECK-NEXT:  }

// -----

func.func @what_is_no_average_stays_4(%a: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %c = tensorrt.constant dense<[[8.0, 8.0, 8.0, 8.0, 7.0]]> : tensor<1x5xf32>
  %r = tensorrt.element_wise <kDIV>(%s, %c : tensor<2x5xf32>, tensor<1x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @what_is_no_average_stays_4(%arg0: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}8.000000e+00, 8.000000e+00, 8.000000e+00, 8.000000e+00, 7.000000e+00{{\]\]}}> : tensor<1x5xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x5xf32>, tensor<1x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x5xf32>
// CHECK-NEXT:  }

// -----

// Integers several axes and stretched quotients stay.

func.func @integers_several_axes_and_stretched_quotients_stay(%a: tensor<2x8x5xi32>) -> tensor<2x5xi32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xi32> -> tensor<2x5xi32>
  %c = tensorrt.constant dense<8> : tensor<2x5xi32>
  %r = tensorrt.element_wise <kDIV>(%s, %c : tensor<2x5xi32>, tensor<2x5xi32>) -> tensor<2x5xi32>
  return %r : tensor<2x5xi32>
}

// CHECK-LABEL: func.func @integers_several_axes_and_stretched_quotients_stay(%arg0: tensor<2x8x5xi32>) -> tensor<2x5xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<8> : tensor<1x1xi32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xi32> -> tensor<2x5xi32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_i32 : tensor<2x5xi32>, tensor<1x1xi32>) -> tensor<2x5xi32>
// CHECK-NEXT:    return %1 : tensor<2x5xi32>
// CHECK-NEXT:  }

// -----

func.func @integers_several_axes_and_stretched_quotients_stay_2(%a: tensor<2x8x5xf32>) -> tensor<5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 0, 1>} : tensor<2x8x5xf32> -> tensor<5xf32>
  %c = tensorrt.constant dense<8.0> : tensor<5xf32>
  %r = tensorrt.element_wise <kDIV>(%s, %c : tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// CHECK-LABEL: func.func @integers_several_axes_and_stretched_quotients_stay_2(%arg0: tensor<2x8x5xf32>) -> tensor<5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<8.000000e+00> : tensor<1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 0, 1>} : tensor<2x8x5xf32> -> tensor<5xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<5xf32>, tensor<1xf32>) -> tensor<5xf32>
// CHECK-NEXT:    return %1 : tensor<5xf32>
// CHECK-NEXT:  }

// -----

func.func @integers_several_axes_and_stretched_quotients_stay_3(%a: tensor<2x8x5xf32>) -> tensor<2x3x5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x1x5xf32>
  %c = tensorrt.constant dense<8.0> : tensor<2x3x5xf32>
  %r = tensorrt.element_wise <kDIV>(%s, %c : tensor<2x1x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @integers_several_axes_and_stretched_quotients_stay_3(%arg0: tensor<2x8x5xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<8.000000e+00> : tensor<1x3x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x1x5xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x1x5xf32>, tensor<1x3x1xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x5xf32>
// CHECK-NEXT:  }

// -----

// A sum that is divided twice stays.

func.func @a_sum_that_is_divided_twice_stays(%a: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
  %s = tensorrt.reduce <kSUM> %a {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
  %c = tensorrt.constant dense<8.0> : tensor<2x5xf32>
  %q = tensorrt.element_wise <kDIV>(%s, %c : tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  %r = tensorrt.element_wise <kSUM>(%s, %q : tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @a_sum_that_is_divided_twice_stays(%arg0: tensor<2x8x5xf32>) -> tensor<2x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kSUM> %arg0 {reduceAxes = array<i64: 1>} : tensor<2x8x5xf32> -> tensor<2x5xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kDIV>(%0, %cst_f32 : tensor<2x5xf32>, tensor<1x1xf32>) -> tensor<2x5xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%0, %1 : tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT:    return %2 : tensor<2x5xf32>
// CHECK-NEXT:  }
