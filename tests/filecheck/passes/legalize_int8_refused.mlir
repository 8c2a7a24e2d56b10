// RUN: tripybuild opt %s --verify-diagnostics -p tensorrt-legalize-int8

// The elements of other resources are not in the text, so they cannot be converted.

func.func @resources(%x: tensor<2xi8>) -> tensor<2xi8> {
  %c = tensorrt.constant dense_resource<w> : tensor<2xi8> // expected-error {{failed to convert value to i32 tensor}}
  %0 = tensorrt.element_wise <kMAX>(%x, %c : tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}
