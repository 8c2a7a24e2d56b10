// RUN: tripybuild opt %s --split-input-file -p tensorrt-legalize-int8 | filecheck %s
// RUN: same-values %s -p tensorrt-legalize-int8
// RUN: settled %s -p tensorrt-legalize-int8

// Constants are wider where nothing is quantized. The numbers are the same, as i32, and converted.

func.func @constants_are_wider_where_nothing_is_quantized(%x: tensor<2xi8>) -> tensor<2xi8> {
  %c = tensorrt.constant dense<[-128, 127]> : tensor<2xi8>
  %0 = tensorrt.element_wise <kMAX>(%x, %c : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}

// CHECK-LABEL: func.func @constants_are_wider_where_nothing_is_quantized(%arg0: tensor<2xi8>) -> tensor<2xi8> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[-128, 127]> : tensor<2xi32>
// CHECK-NEXT:    %0 = tensorrt.identity %cst_i32 : tensor<2xi32> to tensor<2xi8>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMAX>(%arg0, %0 : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
// CHECK-NEXT:    return %1 : tensor<2xi8>
// CHECK-NEXT:  }

// -----

// Inputs and results go through floats. `%x` and the first result do; `%y` is dequantized already,
// and constants stay.

func.func @inputs_and_results_go_through_floats(%x: tensor<2x3xi8>, %y: tensor<2x3xi8>) -> (tensor<3x2xi8>, tensor<2x3xf32>) {
  %s = tensorrt.constant dense<0.5> : tensor<f32>
  %c = tensorrt.constant dense<1> : tensor<2x3xi8>
  %0 = tensorrt.transpose {permutation = affine_map<(a, b) -> (b, a)>}
  %x : tensor<2x3xi8> to tensor<3x2xi8>
  %1 = tensorrt.dequantize in(%y : tensor<2x3xi8>) scale(%s : tensor<f32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<3x2xi8>, tensor<2x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @inputs_and_results_go_through_floats(%arg0: tensor<2x3xi8>, %arg1: tensor<2x3xi8>) -> (tensor<3x2xi8>, tensor<2x3xf32>) {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %0 = tensorrt.dequantize in(%arg0 : tensor<2x3xi8>) scale(%cst_f32 : tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.quantize in(%0 : tensor<2x3xf32>) scale(%cst_f32 : tensor<f32>) -> tensor<2x3xi8>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT:    %cst_i8 = tensorrt.constant dense<1> : tensor<2x3xi8>
// CHECK-NEXT:    %2 = tensorrt.transpose {permutation = #map} %1 : tensor<2x3xi8> to tensor<3x2xi8>
// CHECK-NEXT:    %3 = tensorrt.dequantize in(%arg1 : tensor<2x3xi8>) scale(%cst_f32_0 : tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %4 = tensorrt.dequantize in(%2 : tensor<3x2xi8>) scale(%cst_f32_1 : tensor<f32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %5 = tensorrt.quantize in(%4 : tensor<3x2xf32>) scale(%cst_f32_1 : tensor<f32>) -> tensor<3x2xi8>
// CHECK-NEXT:    return %5, %3 : tensor<3x2xi8>, tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

// What is quantized at the end stays. A result of `quantize` needs nothing; a value that is returned
// twice is treated once.

func.func @what_is_quantized_at_the_end_stays(%x: tensor<2xf32>) -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>) {
  %s = tensorrt.constant dense<0.5> : tensor<f32>
  %0 = tensorrt.quantize in(%x : tensor<2xf32>) scale(%s : tensor<f32>) -> tensor<2xi8>
  %1 = tensorrt.element_wise <kMAX>(%0, %0 : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0, %1, %1 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8>
}

// CHECK-LABEL: func.func @what_is_quantized_at_the_end_stays(%arg0: tensor<2xf32>) -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>) {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT:    %0 = tensorrt.quantize in(%arg0 : tensor<2xf32>) scale(%cst_f32 : tensor<f32>) -> tensor<2xi8>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMAX>(%0, %0 : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %2 = tensorrt.dequantize in(%1 : tensor<2xi8>) scale(%cst_f32_0 : tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:    %3 = tensorrt.quantize in(%2 : tensor<2xf32>) scale(%cst_f32_0 : tensor<f32>) -> tensor<2xi8>
// CHECK-NEXT:    return %0, %3, %3 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8>
// CHECK-NEXT:  }

// -----

// Functions are apart. One function's quantization says nothing about another's constants.

func.func @other(%x: tensor<2xi8>) -> tensor<2xi8> {
  %c = tensorrt.constant dense<[-128, 127]> : tensor<2xi8>
  %0 = tensorrt.element_wise <kMAX>(%x, %c : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}
func.func @functions_are_apart(%x: tensor<2x3xi8>, %y: tensor<2x3xi8>) -> (tensor<3x2xi8>, tensor<2x3xf32>) {
  %s = tensorrt.constant dense<0.5> : tensor<f32>
  %c = tensorrt.constant dense<1> : tensor<2x3xi8>
  %0 = tensorrt.transpose {permutation = affine_map<(a, b) -> (b, a)>}
  %x : tensor<2x3xi8> to tensor<3x2xi8>
  %1 = tensorrt.dequantize in(%y : tensor<2x3xi8>) scale(%s : tensor<f32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<3x2xi8>, tensor<2x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @other(%arg0: tensor<2xi8>) -> tensor<2xi8> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[-128, 127]> : tensor<2xi32>
// CHECK-NEXT:    %0 = tensorrt.identity %cst_i32 : tensor<2xi32> to tensor<2xi8>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMAX>(%arg0, %0 : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
// CHECK-NEXT:    return %1 : tensor<2xi8>
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @functions_are_apart(%arg0: tensor<2x3xi8>, %arg1: tensor<2x3xi8>) -> (tensor<3x2xi8>, tensor<2x3xf32>) {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %0 = tensorrt.dequantize in(%arg0 : tensor<2x3xi8>) scale(%cst_f32 : tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.quantize in(%0 : tensor<2x3xf32>) scale(%cst_f32 : tensor<f32>) -> tensor<2x3xi8>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT:    %cst_i8 = tensorrt.constant dense<1> : tensor<2x3xi8>
// CHECK-NEXT:    %2 = tensorrt.transpose {permutation = #map} %1 : tensor<2x3xi8> to tensor<3x2xi8>
// CHECK-NEXT:    %3 = tensorrt.dequantize in(%arg1 : tensor<2x3xi8>) scale(%cst_f32_0 : tensor<f32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %4 = tensorrt.dequantize in(%2 : tensor<3x2xi8>) scale(%cst_f32_1 : tensor<f32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %5 = tensorrt.quantize in(%4 : tensor<3x2xf32>) scale(%cst_f32_1 : tensor<f32>) -> tensor<3x2xi8>
// CHECK-NEXT:    return %5, %3 : tensor<3x2xi8>, tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

// Other types stay. There is nothing to do.

func.func @other_types_stay() -> tensor<2xi32> {
  %c = tensorrt.constant dense<0> : tensor<2xi32>
  return %c : tensor<2xi32>
}

// CHECK-LABEL: func.func @other_types_stay() -> tensor<2xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<2xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<2xi32>
// CHECK-NEXT:  }

// -----

func.func @other_types_stay_2() -> tensor<2xf32> {
  %c = tensorrt.constant dense<0.0> : tensor<2xf32>
  return %c : tensor<2xf32>
}

// CHECK-LABEL: func.func @other_types_stay_2() -> tensor<2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

func.func @other_types_stay_3() -> tensor<2xi1> {
  %c = tensorrt.constant dense<0> : tensor<2xi1>
  return %c : tensor<2xi1>
}

// CHECK-LABEL: func.func @other_types_stay_3() -> tensor<2xi1> {
// CHECK-NEXT:    %cst_i1 = tensorrt.constant dense<false> : tensor<2xi1>
// CHECK-NEXT:    return %cst_i1 : tensor<2xi1>
// CHECK-NEXT:  }

// -----

// Declarations have nothing to do. A function without a body.

func.func private @declarations_have_nothing_to_do(tensor<2xi8>) -> tensor<2xi8>

// CHECK-LABEL: func.func private @declarations_have_nothing_to_do(tensor<2xi8>) -> tensor<2xi8>

// -----

// A text that leaves elements out says so still.

// UNEVALUATED
func.func @elided_constants_are_wider_too(%x: tensor<2xi8>) -> tensor<2xi8> {
  %c = tensorrt.constant dense_resource<__elided__> : tensor<2xi8>
  %0 = tensorrt.element_wise <kMAX>(%x, %c : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}

// CHECK-LABEL: func.func @elided_constants_are_wider_too
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense_resource<__elided__> : tensor<2xi32>
// CHECK-NEXT:    %0 = tensorrt.identity %cst_i32 : tensor<2xi32> to tensor<2xi8>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMAX>(%arg0, %0 : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
// CHECK-NEXT:    return %1 : tensor<2xi8>
// CHECK-NEXT:  }
