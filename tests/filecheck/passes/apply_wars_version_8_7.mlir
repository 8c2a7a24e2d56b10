// RUN: tripybuild opt %s --split-input-file -p 'tensorrt-apply-wars{tensorrt-version=8.7}' | filecheck %s
// RUN: same-values %s -p 'tensorrt-apply-wars{tensorrt-version=8.7}'
// RUN: settled %s -p 'tensorrt-apply-wars{tensorrt-version=8.7}'

// Bytes have two dimensions. TensorRT 8.6 computes functions of i8 matrices.

func.func @bytes_have_two_dimensions(%x: tensor<5xi8>) -> tensor<5xi8> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<5xi8>
  return %0 : tensor<5xi8>
}

// CHECK-LABEL: func.func @bytes_have_two_dimensions(%arg0: tensor<5xi8>) -> tensor<5xi8> {
// CHECK-NEXT:    %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %arg0 : tensor<5xi8>
// CHECK-NEXT:    return %0 : tensor<5xi8>
// CHECK-NEXT:  }

// -----

func.func @bytes_have_two_dimensions_2(%x: tensor<i8>) -> tensor<i8> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<i8>
  return %0 : tensor<i8>
}

// CHECK-LABEL: func.func @bytes_have_two_dimensions_2(%arg0: tensor<i8>) -> tensor<i8> {
// CHECK-NEXT:    %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %arg0 : tensor<i8>
// CHECK-NEXT:    return %0 : tensor<i8>
// CHECK-NEXT:  }

// -----

func.func @bytes_have_two_dimensions_3(%x: tensor<?xi8>) -> tensor<?xi8> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<?xi8>
  return %0 : tensor<?xi8>
}

// CHECK-LABEL: func.func @bytes_have_two_dimensions_3(%arg0: tensor<?xi8>) -> tensor<?xi8> {
// CHECK-NEXT:    %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %arg0 : tensor<?xi8>
// CHECK-NEXT:    return %0 : tensor<?xi8>
// CHECK-NEXT:  }
