// RUN: tripybuild opt %s --split-input-file -p tensorrt-broadcast-elimination,canonicalize,cse,tensorrt-transpose-elimination,canonicalize,cse,tensorrt-reshape-elimination,canonicalize,cse,tensorrt-raise-normalizations,canonicalize,cse | filecheck %s
// RUN: same-values %s -p tensorrt-broadcast-elimination,canonicalize,cse,tensorrt-transpose-elimination,canonicalize,cse,tensorrt-reshape-elimination,canonicalize,cse,tensorrt-raise-normalizations,canonicalize,cse
// RUN: settled %s -p tensorrt-broadcast-elimination,canonicalize,cse,tensorrt-transpose-elimination,canonicalize,cse,tensorrt-reshape-elimination,canonicalize,cse,tensorrt-raise-normalizations,canonicalize,cse

// Layer norm in the pipeline. It is found behind `canonicalize`, too.

func.func @layer_norm_in_the_pipeline(%x0: tensor<2x8xf32>, %x1: tensor<1x8xf32>, %x2: tensor<1x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %2 = tensorrt.element_wise <kSUB>(%x0, %1 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.reduce <kSUM> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%3, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.reduce <kSUM> %6 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %8 = tensorrt.element_wise <kDIV>(%7, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %9 = tensorrt.constant dense<1.000000e-03> : tensor<1x1xf32>
  %10 = tensorrt.element_wise <kSUM>(%8, %9 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %10 : tensor<2x1xf32>
  %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %11 : tensor<2x1xf32>
  %13 = tensorrt.element_wise <kPROD>(%2, %12 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %14 = tensorrt.element_wise <kPROD>(%13, %x1 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %15 = tensorrt.element_wise <kSUM>(%14, %x2 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  return %15 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @layer_norm_in_the_pipeline(%arg0: tensor<2x8xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 1>, eps = 1.000000e-03 : f32}(%arg0 : tensor<2x8xf32>, %arg1 : tensor<1x8xf32>, %arg2 : tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }
