// RUN: tripybuild opt %s --split-input-file -p canonicalize | filecheck %s
// RUN: same-values %s -p canonicalize
// RUN: settled %s -p canonicalize

// Softmax is found.

func.func @softmax_is_found(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x3x4xf32> -> tensor<2x1x4xf32>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf32>
  %t = tensorrt.reduce <kSUM> %e {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x3x4xf32> -> tensor<2x1x4xf32>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @softmax_is_found(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 1 : i64} %arg0 : tensor<2x3x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @softmax_is_found_2(%a: tensor<2x3x4xf16>, %b: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x3x4xf16> -> tensor<2x1x4xf16>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf16>, tensor<2x1x4xf16>) -> tensor<2x3x4xf16>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf16>
  %w = tensorrt.identity %e : tensor<2x3x4xf16> to tensor<2x3x4xf32>
  %u = tensorrt.reduce <kSUM> %w {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x3x4xf32> -> tensor<2x1x4xf32>
  %t = tensorrt.identity %u : tensor<2x1x4xf32> to tensor<2x1x4xf16>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf16>, tensor<2x1x4xf16>) -> tensor<2x3x4xf16>
  return %r : tensor<2x3x4xf16>
}

// CHECK-LABEL: func.func @softmax_is_found_2(%arg0: tensor<2x3x4xf16>, %arg1: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 1 : i64} %arg0 : tensor<2x3x4xf16>
// CHECK-NEXT:    return %0 : tensor<2x3x4xf16>
// CHECK-NEXT:  }

// -----

func.func @softmax_is_found_3(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf32>
  %t = tensorrt.reduce <kSUM> %e {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @softmax_is_found_3(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 2 : i64} %arg0 : tensor<2x3x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @softmax_is_found_4(%a: tensor<2x3x4xf16>, %b: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf16>
  %w = tensorrt.identity %e : tensor<2x3x4xf16> to tensor<2x3x4xf32>
  %u = tensorrt.reduce <kSUM> %w {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %t = tensorrt.identity %u : tensor<2x3x1xf32> to tensor<2x3x1xf16>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  return %r : tensor<2x3x4xf16>
}

// CHECK-LABEL: func.func @softmax_is_found_4(%arg0: tensor<2x3x4xf16>, %arg1: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 2 : i64} %arg0 : tensor<2x3x4xf16>
// CHECK-NEXT:    return %0 : tensor<2x3x4xf16>
// CHECK-NEXT:  }

// -----

// Softmax of unknown sizes is found.

func.func @softmax_of_unknown_sizes_is_found(%a: tensor<?x3x4xf32>, %b: tensor<?x3x4xf32>) -> tensor<?x3x4xf32> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<?x3x4xf32> -> tensor<?x3x1xf32>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<?x3x4xf32>, tensor<?x3x1xf32>) -> tensor<?x3x4xf32>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<?x3x4xf32>
  %t = tensorrt.reduce <kSUM> %e {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<?x3x4xf32> -> tensor<?x3x1xf32>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<?x3x4xf32>, tensor<?x3x1xf32>) -> tensor<?x3x4xf32>
  return %r : tensor<?x3x4xf32>
}

// CHECK-LABEL: func.func @softmax_of_unknown_sizes_is_found(%arg0: tensor<?x3x4xf32>, %arg1: tensor<?x3x4xf32>) -> tensor<?x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 2 : i64} %arg0 : tensor<?x3x4xf32>
// CHECK-NEXT:    return %0 : tensor<?x3x4xf32>
// CHECK-NEXT:  }

// -----

// What only looks like softmax stays.

func.func @what_only_looks_like_softmax_stays(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %m = tensorrt.reduce <kMAX> %b {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf32>
  %t = tensorrt.reduce <kSUM> %e {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_softmax_stays(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg1 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf32>
// CHECK-NEXT:    %3 = tensorrt.reduce <kSUM> %2 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    return %4 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_softmax_stays_2(%a: tensor<2x3x4xf16>, %b: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %m = tensorrt.reduce <kMAX> %b {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf16>
  %w = tensorrt.identity %e : tensor<2x3x4xf16> to tensor<2x3x4xf32>
  %u = tensorrt.reduce <kSUM> %w {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %t = tensorrt.identity %u : tensor<2x3x1xf32> to tensor<2x3x1xf16>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  return %r : tensor<2x3x4xf16>
}

// CHECK-LABEL: func.func @what_only_looks_like_softmax_stays_2(%arg0: tensor<2x3x4xf16>, %arg1: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg1 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf16>
// CHECK-NEXT:    %3 = tensorrt.identity %2 : tensor<2x3x4xf16> to tensor<2x3x4xf32>
// CHECK-NEXT:    %4 = tensorrt.reduce <kSUM> %3 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %5 = tensorrt.identity %4 : tensor<2x3x1xf32> to tensor<2x3x1xf16>
// CHECK-NEXT:    %6 = tensorrt.element_wise <kDIV>(%2, %5 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    return %6 : tensor<2x3x4xf16>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_softmax_stays_3(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %m = tensorrt.reduce <kMIN> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf32>
  %t = tensorrt.reduce <kSUM> %e {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_softmax_stays_3(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMIN> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf32>
// CHECK-NEXT:    %3 = tensorrt.reduce <kSUM> %2 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    return %4 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_softmax_stays_4(%a: tensor<2x3x4xf16>, %b: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %m = tensorrt.reduce <kMIN> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf16>
  %w = tensorrt.identity %e : tensor<2x3x4xf16> to tensor<2x3x4xf32>
  %u = tensorrt.reduce <kSUM> %w {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %t = tensorrt.identity %u : tensor<2x3x1xf32> to tensor<2x3x1xf16>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  return %r : tensor<2x3x4xf16>
}

// CHECK-LABEL: func.func @what_only_looks_like_softmax_stays_4(%arg0: tensor<2x3x4xf16>, %arg1: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMIN> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf16>
// CHECK-NEXT:    %3 = tensorrt.identity %2 : tensor<2x3x4xf16> to tensor<2x3x4xf32>
// CHECK-NEXT:    %4 = tensorrt.reduce <kSUM> %3 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %5 = tensorrt.identity %4 : tensor<2x3x1xf32> to tensor<2x3x1xf16>
// CHECK-NEXT:    %6 = tensorrt.element_wise <kDIV>(%2, %5 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    return %6 : tensor<2x3x4xf16>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_softmax_stays_5(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf32>
  %t = tensorrt.reduce <kMAX> %e {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_softmax_stays_5(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf32>
// CHECK-NEXT:    %3 = tensorrt.reduce <kMAX> %2 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    return %4 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_softmax_stays_6(%a: tensor<2x3x4xf16>, %b: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf16>
  %w = tensorrt.identity %e : tensor<2x3x4xf16> to tensor<2x3x4xf32>
  %u = tensorrt.reduce <kMAX> %w {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %t = tensorrt.identity %u : tensor<2x3x1xf32> to tensor<2x3x1xf16>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  return %r : tensor<2x3x4xf16>
}

// CHECK-LABEL: func.func @what_only_looks_like_softmax_stays_6(%arg0: tensor<2x3x4xf16>, %arg1: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf16>
// CHECK-NEXT:    %3 = tensorrt.identity %2 : tensor<2x3x4xf16> to tensor<2x3x4xf32>
// CHECK-NEXT:    %4 = tensorrt.reduce <kMAX> %3 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %5 = tensorrt.identity %4 : tensor<2x3x1xf32> to tensor<2x3x1xf16>
// CHECK-NEXT:    %6 = tensorrt.element_wise <kDIV>(%2, %5 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    return %6 : tensor<2x3x4xf16>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_softmax_stays_7(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf32>
  %t = tensorrt.reduce <kSUM> %s {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_softmax_stays_7(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf32>
// CHECK-NEXT:    %3 = tensorrt.reduce <kSUM> %1 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    return %4 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_softmax_stays_8(%a: tensor<2x3x4xf16>, %b: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf16>
  %w = tensorrt.identity %s : tensor<2x3x4xf16> to tensor<2x3x4xf32>
  %u = tensorrt.reduce <kSUM> %w {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %t = tensorrt.identity %u : tensor<2x3x1xf32> to tensor<2x3x1xf16>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  return %r : tensor<2x3x4xf16>
}

// CHECK-LABEL: func.func @what_only_looks_like_softmax_stays_8(%arg0: tensor<2x3x4xf16>, %arg1: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf16>
// CHECK-NEXT:    %3 = tensorrt.identity %1 : tensor<2x3x4xf16> to tensor<2x3x4xf32>
// CHECK-NEXT:    %4 = tensorrt.reduce <kSUM> %3 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %5 = tensorrt.identity %4 : tensor<2x3x1xf32> to tensor<2x3x1xf16>
// CHECK-NEXT:    %6 = tensorrt.element_wise <kDIV>(%2, %5 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    return %6 : tensor<2x3x4xf16>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_softmax_stays_9(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf32>
  %t = tensorrt.reduce <kSUM> %b {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_softmax_stays_9(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf32>
// CHECK-NEXT:    %3 = tensorrt.reduce <kSUM> %arg1 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    return %4 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_softmax_stays_10(%a: tensor<2x3x4xf16>, %b: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf16>
  %w = tensorrt.identity %b : tensor<2x3x4xf16> to tensor<2x3x4xf32>
  %u = tensorrt.reduce <kSUM> %w {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %t = tensorrt.identity %u : tensor<2x3x1xf32> to tensor<2x3x1xf16>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  return %r : tensor<2x3x4xf16>
}

// CHECK-LABEL: func.func @what_only_looks_like_softmax_stays_10(%arg0: tensor<2x3x4xf16>, %arg1: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf16>
// CHECK-NEXT:    %3 = tensorrt.identity %arg1 : tensor<2x3x4xf16> to tensor<2x3x4xf32>
// CHECK-NEXT:    %4 = tensorrt.reduce <kSUM> %3 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %5 = tensorrt.identity %4 : tensor<2x3x1xf32> to tensor<2x3x1xf16>
// CHECK-NEXT:    %6 = tensorrt.element_wise <kDIV>(%2, %5 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    return %6 : tensor<2x3x4xf16>
// CHECK-NEXT:  }

// -----

// Softmax in another wide type stays.

func.func @softmax_in_another_wide_type_stays(%a: tensor<2x3x4xf16>, %b: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf16>
  %w = tensorrt.identity %e : tensor<2x3x4xf16> to tensor<2x3x4xbf16>
  %u = tensorrt.reduce <kSUM> %w {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xbf16> -> tensor<2x3x1xbf16>
  %t = tensorrt.identity %u : tensor<2x3x1xbf16> to tensor<2x3x1xf16>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
  return %r : tensor<2x3x4xf16>
}

// CHECK-LABEL: func.func @softmax_in_another_wide_type_stays(%arg0: tensor<2x3x4xf16>, %arg1: tensor<2x3x4xf16>) -> tensor<2x3x4xf16> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf16> -> tensor<2x3x1xf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf16>
// CHECK-NEXT:    %3 = tensorrt.identity %2 : tensor<2x3x4xf16> to tensor<2x3x4xbf16>
// CHECK-NEXT:    %4 = tensorrt.reduce <kSUM> %3 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xbf16> -> tensor<2x3x1xbf16>
// CHECK-NEXT:    %5 = tensorrt.identity %4 : tensor<2x3x1xbf16> to tensor<2x3x1xf16>
// CHECK-NEXT:    %6 = tensorrt.element_wise <kDIV>(%2, %5 : tensor<2x3x4xf16>, tensor<2x3x1xf16>) -> tensor<2x3x4xf16>
// CHECK-NEXT:    return %6 : tensor<2x3x4xf16>
// CHECK-NEXT:  }

// -----

// Softmax of another type stays.

// DYNAMIC: 0=2,3,4
func.func @softmax_of_another_type_stays(%a: tensor<?x3x4xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<?x3x4xf32> -> tensor<?x3x1xf32>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<?x3x4xf32>, tensor<?x3x1xf32>) -> tensor<2x3x4xf32>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x4xf32>
  %t = tensorrt.reduce <kSUM> %e {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @softmax_of_another_type_stays(%arg0: tensor<?x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<?x3x4xf32> -> tensor<?x3x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<?x3x4xf32>, tensor<?x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x4xf32>
// CHECK-NEXT:    %3 = tensorrt.reduce <kSUM> %2 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    return %4 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

// Softmax along other axes stays.

func.func @softmax_along_other_axes_stays(%a: tensor<2x3x3xf32>, %b: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
  %m = tensorrt.reduce <kMAX> %a {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x3xf32> -> tensor<2x3x1xf32>
  %s = tensorrt.element_wise <kSUB>(%a, %m : tensor<2x3x3xf32>, tensor<2x3x1xf32>) -> tensor<2x3x3xf32>
  %e = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %s : tensor<2x3x3xf32>
  %t = tensorrt.reduce <kSUM> %e {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x3x3xf32> -> tensor<2x1x3xf32>
  %r = tensorrt.element_wise <kDIV>(%e, %t : tensor<2x3x3xf32>, tensor<2x1x3xf32>) -> tensor<2x3x3xf32>
  return %r : tensor<2x3x3xf32>
}

// CHECK-LABEL: func.func @softmax_along_other_axes_stays(%arg0: tensor<2x3x3xf32>, %arg1: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.reduce <kMAX> %arg0 {keepDimensions = true, reduceAxes = array<i64: 2>} : tensor<2x3x3xf32> -> tensor<2x3x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x3x3xf32>, tensor<2x3x1xf32>) -> tensor<2x3x3xf32>
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3x3xf32>
// CHECK-NEXT:    %3 = tensorrt.reduce <kSUM> %2 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x3x3xf32> -> tensor<2x1x3xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x3xf32>, tensor<2x1x3xf32>) -> tensor<2x3x3xf32>
// CHECK-NEXT:    return %4 : tensor<2x3x3xf32>
// CHECK-NEXT:  }

// -----

// Layer norm is found.

func.func @layer_norm_is_found(%a: tensor<2x3x4x5xf32>, %b: tensor<1x1x4x5xf32>, %c: tensor<1x1x4x5xf32>, %d: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %sq = tensorrt.element_wise <kPROD>(%a, %a : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %ms = tensorrt.reduce <kAVG> %sq {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %v : tensor<2x3xf32>
  %ev = tensorrt.expand_rank %p : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %em = tensorrt.expand_rank %mean : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %x = tensorrt.element_wise <kSUB>(%a, %em : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xf32>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xf32>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %q : tensor<2x3x1x1xf32>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<1x1x4x5xf32>
  %r = tensorrt.element_wise <kSUM>(%n, %c : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %r : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @layer_norm_is_found(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<1x1x4x5xf32>, %arg2: tensor<1x1x4x5xf32>, %arg3: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 2, 3>, eps = 1.000000e-03 : f32}(%arg0 : tensor<2x3x4x5xf32>, %arg1 : tensor<1x1x4x5xf32>, %arg2 : tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x4x5xf32>
// CHECK-NEXT:  }

// -----

func.func @layer_norm_is_found_2(%a: tensor<2x3x4x5xf16>, %b: tensor<1x1x4x5xf16>, %c: tensor<1x1x4x5xf16>, %d: tensor<2x3x4x5xf16>) -> tensor<2x3x4x5xf16> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf16> -> tensor<2x3xf16>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf16> -> tensor<2x3xf16>
  %sq = tensorrt.element_wise <kPROD>(%a, %a : tensor<2x3x4x5xf16>, tensor<2x3x4x5xf16>) -> tensor<2x3x4x5xf16>
  %ms = tensorrt.reduce <kAVG> %sq {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf16> -> tensor<2x3xf16>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %v : tensor<2x3xf16>
  %ev = tensorrt.expand_rank %p : tensor<2x3xf16> to tensor<2x3x1x1xf16>
  %em = tensorrt.expand_rank %mean : tensor<2x3xf16> to tensor<2x3x1x1xf16>
  %x = tensorrt.element_wise <kSUB>(%a, %em : tensor<2x3x4x5xf16>, tensor<2x3x1x1xf16>) -> tensor<2x3x4x5xf16>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xf16>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xf16>, tensor<1x1x1x1xf16>) -> tensor<2x3x1x1xf16>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xf16>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %q : tensor<2x3x1x1xf16>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xf16>, tensor<1x1x4x5xf16>) -> tensor<2x3x4x5xf16>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x4x5xf16>, tensor<2x3x4x5xf16>) -> tensor<2x3x4x5xf16>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x4x5xf16>, tensor<1x1x4x5xf16>) -> tensor<1x1x4x5xf16>
  %r = tensorrt.element_wise <kSUM>(%n, %c : tensor<2x3x4x5xf16>, tensor<1x1x4x5xf16>) -> tensor<2x3x4x5xf16>
  return %r : tensor<2x3x4x5xf16>
}

// CHECK-LABEL: func.func @layer_norm_is_found_2(%arg0: tensor<2x3x4x5xf16>, %arg1: tensor<1x1x4x5xf16>, %arg2: tensor<1x1x4x5xf16>, %arg3: tensor<2x3x4x5xf16>) -> tensor<2x3x4x5xf16> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 2, 3>, eps = 0.00100040436 : f32}(%arg0 : tensor<2x3x4x5xf16>, %arg1 : tensor<1x1x4x5xf16>, %arg2 : tensor<1x1x4x5xf16>) -> tensor<2x3x4x5xf16>
// CHECK-NEXT:    return %0 : tensor<2x3x4x5xf16>
// CHECK-NEXT:  }

// -----

// What only looks like layer norm stays.

func.func @what_only_looks_like_layer_norm_stays(%a: tensor<2x3x4x5xf32>, %b: tensor<1x1x4x5xf32>, %c: tensor<1x1x4x5xf32>, %d: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %sq = tensorrt.element_wise <kPROD>(%a, %a : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %ms = tensorrt.reduce <kAVG> %sq {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %v : tensor<2x3xf32>
  %ev = tensorrt.expand_rank %p : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %em = tensorrt.expand_rank %other : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %x = tensorrt.element_wise <kSUB>(%a, %em : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xf32>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xf32>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %q : tensor<2x3x1x1xf32>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<1x1x4x5xf32>
  %r = tensorrt.element_wise <kSUM>(%n, %c : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %r : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_layer_norm_stays(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<1x1x4x5xf32>, %arg2: tensor<1x1x4x5xf32>, %arg3: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e-03> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.reduce <kMAX> %arg0 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %3 = tensorrt.reduce <kAVG> %2 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %5 = tensorrt.element_wise <kSUB>(%3, %4 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %6 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %5 : tensor<2x3xf32>
// CHECK-NEXT:    %7 = tensorrt.expand_rank %6 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %8 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kSUB>(%arg0, %8 : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %10 = tensorrt.element_wise <kSUM>(%7, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %11 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%12, %arg1 : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kPROD>(%9, %13 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %15 = tensorrt.element_wise <kSUM>(%14, %arg2 : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    return %15 : tensor<2x3x4x5xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_layer_norm_stays_2(%a: tensor<2x3x4x5xf32>, %b: tensor<1x1x4x5xf32>, %c: tensor<1x1x4x5xf32>, %d: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %sq = tensorrt.element_wise <kPROD>(%a, %d : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %ms = tensorrt.reduce <kAVG> %sq {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %v : tensor<2x3xf32>
  %ev = tensorrt.expand_rank %p : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %em = tensorrt.expand_rank %mean : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %x = tensorrt.element_wise <kSUB>(%a, %em : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xf32>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xf32>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %q : tensor<2x3x1x1xf32>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<1x1x4x5xf32>
  %r = tensorrt.element_wise <kSUM>(%n, %c : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %r : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_layer_norm_stays_2(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<1x1x4x5xf32>, %arg2: tensor<1x1x4x5xf32>, %arg3: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e-03> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%arg0, %arg3 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reduce <kAVG> %1 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%2, %3 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %4 : tensor<2x3xf32>
// CHECK-NEXT:    %6 = tensorrt.expand_rank %5 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %7 = tensorrt.expand_rank %0 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUB>(%arg0, %7 : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kSUM>(%6, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %9 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%8, %12 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kSUM>(%13, %arg2 : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    return %14 : tensor<2x3x4x5xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_layer_norm_stays_3(%a: tensor<2x3x4x5xf32>, %b: tensor<1x1x4x5xf32>, %c: tensor<1x1x4x5xf32>, %d: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %sq = tensorrt.element_wise <kPROD>(%a, %a : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %ms = tensorrt.reduce <kAVG> %sq {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %v : tensor<2x3xf32>
  %ev = tensorrt.expand_rank %p : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %em = tensorrt.expand_rank %mean : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %x = tensorrt.element_wise <kSUB>(%d, %em : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xf32>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xf32>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %q : tensor<2x3x1x1xf32>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<1x1x4x5xf32>
  %r = tensorrt.element_wise <kSUM>(%n, %c : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %r : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_layer_norm_stays_3(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<1x1x4x5xf32>, %arg2: tensor<1x1x4x5xf32>, %arg3: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e-03> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reduce <kAVG> %1 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%2, %3 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %4 : tensor<2x3xf32>
// CHECK-NEXT:    %6 = tensorrt.expand_rank %5 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %7 = tensorrt.expand_rank %0 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUB>(%arg3, %7 : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kSUM>(%6, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %9 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%8, %12 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kSUM>(%13, %arg2 : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    return %14 : tensor<2x3x4x5xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_layer_norm_stays_4(%a: tensor<2x3x4x5xf32>, %b: tensor<1x1x4x5xf32>, %c: tensor<1x1x4x5xf32>, %d: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %sq = tensorrt.element_wise <kPROD>(%a, %a : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %ms = tensorrt.reduce <kSUM> %sq {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %v : tensor<2x3xf32>
  %ev = tensorrt.expand_rank %p : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %em = tensorrt.expand_rank %mean : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %x = tensorrt.element_wise <kSUB>(%a, %em : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xf32>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xf32>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %q : tensor<2x3x1x1xf32>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<1x1x4x5xf32>
  %r = tensorrt.element_wise <kSUM>(%n, %c : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %r : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_layer_norm_stays_4(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<1x1x4x5xf32>, %arg2: tensor<1x1x4x5xf32>, %arg3: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e-03> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reduce <kSUM> %1 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%2, %3 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %4 : tensor<2x3xf32>
// CHECK-NEXT:    %6 = tensorrt.expand_rank %5 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %7 = tensorrt.expand_rank %0 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUB>(%arg0, %7 : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kSUM>(%6, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %9 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%8, %12 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kSUM>(%13, %arg2 : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    return %14 : tensor<2x3x4x5xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_layer_norm_stays_5(%a: tensor<2x3x4x5xf32>, %b: tensor<1x1x4x5xf32>, %c: tensor<1x1x4x5xf32>, %d: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %sq = tensorrt.element_wise <kPROD>(%a, %a : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %ms = tensorrt.reduce <kAVG> %sq {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kSIGMOID>} %v : tensor<2x3xf32>
  %ev = tensorrt.expand_rank %p : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %em = tensorrt.expand_rank %mean : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %x = tensorrt.element_wise <kSUB>(%a, %em : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xf32>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xf32>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %q : tensor<2x3x1x1xf32>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<1x1x4x5xf32>
  %r = tensorrt.element_wise <kSUM>(%n, %c : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %r : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_layer_norm_stays_5(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<1x1x4x5xf32>, %arg2: tensor<1x1x4x5xf32>, %arg3: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e-03> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reduce <kAVG> %1 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%2, %3 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kSIGMOID>} %4 : tensor<2x3xf32>
// CHECK-NEXT:    %6 = tensorrt.expand_rank %5 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %7 = tensorrt.expand_rank %0 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUB>(%arg0, %7 : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kSUM>(%6, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %9 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%8, %12 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kSUM>(%13, %arg2 : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    return %14 : tensor<2x3x4x5xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_layer_norm_stays_6(%a: tensor<2x3x4x5xf32>, %b: tensor<1x1x4x5xf32>, %c: tensor<1x1x4x5xf32>, %d: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %sq = tensorrt.element_wise <kPROD>(%a, %a : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %ms = tensorrt.reduce <kAVG> %sq {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %v : tensor<2x3xf32>
  %ev = tensorrt.expand_rank %p : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %em = tensorrt.expand_rank %mean : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %x = tensorrt.element_wise <kSUB>(%a, %em : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xf32>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xf32>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %q : tensor<2x3x1x1xf32>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<1x1x4x5xf32>
  %r = tensorrt.element_wise <kSUM>(%n, %z : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %r : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_layer_norm_stays_6(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<1x1x4x5xf32>, %arg2: tensor<1x1x4x5xf32>, %arg3: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e-03> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reduce <kAVG> %1 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%2, %3 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %4 : tensor<2x3xf32>
// CHECK-NEXT:    %6 = tensorrt.expand_rank %5 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %7 = tensorrt.expand_rank %0 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUB>(%arg0, %7 : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kSUM>(%6, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %9 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%8, %12 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kSUM>(%arg2, %arg2 : tensor<1x1x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<1x1x4x5xf32>
// CHECK-NEXT:    %15 = tensorrt.element_wise <kSUM>(%13, %14 : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    return %15 : tensor<2x3x4x5xf32>
// CHECK-NEXT:  }

// -----

func.func @what_only_looks_like_layer_norm_stays_7(%a: tensor<2x3x4x5xf32>, %b: tensor<1x1x4x5xf32>, %c: tensor<1x1x4x5xf32>, %d: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %sq = tensorrt.element_wise <kPROD>(%a, %a : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %ms = tensorrt.reduce <kAVG> %sq {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %v : tensor<2x3xf32>
  %ev = tensorrt.expand_rank %p : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %em = tensorrt.expand_rank %mean : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %x = tensorrt.element_wise <kSUB>(%a, %em : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xf32>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xf32>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %q : tensor<2x3x1x1xf32>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<1x1x4x5xf32>
  %r = tensorrt.element_wise <kSUM>(%n, %c : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %r : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @what_only_looks_like_layer_norm_stays_7(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<1x1x4x5xf32>, %arg2: tensor<1x1x4x5xf32>, %arg3: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e-03> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reduce <kAVG> %1 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%2, %3 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %4 : tensor<2x3xf32>
// CHECK-NEXT:    %6 = tensorrt.expand_rank %5 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %7 = tensorrt.expand_rank %0 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUB>(%arg0, %7 : tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kSUM>(%6, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %9 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x3x1x1xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%8, %12 : tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kSUM>(%13, %arg2 : tensor<2x3x4x5xf32>, tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    return %14 : tensor<2x3x4x5xf32>
// CHECK-NEXT:  }

// -----

// Layer norm of bfloat stays.

func.func @layer_norm_of_bfloat_stays(%a: tensor<2x3x4x5xbf16>, %b: tensor<1x1x4x5xbf16>, %c: tensor<1x1x4x5xbf16>, %d: tensor<2x3x4x5xbf16>) -> tensor<2x3x4x5xbf16> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xbf16> -> tensor<2x3xbf16>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xbf16> -> tensor<2x3xbf16>
  %sq = tensorrt.element_wise <kPROD>(%a, %a : tensor<2x3x4x5xbf16>, tensor<2x3x4x5xbf16>) -> tensor<2x3x4x5xbf16>
  %ms = tensorrt.reduce <kAVG> %sq {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xbf16> -> tensor<2x3xbf16>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %v : tensor<2x3xbf16>
  %ev = tensorrt.expand_rank %p : tensor<2x3xbf16> to tensor<2x3x1x1xbf16>
  %em = tensorrt.expand_rank %mean : tensor<2x3xbf16> to tensor<2x3x1x1xbf16>
  %x = tensorrt.element_wise <kSUB>(%a, %em : tensor<2x3x4x5xbf16>, tensor<2x3x1x1xbf16>) -> tensor<2x3x4x5xbf16>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xbf16>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xbf16>, tensor<1x1x1x1xbf16>) -> tensor<2x3x1x1xbf16>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xbf16>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %q : tensor<2x3x1x1xbf16>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xbf16>, tensor<1x1x4x5xbf16>) -> tensor<2x3x4x5xbf16>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x4x5xbf16>, tensor<2x3x4x5xbf16>) -> tensor<2x3x4x5xbf16>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x4x5xbf16>, tensor<1x1x4x5xbf16>) -> tensor<1x1x4x5xbf16>
  %r = tensorrt.element_wise <kSUM>(%n, %c : tensor<2x3x4x5xbf16>, tensor<1x1x4x5xbf16>) -> tensor<2x3x4x5xbf16>
  return %r : tensor<2x3x4x5xbf16>
}

// CHECK-LABEL: func.func @layer_norm_of_bfloat_stays(%arg0: tensor<2x3x4x5xbf16>, %arg1: tensor<1x1x4x5xbf16>, %arg2: tensor<1x1x4x5xbf16>, %arg3: tensor<2x3x4x5xbf16>) -> tensor<2x3x4x5xbf16> {
// CHECK-NEXT:    %cst_bf16 = tensorrt.constant dense<9.994500e-04> : tensor<1x1x1x1xbf16>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xbf16> -> tensor<2x3xbf16>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x3x4x5xbf16>, tensor<2x3x4x5xbf16>) -> tensor<2x3x4x5xbf16>
// CHECK-NEXT:    %2 = tensorrt.reduce <kAVG> %1 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x4x5xbf16> -> tensor<2x3xbf16>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%2, %3 : tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %4 : tensor<2x3xbf16>
// CHECK-NEXT:    %6 = tensorrt.expand_rank %5 : tensor<2x3xbf16> to tensor<2x3x1x1xbf16>
// CHECK-NEXT:    %7 = tensorrt.expand_rank %0 : tensor<2x3xbf16> to tensor<2x3x1x1xbf16>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUB>(%arg0, %7 : tensor<2x3x4x5xbf16>, tensor<2x3x1x1xbf16>) -> tensor<2x3x4x5xbf16>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kSUM>(%6, %cst_bf16 : tensor<2x3x1x1xbf16>, tensor<1x1x1x1xbf16>) -> tensor<2x3x1x1xbf16>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %9 : tensor<2x3x1x1xbf16>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %10 : tensor<2x3x1x1xbf16>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x3x1x1xbf16>, tensor<1x1x4x5xbf16>) -> tensor<2x3x4x5xbf16>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%8, %12 : tensor<2x3x4x5xbf16>, tensor<2x3x4x5xbf16>) -> tensor<2x3x4x5xbf16>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kSUM>(%13, %arg2 : tensor<2x3x4x5xbf16>, tensor<1x1x4x5xbf16>) -> tensor<2x3x4x5xbf16>
// CHECK-NEXT:    return %14 : tensor<2x3x4x5xbf16>
// CHECK-NEXT:  }

// -----

// Layer norm over other axes stays.

func.func @layer_norm_over_other_axes_stays(%a: tensor<2x3x3x5xf32>, %b: tensor<1x1x3x5xf32>, %c: tensor<1x1x3x5xf32>, %d: tensor<2x3x3x5xf32>) -> tensor<2x3x3x5xf32> {
  %mean = tensorrt.reduce <kAVG> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x3x5xf32> -> tensor<2x3xf32>
  %other = tensorrt.reduce <kMAX> %a {reduceAxes = array<i64: 2, 3>} : tensor<2x3x3x5xf32> -> tensor<2x3xf32>
  %sq = tensorrt.element_wise <kPROD>(%a, %a : tensor<2x3x3x5xf32>, tensor<2x3x3x5xf32>) -> tensor<2x3x3x5xf32>
  %ms = tensorrt.reduce <kAVG> %sq {reduceAxes = array<i64: 1, 3>} : tensor<2x3x3x5xf32> -> tensor<2x3xf32>
  %mm = tensorrt.element_wise <kPROD>(%mean, %mean : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = tensorrt.element_wise <kSUB>(%ms, %mm : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %v : tensor<2x3xf32>
  %ev = tensorrt.expand_rank %p : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %em = tensorrt.expand_rank %mean : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %x = tensorrt.element_wise <kSUB>(%a, %em : tensor<2x3x3x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x3x5xf32>
  %eps = tensorrt.constant dense<1.0e-3> : tensor<1x1x1x1xf32>
  %y = tensorrt.element_wise <kSUM>(%ev, %eps : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %q = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %y : tensor<2x3x1x1xf32>
  %h = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %q : tensor<2x3x1x1xf32>
  %k = tensorrt.element_wise <kPROD>(%h, %b : tensor<2x3x1x1xf32>, tensor<1x1x3x5xf32>) -> tensor<2x3x3x5xf32>
  %n = tensorrt.element_wise <kPROD>(%x, %k : tensor<2x3x3x5xf32>, tensor<2x3x3x5xf32>) -> tensor<2x3x3x5xf32>
  %z = tensorrt.element_wise <kSUM>(%c, %c : tensor<1x1x3x5xf32>, tensor<1x1x3x5xf32>) -> tensor<1x1x3x5xf32>
  %r = tensorrt.element_wise <kSUM>(%n, %c : tensor<2x3x3x5xf32>, tensor<1x1x3x5xf32>) -> tensor<2x3x3x5xf32>
  return %r : tensor<2x3x3x5xf32>
}

// CHECK-LABEL: func.func @layer_norm_over_other_axes_stays(%arg0: tensor<2x3x3x5xf32>, %arg1: tensor<1x1x3x5xf32>, %arg2: tensor<1x1x3x5xf32>, %arg3: tensor<2x3x3x5xf32>) -> tensor<2x3x3x5xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e-03> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {reduceAxes = array<i64: 2, 3>} : tensor<2x3x3x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x3x3x5xf32>, tensor<2x3x3x5xf32>) -> tensor<2x3x3x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reduce <kAVG> %1 {reduceAxes = array<i64: 1, 3>} : tensor<2x3x3x5xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%2, %3 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %4 : tensor<2x3xf32>
// CHECK-NEXT:    %6 = tensorrt.expand_rank %5 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %7 = tensorrt.expand_rank %0 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUB>(%arg0, %7 : tensor<2x3x3x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x3x5xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kSUM>(%6, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %9 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x3x1x1xf32>, tensor<1x1x3x5xf32>) -> tensor<2x3x3x5xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%8, %12 : tensor<2x3x3x5xf32>, tensor<2x3x3x5xf32>) -> tensor<2x3x3x5xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kSUM>(%13, %arg2 : tensor<2x3x3x5xf32>, tensor<1x1x3x5xf32>) -> tensor<2x3x3x5xf32>
// CHECK-NEXT:    return %14 : tensor<2x3x3x5xf32>
// CHECK-NEXT:  }
