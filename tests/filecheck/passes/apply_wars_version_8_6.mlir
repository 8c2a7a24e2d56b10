// RUN: tripybuild opt %s --split-input-file -p 'tensorrt-apply-wars{tensorrt-version=8.6}' | filecheck %s
// RUN: same-values %s -p 'tensorrt-apply-wars{tensorrt-version=8.6}'
// RUN: settled %s -p 'tensorrt-apply-wars{tensorrt-version=8.6}'

// Bytes have two dimensions. TensorRT 8.6 computes functions of i8 matrices.

func.func @bytes_have_two_dimensions(%x: tensor<5xi8>) -> tensor<5xi8> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<5xi8>
  return %0 : tensor<5xi8>
}

// CHECK-LABEL: func.func @bytes_have_two_dimensions(%arg0: tensor<5xi8>) -> tensor<5xi8> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<5xi8> to tensor<1x5xi8>
// CHECK-NEXT:    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<1x5xi8>
// CHECK-NEXT:    %2 = tensorrt.collapse_rank %1 : tensor<1x5xi8> to tensor<5xi8>
// CHECK-NEXT:    return %2 : tensor<5xi8>
// CHECK-NEXT:  }

// -----

func.func @bytes_have_two_dimensions_2(%x: tensor<i8>) -> tensor<i8> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<i8>
  return %0 : tensor<i8>
}

// CHECK-LABEL: func.func @bytes_have_two_dimensions_2(%arg0: tensor<i8>) -> tensor<i8> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<i8> to tensor<1x1xi8>
// CHECK-NEXT:    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<1x1xi8>
// CHECK-NEXT:    %2 = tensorrt.collapse_rank %1 : tensor<1x1xi8> to tensor<i8>
// CHECK-NEXT:    return %2 : tensor<i8>
// CHECK-NEXT:  }

// -----

func.func @bytes_have_two_dimensions_3(%x: tensor<?xi8>) -> tensor<?xi8> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %x : tensor<?xi8>
  return %0 : tensor<?xi8>
}

// CHECK-LABEL: func.func @bytes_have_two_dimensions_3(%arg0: tensor<?xi8>) -> tensor<?xi8> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<?xi8> to tensor<1x?xi8>
// CHECK-NEXT:    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<1x?xi8>
// CHECK-NEXT:    %2 = tensorrt.collapse_rank %1 : tensor<1x?xi8> to tensor<?xi8>
// CHECK-NEXT:    return %2 : tensor<?xi8>
// CHECK-NEXT:  }
