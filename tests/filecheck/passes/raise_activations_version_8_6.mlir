// RUN: tripybuild opt %s --split-input-file -p 'tensorrt-raise-activations{target-tensorrt-version=8.6}' | filecheck %s
// RUN: same-values %s -p 'tensorrt-raise-activations{target-tensorrt-version=8.6}'
// RUN: settled %s -p 'tensorrt-raise-activations{target-tensorrt-version=8.6}'

// Older releases have no gelu. Version 9 is given the parts; clips are raised for all versions.

func.func @older_releases_have_no_gelu(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<-1.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kMAX>(%x0, %0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kMIN>(%2, %1 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @older_releases_have_no_gelu(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kCLIP>, alpha = -1.000000e+00 : f32, beta = 1.000000e+00 : f32} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }
