// RUN: tripybuild opt %s --split-input-file -p tensorrt-raise-normalizations | filecheck %s
// RUN: same-values %s -p tensorrt-raise-normalizations
// RUN: settled %s -p tensorrt-raise-normalizations

// Instance norm. The planes of NCHW; the epsilon is kept.

func.func @instance_norm(%x0: tensor<2x3x4x6xf32>, %x1: tensor<1x3x1x1xf32>, %x2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
  %0 = tensorrt.reshape %x0 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
  %1 = tensorrt.reduce <kSUM> %0 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
  %2 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %3 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x3x4x6xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %7 = tensorrt.reshape %6 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
  %8 = tensorrt.reduce <kSUM> %7 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
  %9 = tensorrt.expand_rank %8 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %10 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %11 = tensorrt.element_wise <kDIV>(%9, %10 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %12 = tensorrt.constant dense<1.000000e-06> : tensor<1x1x1x1xf32>
  %13 = tensorrt.element_wise <kSUM>(%11, %12 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %14 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %13 : tensor<2x3x1x1xf32>
  %15 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %14 : tensor<2x3x1x1xf32>
  %16 = tensorrt.element_wise <kPROD>(%x1, %15 : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  %17 = tensorrt.element_wise <kPROD>(%16, %5 : tensor<2x3x1x1xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %18 = tensorrt.element_wise <kSUM>(%17, %x2 : tensor<2x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  return %18 : tensor<2x3x4x6xf32>
}

// CHECK-LABEL: func.func @instance_norm(%arg0: tensor<2x3x4x6xf32>, %arg1: tensor<1x3x1x1xf32>, %arg2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 2, 3>, eps = 9.99999997E-7 : f32}(%arg0 : tensor<2x3x4x6xf32>, %arg1 : tensor<1x3x1x1xf32>, %arg2 : tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x4x6xf32>
// CHECK-NEXT:  }

// -----

// Instance norm of unknown many images. Their number is not summed over.

func.func @instance_norm_of_unknown_many_images(%x0: tensor<?x3x4x6xf32>, %x1: tensor<1x3x1x1xf32>, %x2: tensor<1x3x1x1xf32>) -> tensor<?x3x4x6xf32> {
  %0 = tensorrt.reshape %x0 : tensor<?x3x4x6xf32> to tensor<?x3x24xf32>
  %1 = tensorrt.reduce <kSUM> %0 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<?x3x24xf32> -> tensor<?x3xf32>
  %2 = tensorrt.expand_rank %1 : tensor<?x3xf32> to tensor<?x3x1x1xf32>
  %3 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<?x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<?x3x1x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<?x3x4x6xf32>, tensor<?x3x1x1xf32>) -> tensor<?x3x4x6xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<?x3x4x6xf32>, tensor<?x3x4x6xf32>) -> tensor<?x3x4x6xf32>
  %7 = tensorrt.reshape %6 : tensor<?x3x4x6xf32> to tensor<?x3x24xf32>
  %8 = tensorrt.reduce <kSUM> %7 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<?x3x24xf32> -> tensor<?x3xf32>
  %9 = tensorrt.expand_rank %8 : tensor<?x3xf32> to tensor<?x3x1x1xf32>
  %10 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %11 = tensorrt.element_wise <kDIV>(%9, %10 : tensor<?x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<?x3x1x1xf32>
  %12 = tensorrt.constant dense<1.000000e-06> : tensor<1x1x1x1xf32>
  %13 = tensorrt.element_wise <kSUM>(%11, %12 : tensor<?x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<?x3x1x1xf32>
  %14 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %13 : tensor<?x3x1x1xf32>
  %15 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %14 : tensor<?x3x1x1xf32>
  %16 = tensorrt.element_wise <kPROD>(%x1, %15 : tensor<1x3x1x1xf32>, tensor<?x3x1x1xf32>) -> tensor<?x3x1x1xf32>
  %17 = tensorrt.element_wise <kPROD>(%16, %5 : tensor<?x3x1x1xf32>, tensor<?x3x4x6xf32>) -> tensor<?x3x4x6xf32>
  %18 = tensorrt.element_wise <kSUM>(%17, %x2 : tensor<?x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<?x3x4x6xf32>
  return %18 : tensor<?x3x4x6xf32>
}

// CHECK-LABEL: func.func @instance_norm_of_unknown_many_images(%arg0: tensor<?x3x4x6xf32>, %arg1: tensor<1x3x1x1xf32>, %arg2: tensor<1x3x1x1xf32>) -> tensor<?x3x4x6xf32> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 2, 3>, eps = 9.99999997E-7 : f32}(%arg0 : tensor<?x3x4x6xf32>, %arg1 : tensor<1x3x1x1xf32>, %arg2 : tensor<1x3x1x1xf32>) -> tensor<?x3x4x6xf32>
// CHECK-NEXT:    return %0 : tensor<?x3x4x6xf32>
// CHECK-NEXT:  }

// -----

// Instance norm with the usual epsilon. The default is not printed.

func.func @instance_norm_with_the_usual_epsilon(%x0: tensor<2x3x4x6xf32>, %x1: tensor<1x3x1x1xf32>, %x2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
  %0 = tensorrt.reshape %x0 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
  %1 = tensorrt.reduce <kSUM> %0 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
  %2 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %3 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x3x4x6xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %7 = tensorrt.reshape %6 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
  %8 = tensorrt.reduce <kSUM> %7 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
  %9 = tensorrt.expand_rank %8 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %10 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %11 = tensorrt.element_wise <kDIV>(%9, %10 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %12 = tensorrt.constant dense<1.000000e-05> : tensor<1x1x1x1xf32>
  %13 = tensorrt.element_wise <kSUM>(%11, %12 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %14 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %13 : tensor<2x3x1x1xf32>
  %15 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %14 : tensor<2x3x1x1xf32>
  %16 = tensorrt.element_wise <kPROD>(%x1, %15 : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  %17 = tensorrt.element_wise <kPROD>(%16, %5 : tensor<2x3x1x1xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %18 = tensorrt.element_wise <kSUM>(%17, %x2 : tensor<2x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  return %18 : tensor<2x3x4x6xf32>
}

// CHECK-LABEL: func.func @instance_norm_with_the_usual_epsilon(%arg0: tensor<2x3x4x6xf32>, %arg1: tensor<1x3x1x1xf32>, %arg2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 2, 3>}(%arg0 : tensor<2x3x4x6xf32>, %arg1 : tensor<1x3x1x1xf32>, %arg2 : tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x4x6xf32>
// CHECK-NEXT:  }

// -----

// What is no instance norm. Another divisor, a large epsilon, sums over something else than planes.

func.func @what_is_no_instance_norm(%x0: tensor<2x3x4x6xf32>, %x1: tensor<1x3x1x1xf32>, %x2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
  %0 = tensorrt.reshape %x0 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
  %1 = tensorrt.reduce <kSUM> %0 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
  %2 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %3 = tensorrt.constant dense<2.300000e+01> : tensor<1x1x1x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x3x4x6xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %7 = tensorrt.reshape %6 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
  %8 = tensorrt.reduce <kSUM> %7 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
  %9 = tensorrt.expand_rank %8 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %10 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %11 = tensorrt.element_wise <kDIV>(%9, %10 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %12 = tensorrt.constant dense<1.000000e-06> : tensor<1x1x1x1xf32>
  %13 = tensorrt.element_wise <kSUM>(%11, %12 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %14 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %13 : tensor<2x3x1x1xf32>
  %15 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %14 : tensor<2x3x1x1xf32>
  %16 = tensorrt.element_wise <kPROD>(%x1, %15 : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  %17 = tensorrt.element_wise <kPROD>(%16, %5 : tensor<2x3x1x1xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %18 = tensorrt.element_wise <kSUM>(%17, %x2 : tensor<2x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  return %18 : tensor<2x3x4x6xf32>
}

// CHECK-LABEL: func.func @what_is_no_instance_norm(%arg0: tensor<2x3x4x6xf32>, %arg1: tensor<1x3x1x1xf32>, %arg2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<9.99999997E-7> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<2.300000e+01> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
// CHECK-NEXT:    %1 = tensorrt.reduce <kSUM> %0 {reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %2 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kDIV>(%2, %cst_f32_1 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%arg0, %3 : tensor<2x3x4x6xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %5 = tensorrt.element_wise <kPROD>(%4, %4 : tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %6 = tensorrt.reshape %5 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
// CHECK-NEXT:    %7 = tensorrt.reduce <kSUM> %6 {reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %8 = tensorrt.expand_rank %7 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kDIV>(%8, %cst_f32_0 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.element_wise <kSUM>(%9, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %11 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%arg1, %12 : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kPROD>(%13, %4 : tensor<2x3x1x1xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %15 = tensorrt.element_wise <kSUM>(%14, %arg2 : tensor<2x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    return %15 : tensor<2x3x4x6xf32>
// CHECK-NEXT:  }

// -----

func.func @what_is_no_instance_norm_2(%x0: tensor<2x3x4x6xf32>, %x1: tensor<1x3x1x1xf32>, %x2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
  %0 = tensorrt.reshape %x0 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
  %1 = tensorrt.reduce <kSUM> %0 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
  %2 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %3 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x3x4x6xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %7 = tensorrt.reshape %6 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
  %8 = tensorrt.reduce <kSUM> %7 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
  %9 = tensorrt.expand_rank %8 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %10 = tensorrt.constant dense<1.200000e+01> : tensor<1x1x1x1xf32>
  %11 = tensorrt.element_wise <kDIV>(%9, %10 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %12 = tensorrt.constant dense<1.000000e-06> : tensor<1x1x1x1xf32>
  %13 = tensorrt.element_wise <kSUM>(%11, %12 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %14 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %13 : tensor<2x3x1x1xf32>
  %15 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %14 : tensor<2x3x1x1xf32>
  %16 = tensorrt.element_wise <kPROD>(%x1, %15 : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  %17 = tensorrt.element_wise <kPROD>(%16, %5 : tensor<2x3x1x1xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %18 = tensorrt.element_wise <kSUM>(%17, %x2 : tensor<2x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  return %18 : tensor<2x3x4x6xf32>
}

// CHECK-LABEL: func.func @what_is_no_instance_norm_2(%arg0: tensor<2x3x4x6xf32>, %arg1: tensor<1x3x1x1xf32>, %arg2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<9.99999997E-7> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.200000e+01> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
// CHECK-NEXT:    %1 = tensorrt.reduce <kSUM> %0 {reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %2 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kDIV>(%2, %cst_f32_1 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%arg0, %3 : tensor<2x3x4x6xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %5 = tensorrt.element_wise <kPROD>(%4, %4 : tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %6 = tensorrt.reshape %5 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
// CHECK-NEXT:    %7 = tensorrt.reduce <kSUM> %6 {reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %8 = tensorrt.expand_rank %7 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kDIV>(%8, %cst_f32_0 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.element_wise <kSUM>(%9, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %11 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%arg1, %12 : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kPROD>(%13, %4 : tensor<2x3x1x1xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %15 = tensorrt.element_wise <kSUM>(%14, %arg2 : tensor<2x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    return %15 : tensor<2x3x4x6xf32>
// CHECK-NEXT:  }

// -----

func.func @what_is_no_instance_norm_3(%x0: tensor<2x3x4x6xf32>, %x1: tensor<1x3x1x1xf32>, %x2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
  %0 = tensorrt.reshape %x0 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
  %1 = tensorrt.reduce <kSUM> %0 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
  %2 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %3 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x3x4x6xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %7 = tensorrt.reshape %6 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
  %8 = tensorrt.reduce <kSUM> %7 {keepDimensions = false, reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
  %9 = tensorrt.expand_rank %8 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %10 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %11 = tensorrt.element_wise <kDIV>(%9, %10 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %12 = tensorrt.constant dense<1.000000e-01> : tensor<1x1x1x1xf32>
  %13 = tensorrt.element_wise <kSUM>(%11, %12 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %14 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %13 : tensor<2x3x1x1xf32>
  %15 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %14 : tensor<2x3x1x1xf32>
  %16 = tensorrt.element_wise <kPROD>(%x1, %15 : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  %17 = tensorrt.element_wise <kPROD>(%16, %5 : tensor<2x3x1x1xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %18 = tensorrt.element_wise <kSUM>(%17, %x2 : tensor<2x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  return %18 : tensor<2x3x4x6xf32>
}

// CHECK-LABEL: func.func @what_is_no_instance_norm_3(%arg0: tensor<2x3x4x6xf32>, %arg1: tensor<1x3x1x1xf32>, %arg2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e-01> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
// CHECK-NEXT:    %1 = tensorrt.reduce <kSUM> %0 {reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %2 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kDIV>(%2, %cst_f32_0 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%arg0, %3 : tensor<2x3x4x6xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %5 = tensorrt.element_wise <kPROD>(%4, %4 : tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %6 = tensorrt.reshape %5 : tensor<2x3x4x6xf32> to tensor<2x3x24xf32>
// CHECK-NEXT:    %7 = tensorrt.reduce <kSUM> %6 {reduceAxes = array<i64: 2>} : tensor<2x3x24xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %8 = tensorrt.expand_rank %7 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kDIV>(%8, %cst_f32_0 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.element_wise <kSUM>(%9, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %11 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%arg1, %12 : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kPROD>(%13, %4 : tensor<2x3x1x1xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %15 = tensorrt.element_wise <kSUM>(%14, %arg2 : tensor<2x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    return %15 : tensor<2x3x4x6xf32>
// CHECK-NEXT:  }

// -----

func.func @what_is_no_instance_norm_4(%x0: tensor<2x3x4x6xf32>, %x1: tensor<1x3x1x1xf32>, %x2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
  %0 = tensorrt.reshape %x0 : tensor<2x3x4x6xf32> to tensor<2x24x3xf32>
  %1 = tensorrt.reduce <kSUM> %0 {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x24x3xf32> -> tensor<2x3xf32>
  %2 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %3 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%2, %3 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x3x4x6xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %7 = tensorrt.reshape %6 : tensor<2x3x4x6xf32> to tensor<2x24x3xf32>
  %8 = tensorrt.reduce <kSUM> %7 {keepDimensions = false, reduceAxes = array<i64: 1>} : tensor<2x24x3xf32> -> tensor<2x3xf32>
  %9 = tensorrt.expand_rank %8 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
  %10 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
  %11 = tensorrt.element_wise <kDIV>(%9, %10 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %12 = tensorrt.constant dense<1.000000e-06> : tensor<1x1x1x1xf32>
  %13 = tensorrt.element_wise <kSUM>(%11, %12 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
  %14 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %13 : tensor<2x3x1x1xf32>
  %15 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %14 : tensor<2x3x1x1xf32>
  %16 = tensorrt.element_wise <kPROD>(%x1, %15 : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
  %17 = tensorrt.element_wise <kPROD>(%16, %5 : tensor<2x3x1x1xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
  %18 = tensorrt.element_wise <kSUM>(%17, %x2 : tensor<2x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
  return %18 : tensor<2x3x4x6xf32>
}

// CHECK-LABEL: func.func @what_is_no_instance_norm_4(%arg0: tensor<2x3x4x6xf32>, %arg1: tensor<1x3x1x1xf32>, %arg2: tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<9.99999997E-7> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<2.400000e+01> : tensor<1x1x1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4x6xf32> to tensor<2x24x3xf32>
// CHECK-NEXT:    %1 = tensorrt.reduce <kSUM> %0 {reduceAxes = array<i64: 1>} : tensor<2x24x3xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %2 = tensorrt.expand_rank %1 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kDIV>(%2, %cst_f32_0 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%arg0, %3 : tensor<2x3x4x6xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %5 = tensorrt.element_wise <kPROD>(%4, %4 : tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %6 = tensorrt.reshape %5 : tensor<2x3x4x6xf32> to tensor<2x24x3xf32>
// CHECK-NEXT:    %7 = tensorrt.reduce <kSUM> %6 {reduceAxes = array<i64: 1>} : tensor<2x24x3xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %8 = tensorrt.expand_rank %7 : tensor<2x3xf32> to tensor<2x3x1x1xf32>
// CHECK-NEXT:    %9 = tensorrt.element_wise <kDIV>(%8, %cst_f32_0 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %10 = tensorrt.element_wise <kSUM>(%9, %cst_f32 : tensor<2x3x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %10 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %11 : tensor<2x3x1x1xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kPROD>(%arg1, %12 : tensor<1x3x1x1xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
// CHECK-NEXT:    %14 = tensorrt.element_wise <kPROD>(%13, %4 : tensor<2x3x1x1xf32>, tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    %15 = tensorrt.element_wise <kSUM>(%14, %arg2 : tensor<2x3x4x6xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT:    return %15 : tensor<2x3x4x6xf32>
// CHECK-NEXT:  }

// -----

// Layer norm. As PyTorch is lowered, and as `canonicalize` leaves that.

func.func @layer_norm(%x0: tensor<2x8xf32>, %x1: tensor<1x8xf32>, %x2: tensor<1x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %2 = tensorrt.element_wise <kSUB>(%x0, %1 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.reduce <kSUM> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%3, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.reduce <kSUM> %6 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %8 = tensorrt.element_wise <kDIV>(%7, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %9 = tensorrt.constant dense<1.000000e-05> : tensor<1x1xf32>
  %10 = tensorrt.element_wise <kSUM>(%8, %9 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %10 : tensor<2x1xf32>
  %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %11 : tensor<2x1xf32>
  %13 = tensorrt.element_wise <kPROD>(%2, %12 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %14 = tensorrt.element_wise <kPROD>(%13, %x1 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %15 = tensorrt.element_wise <kSUM>(%14, %x2 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  return %15 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @layer_norm(%arg0: tensor<2x8xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 1>, eps = 9.99999974E-6 : f32}(%arg0 : tensor<2x8xf32>, %arg1 : tensor<1x8xf32>, %arg2 : tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @layer_norm_2(%x0: tensor<2x8xf32>, %x1: tensor<1x8xf32>, %x2: tensor<1x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %2 = tensorrt.element_wise <kSUB>(%x0, %1 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %4 = tensorrt.element_wise <kSUB>(%x0, %3 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.element_wise <kPROD>(%4, %4 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %6 = tensorrt.reduce <kAVG> %5 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %7 = tensorrt.constant dense<1.000000e-05> : tensor<1x1xf32>
  %8 = tensorrt.element_wise <kSUM>(%6, %7 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %9 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %8 : tensor<2x1xf32>
  %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %9 : tensor<2x1xf32>
  %11 = tensorrt.element_wise <kPROD>(%2, %10 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.element_wise <kPROD>(%11, %x1 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %13 = tensorrt.element_wise <kSUM>(%12, %x2 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  return %13 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @layer_norm_2(%arg0: tensor<2x8xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 1>, eps = 9.99999974E-6 : f32}(%arg0 : tensor<2x8xf32>, %arg1 : tensor<1x8xf32>, %arg2 : tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @layer_norm_3(%x0: tensor<2x8xf32>, %x1: tensor<1x8xf32>, %x2: tensor<1x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %2 = tensorrt.element_wise <kSUB>(%x0, %1 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.reduce <kSUM> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%3, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.reduce <kSUM> %6 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %8 = tensorrt.element_wise <kDIV>(%7, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %9 = tensorrt.constant dense<1.000000e-05> : tensor<1x1xf32>
  %10 = tensorrt.element_wise <kSUM>(%8, %9 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %10 : tensor<2x1xf32>
  %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %11 : tensor<2x1xf32>
  %13 = tensorrt.element_wise <kPROD>(%2, %12 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %14 = tensorrt.element_wise <kPROD>(%13, %x1 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %15 = tensorrt.element_wise <kSUM>(%14, %x2 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  return %15 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @layer_norm_3(%arg0: tensor<2x8xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 1>, eps = 9.99999974E-6 : f32}(%arg0 : tensor<2x8xf32>, %arg1 : tensor<1x8xf32>, %arg2 : tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @layer_norm_4(%x0: tensor<2x8xf32>, %x1: tensor<1x8xf32>, %x2: tensor<1x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %2 = tensorrt.element_wise <kSUB>(%x0, %1 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %4 = tensorrt.element_wise <kSUB>(%x0, %3 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.element_wise <kPROD>(%4, %4 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %6 = tensorrt.reduce <kAVG> %5 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %7 = tensorrt.constant dense<1.000000e-05> : tensor<1x1xf32>
  %8 = tensorrt.element_wise <kSUM>(%6, %7 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %9 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %8 : tensor<2x1xf32>
  %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %9 : tensor<2x1xf32>
  %11 = tensorrt.element_wise <kPROD>(%2, %10 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.element_wise <kPROD>(%11, %x1 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %13 = tensorrt.element_wise <kSUM>(%12, %x2 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  return %13 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @layer_norm_4(%arg0: tensor<2x8xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 1>, eps = 9.99999974E-6 : f32}(%arg0 : tensor<2x8xf32>, %arg1 : tensor<1x8xf32>, %arg2 : tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

// What is no layer norm. Another divisor; a mean over another dimension.

func.func @what_is_no_layer_norm(%x0: tensor<2x8xf32>, %x1: tensor<1x8xf32>, %x2: tensor<1x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<7.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %2 = tensorrt.element_wise <kSUB>(%x0, %1 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.reduce <kSUM> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%3, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.reduce <kSUM> %6 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %8 = tensorrt.element_wise <kDIV>(%7, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %9 = tensorrt.constant dense<1.000000e-05> : tensor<1x1xf32>
  %10 = tensorrt.element_wise <kSUM>(%8, %9 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %10 : tensor<2x1xf32>
  %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %11 : tensor<2x1xf32>
  %13 = tensorrt.element_wise <kPROD>(%2, %12 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %14 = tensorrt.element_wise <kPROD>(%13, %x1 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %15 = tensorrt.element_wise <kSUM>(%14, %x2 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  return %15 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @what_is_no_layer_norm(%arg0: tensor<2x8xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<9.99999974E-6> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<7.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %2 = tensorrt.reduce <kSUM> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kDIV>(%2, %cst_f32_0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%arg0, %3 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %5 = tensorrt.element_wise <kPROD>(%4, %4 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %6 = tensorrt.reduce <kSUM> %5 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
// CHECK-NEXT:    %7 = tensorrt.element_wise <kDIV>(%6, %cst_f32_0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUM>(%7, %cst_f32 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:    %9 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %8 : tensor<2x1xf32>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %9 : tensor<2x1xf32>
// CHECK-NEXT:    %11 = tensorrt.element_wise <kPROD>(%1, %10 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kSUM>(%12, %arg2 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %13 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @what_is_no_layer_norm_2(%x0: tensor<2x8xf32>, %x1: tensor<1x8xf32>, %x2: tensor<1x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 0>} : tensor<2x8xf32> -> tensor<1x8xf32>
  %2 = tensorrt.element_wise <kSUB>(%x0, %1 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.reduce <kSUM> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%3, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.reduce <kSUM> %6 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
  %8 = tensorrt.element_wise <kDIV>(%7, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %9 = tensorrt.constant dense<1.000000e-05> : tensor<1x1xf32>
  %10 = tensorrt.element_wise <kSUM>(%8, %9 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %10 : tensor<2x1xf32>
  %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %11 : tensor<2x1xf32>
  %13 = tensorrt.element_wise <kPROD>(%2, %12 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %14 = tensorrt.element_wise <kPROD>(%13, %x1 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  %15 = tensorrt.element_wise <kSUM>(%14, %x2 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
  return %15 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @what_is_no_layer_norm_2(%arg0: tensor<2x8xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<9.99999974E-6> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {keepDimensions = true, reduceAxes = array<i64: 0>} : tensor<2x8xf32> -> tensor<1x8xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %2 = tensorrt.reduce <kSUM> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kDIV>(%2, %cst_f32_0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%arg0, %3 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %5 = tensorrt.element_wise <kPROD>(%4, %4 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %6 = tensorrt.reduce <kSUM> %5 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x8xf32> -> tensor<2x1xf32>
// CHECK-NEXT:    %7 = tensorrt.element_wise <kDIV>(%6, %cst_f32_0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUM>(%7, %cst_f32 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:    %9 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %8 : tensor<2x1xf32>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %9 : tensor<2x1xf32>
// CHECK-NEXT:    %11 = tensorrt.element_wise <kPROD>(%1, %10 : tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kSUM>(%12, %arg2 : tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %13 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

// Layer norm of unknown size. An average needs no count; a divisor that cannot be compared is not
// believed.

func.func @layer_norm_of_unknown_size(%x0: tensor<2x?xf32>, %x1: tensor<1x?xf32>, %x2: tensor<1x?xf32>) -> tensor<2x?xf32> {
  %0 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x?xf32> -> tensor<2x1xf32>
  %2 = tensorrt.element_wise <kSUB>(%x0, %1 : tensor<2x?xf32>, tensor<2x1xf32>) -> tensor<2x?xf32>
  %3 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x?xf32> -> tensor<2x1xf32>
  %4 = tensorrt.element_wise <kSUB>(%x0, %3 : tensor<2x?xf32>, tensor<2x1xf32>) -> tensor<2x?xf32>
  %5 = tensorrt.element_wise <kPROD>(%4, %4 : tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  %6 = tensorrt.reduce <kAVG> %5 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x?xf32> -> tensor<2x1xf32>
  %7 = tensorrt.constant dense<1.000000e-05> : tensor<1x1xf32>
  %8 = tensorrt.element_wise <kSUM>(%6, %7 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %9 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %8 : tensor<2x1xf32>
  %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %9 : tensor<2x1xf32>
  %11 = tensorrt.element_wise <kPROD>(%2, %10 : tensor<2x?xf32>, tensor<2x1xf32>) -> tensor<2x?xf32>
  %12 = tensorrt.element_wise <kPROD>(%11, %x1 : tensor<2x?xf32>, tensor<1x?xf32>) -> tensor<2x?xf32>
  %13 = tensorrt.element_wise <kSUM>(%12, %x2 : tensor<2x?xf32>, tensor<1x?xf32>) -> tensor<2x?xf32>
  return %13 : tensor<2x?xf32>
}

// CHECK-LABEL: func.func @layer_norm_of_unknown_size(%arg0: tensor<2x?xf32>, %arg1: tensor<1x?xf32>, %arg2: tensor<1x?xf32>) -> tensor<2x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.normalization {axis = array<i64: 1>, eps = 9.99999974E-6 : f32}(%arg0 : tensor<2x?xf32>, %arg1 : tensor<1x?xf32>, %arg2 : tensor<1x?xf32>) -> tensor<2x?xf32>
// CHECK-NEXT:    return %0 : tensor<2x?xf32>
// CHECK-NEXT:  }

// -----

func.func @layer_norm_of_unknown_size_2(%x0: tensor<2x?xf32>, %x1: tensor<1x?xf32>, %x2: tensor<1x?xf32>) -> tensor<2x?xf32> {
  %0 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.reduce <kAVG> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x?xf32> -> tensor<2x1xf32>
  %2 = tensorrt.element_wise <kSUB>(%x0, %1 : tensor<2x?xf32>, tensor<2x1xf32>) -> tensor<2x?xf32>
  %3 = tensorrt.reduce <kSUM> %x0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x?xf32> -> tensor<2x1xf32>
  %4 = tensorrt.element_wise <kDIV>(%3, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %5 = tensorrt.element_wise <kSUB>(%x0, %4 : tensor<2x?xf32>, tensor<2x1xf32>) -> tensor<2x?xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %5 : tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  %7 = tensorrt.reduce <kSUM> %6 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x?xf32> -> tensor<2x1xf32>
  %8 = tensorrt.element_wise <kDIV>(%7, %0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %9 = tensorrt.constant dense<1.000000e-05> : tensor<1x1xf32>
  %10 = tensorrt.element_wise <kSUM>(%8, %9 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
  %11 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %10 : tensor<2x1xf32>
  %12 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %11 : tensor<2x1xf32>
  %13 = tensorrt.element_wise <kPROD>(%2, %12 : tensor<2x?xf32>, tensor<2x1xf32>) -> tensor<2x?xf32>
  %14 = tensorrt.element_wise <kPROD>(%13, %x1 : tensor<2x?xf32>, tensor<1x?xf32>) -> tensor<2x?xf32>
  %15 = tensorrt.element_wise <kSUM>(%14, %x2 : tensor<2x?xf32>, tensor<1x?xf32>) -> tensor<2x?xf32>
  return %15 : tensor<2x?xf32>
}

// CHECK-LABEL: func.func @layer_norm_of_unknown_size_2(%arg0: tensor<2x?xf32>, %arg1: tensor<1x?xf32>, %arg2: tensor<1x?xf32>) -> tensor<2x?xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<9.99999974E-6> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<8.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.reduce <kAVG> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x?xf32> -> tensor<2x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg0, %0 : tensor<2x?xf32>, tensor<2x1xf32>) -> tensor<2x?xf32>
// CHECK-NEXT:    %2 = tensorrt.reduce <kSUM> %arg0 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x?xf32> -> tensor<2x1xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kDIV>(%2, %cst_f32_0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUB>(%arg0, %3 : tensor<2x?xf32>, tensor<2x1xf32>) -> tensor<2x?xf32>
// CHECK-NEXT:    %5 = tensorrt.element_wise <kPROD>(%4, %4 : tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
// CHECK-NEXT:    %6 = tensorrt.reduce <kSUM> %5 {keepDimensions = true, reduceAxes = array<i64: 1>} : tensor<2x?xf32> -> tensor<2x1xf32>
// CHECK-NEXT:    %7 = tensorrt.element_wise <kDIV>(%6, %cst_f32_0 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kSUM>(%7, %cst_f32 : tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
// CHECK-NEXT:    %9 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kRECIP>} %8 : tensor<2x1xf32>
// CHECK-NEXT:    %10 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kSQRT>} %9 : tensor<2x1xf32>
// CHECK-NEXT:    %11 = tensorrt.element_wise <kPROD>(%1, %10 : tensor<2x?xf32>, tensor<2x1xf32>) -> tensor<2x?xf32>
// CHECK-NEXT:    %12 = tensorrt.element_wise <kPROD>(%11, %arg1 : tensor<2x?xf32>, tensor<1x?xf32>) -> tensor<2x?xf32>
// CHECK-NEXT:    %13 = tensorrt.element_wise <kSUM>(%12, %arg2 : tensor<2x?xf32>, tensor<1x?xf32>) -> tensor<2x?xf32>
// CHECK-NEXT:    return %13 : tensor<2x?xf32>
// CHECK-NEXT:  }

// -----

// A normalization between casts. It is computed in the type that goes in and comes out; scale and
// bias are cast.

func.func @a_normalization_between_casts(%x: tensor<2x8xf16>, %s: tensor<1x8xf32>, %b: tensor<1x8xf16>) -> tensor<2x8xf16> {
  %0 = tensorrt.cast %x : tensor<2x8xf16> to tensor<2x8xf32>
  %1 = tensorrt.cast %b : tensor<1x8xf16> to tensor<1x8xf32>
  %2 = tensorrt.normalization {axis = array<i64: 1>, eps = 1.0e-3 : f32}
    (%0 : tensor<2x8xf32>, %s : tensor<1x8xf32>, %1 : tensor<1x8xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.cast %2 : tensor<2x8xf32> to tensor<2x8xf16>
  return %3 : tensor<2x8xf16>
}

// CHECK-LABEL: func.func @a_normalization_between_casts(%arg0: tensor<2x8xf16>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf16>) -> tensor<2x8xf16> {
// CHECK-NEXT:    %0 = tensorrt.cast %arg2 : tensor<1x8xf16> to tensor<1x8xf32>
// CHECK-NEXT:    %1 = tensorrt.cast %arg1 : tensor<1x8xf32> to tensor<1x8xf16>
// CHECK-NEXT:    %2 = tensorrt.cast %0 : tensor<1x8xf32> to tensor<1x8xf16>
// CHECK-NEXT:    %3 = tensorrt.normalization {axis = array<i64: 1>, eps = 1.000000e-03 : f32}(%arg0 : tensor<2x8xf16>, %1 : tensor<1x8xf16>, %2 : tensor<1x8xf16>) -> tensor<2x8xf16>
// CHECK-NEXT:    return %3 : tensor<2x8xf16>
// CHECK-NEXT:  }

// -----

// A normalization to another type stays. What comes out differs from what goes in.

func.func @a_normalization_to_another_type_stays(%x: tensor<2x8xf16>, %s: tensor<1x8xf32>, %b: tensor<1x8xf16>) -> tensor<2x8xbf16> {
  %0 = tensorrt.cast %x : tensor<2x8xf16> to tensor<2x8xf32>
  %1 = tensorrt.cast %b : tensor<1x8xf16> to tensor<1x8xf32>
  %2 = tensorrt.normalization {axis = array<i64: 1>, eps = 1.0e-3 : f32}
    (%0 : tensor<2x8xf32>, %s : tensor<1x8xf32>, %1 : tensor<1x8xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.cast %2 : tensor<2x8xf32> to tensor<2x8xbf16>
  return %3 : tensor<2x8xbf16>
}

// CHECK-LABEL: func.func @a_normalization_to_another_type_stays(%arg0: tensor<2x8xf16>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf16>) -> tensor<2x8xbf16> {
// CHECK-NEXT:    %0 = tensorrt.cast %arg0 : tensor<2x8xf16> to tensor<2x8xf32>
// CHECK-NEXT:    %1 = tensorrt.cast %arg2 : tensor<1x8xf16> to tensor<1x8xf32>
// CHECK-NEXT:    %2 = tensorrt.normalization {axis = array<i64: 1>, eps = 1.000000e-03 : f32}(%0 : tensor<2x8xf32>, %arg1 : tensor<1x8xf32>, %1 : tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %3 = tensorrt.cast %2 : tensor<2x8xf32> to tensor<2x8xbf16>
// CHECK-NEXT:    return %3 : tensor<2x8xbf16>
// CHECK-NEXT:  }

// -----

func.func @a_normalization_to_another_type_stays_2(%x: tensor<2x8xf16>, %s: tensor<1x8xf32>, %b: tensor<1x8xf16>) -> tensor<2x8xi32> {
  %0 = tensorrt.cast %x : tensor<2x8xf16> to tensor<2x8xf32>
  %1 = tensorrt.cast %b : tensor<1x8xf16> to tensor<1x8xf32>
  %2 = tensorrt.normalization {axis = array<i64: 1>, eps = 1.0e-3 : f32}
    (%0 : tensor<2x8xf32>, %s : tensor<1x8xf32>, %1 : tensor<1x8xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.cast %2 : tensor<2x8xf32> to tensor<2x8xi32>
  return %3 : tensor<2x8xi32>
}

// CHECK-LABEL: func.func @a_normalization_to_another_type_stays_2(%arg0: tensor<2x8xf16>, %arg1: tensor<1x8xf32>, %arg2: tensor<1x8xf16>) -> tensor<2x8xi32> {
// CHECK-NEXT:    %0 = tensorrt.cast %arg0 : tensor<2x8xf16> to tensor<2x8xf32>
// CHECK-NEXT:    %1 = tensorrt.cast %arg2 : tensor<1x8xf16> to tensor<1x8xf32>
// CHECK-NEXT:    %2 = tensorrt.normalization {axis = array<i64: 1>, eps = 1.000000e-03 : f32}(%0 : tensor<2x8xf32>, %arg1 : tensor<1x8xf32>, %1 : tensor<1x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %3 = tensorrt.cast %2 : tensor<2x8xf32> to tensor<2x8xi32>
// CHECK-NEXT:    return %3 : tensor<2x8xi32>
// CHECK-NEXT:  }
