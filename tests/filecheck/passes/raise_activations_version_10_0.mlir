// RUN: tripybuild opt %s --split-input-file -p 'tensorrt-raise-activations{target-tensorrt-version=10.0}' | filecheck %s
// RUN: same-values %s -p 'tensorrt-raise-activations{target-tensorrt-version=10.0}'
// RUN: settled %s -p 'tensorrt-raise-activations{target-tensorrt-version=10.0}'

// Older releases have no gelu. Version 9 is given the parts; clips are raised for all versions.

func.func @older_releases_have_no_gelu(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<7.071068e-01> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kPROD>(%x0, %0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kERF>} %1 : tensor<2x8xf32>
  %3 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %4 = tensorrt.element_wise <kSUM>(%2, %3 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%4, %5 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.element_wise <kPROD>(%x0, %6 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %7 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @older_releases_have_no_gelu(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_ERF>} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }
