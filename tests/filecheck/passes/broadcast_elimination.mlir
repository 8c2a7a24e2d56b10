// RUN: tripybuild opt %s --split-input-file -p tensorrt-broadcast-elimination | filecheck %s
// RUN: same-values %s -p tensorrt-broadcast-elimination
// RUN: settled %s -p tensorrt-broadcast-elimination

// The form is mlir tensorrts.

// A broadcast that adds dimensions adds them before it is pushed.

func.func @a_broadcast_that_adds_dimensions_adds_them_before_it_is_push(%x: tensor<3xf32>) -> tensor<4x3xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<2> : tensor<3xf32> to tensor<1x4x3xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x4x3xf32> to tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @a_broadcast_that_adds_dimensions_adds_them_before_it_is_push(%arg0: tensor<3xf32>) -> tensor<4x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<3xf32> to tensor<1x1x3xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %0 : tensor<1x1x3xf32> to tensor<1x3xf32>
// CHECK-NEXT:    %2 = tensorrt.broadcast %1 broadcast_dims<0, 1> : tensor<1x3xf32> to tensor<4x3xf32>
// CHECK-NEXT:    return %2 : tensor<4x3xf32>
// CHECK-NEXT:  }

// -----

// A reshape of a constant is a constant where reshapes are canonical. That is a pattern of
// `reshape`, which not every pass has, and no folder.

func.func @a_reshape_of_a_constant_is_a_constant_where_reshapes_are_can() -> tensor<2x3xi32> {
  %c = tensorrt.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %0 = tensorrt.reshape %c : tensor<6xi32> to tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @a_reshape_of_a_constant_is_a_constant_where_reshapes_are_can() -> tensor<2x3xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<{{\[\[}}1, 2, 3], [4, 5, 6{{\]\]}}> : tensor<2x3xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<2x3xi32>
// CHECK-NEXT:  }

// -----

// What was broadcast is taken in, or the broadcast is closer to what may take it in.

// Element_wise takes in the first operand.

func.func @element_wise_takes_in_the_first_operand(%x: tensor<1x10xf32>, %y: tensor<5x10xf32>) -> tensor<5x10xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
  %1 = tensorrt.element_wise <kSUB>(%0, %y : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
  return %1 : tensor<5x10xf32>
}

// CHECK-LABEL: func.func @element_wise_takes_in_the_first_operand(%arg0: tensor<1x10xf32>, %arg1: tensor<5x10xf32>) -> tensor<5x10xf32> {
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUB>(%arg0, %arg1 : tensor<1x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
// CHECK-NEXT:    return %0 : tensor<5x10xf32>
// CHECK-NEXT:  }

// -----

// Element_wise takes in both, each in its own dimension.

func.func @element_wise_takes_in_both_each_in_its_own_dimension(%x: tensor<1x10xf32>, %y: tensor<5x1xf32>) -> tensor<5x10xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
  %1 = tensorrt.broadcast %y broadcast_dims<0, 1> : tensor<5x1xf32> to tensor<5x10xf32>
  %2 = tensorrt.element_wise <kDIV>(%0, %1 : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
  return %2 : tensor<5x10xf32>
}

// CHECK-LABEL: func.func @element_wise_takes_in_both_each_in_its_own_dimension(%arg0: tensor<1x10xf32>, %arg1: tensor<5x1xf32>) -> tensor<5x10xf32> {
// CHECK-NEXT:    %0 = tensorrt.element_wise <kDIV>(%arg0, %arg1 : tensor<1x10xf32>, tensor<5x1xf32>) -> tensor<5x10xf32>
// CHECK-NEXT:    return %0 : tensor<5x10xf32>
// CHECK-NEXT:  }

// -----

// A broadcast of dimensions in another order is a transpose first.

func.func @a_broadcast_of_dimensions_in_another_order_is_a_transpose_fi(%x: tensor<10x5xf32>, %y: tensor<5x10xf32>) -> tensor<5x10xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<1, 0> : tensor<10x5xf32> to tensor<5x10xf32>
  %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
  return %1 : tensor<5x10xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @a_broadcast_of_dimensions_in_another_order_is_a_transpose_fi(%arg0: tensor<10x5xf32>, %arg1: tensor<5x10xf32>) -> tensor<5x10xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<10x5xf32> to tensor<5x10xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0, %arg1 : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
// CHECK-NEXT:    return %1 : tensor<5x10xf32>
// CHECK-NEXT:  }

// -----

// A broadcast that adds dimensions is an expand_rank first.

func.func @a_broadcast_that_adds_dimensions_is_an_expand_rank_first(%x: tensor<10xf32>, %y: tensor<5x10x2xf32>) -> tensor<5x10x2xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<1> : tensor<10xf32> to tensor<5x10x2xf32>
  %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<5x10x2xf32>, tensor<5x10x2xf32>) -> tensor<5x10x2xf32>
  return %1 : tensor<5x10x2xf32>
}

// CHECK-LABEL: func.func @a_broadcast_that_adds_dimensions_is_an_expand_rank_first(%arg0: tensor<10xf32>, %arg1: tensor<5x10x2xf32>) -> tensor<5x10x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<10xf32> to tensor<1x10x1xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0, %arg1 : tensor<1x10x1xf32>, tensor<5x10x2xf32>) -> tensor<5x10x2xf32>
// CHECK-NEXT:    return %1 : tensor<5x10x2xf32>
// CHECK-NEXT:  }

// -----

// A scalar, too.

func.func @a_scalar_too(%x: tensor<f32>) -> tensor<2x3xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<> : tensor<f32> to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @a_scalar_too(%arg0: tensor<f32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<f32> to tensor<1x1xf32>
// CHECK-NEXT:    %1 = tensorrt.broadcast %0 broadcast_dims<0, 1> : tensor<1x1xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %1 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

// And dimensions in another order between new ones.

func.func @and_dimensions_in_another_order_between_new_ones(%x: tensor<3x2xf32>) -> tensor<2x4x3xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<2, 0> : tensor<3x2xf32> to tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @and_dimensions_in_another_order_between_new_ones(%arg0: tensor<3x2xf32>) -> tensor<2x4x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<3x2xf32> to tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.expand_rank %0 : tensor<2x3xf32> to tensor<2x1x3xf32>
// CHECK-NEXT:    %2 = tensorrt.broadcast %1 broadcast_dims<0, 1, 2> : tensor<2x1x3xf32> to tensor<2x4x3xf32>
// CHECK-NEXT:    return %2 : tensor<2x4x3xf32>
// CHECK-NEXT:  }

// -----

// Collapse_rank comes first.

func.func @collapse_rank_comes_first(%x: tensor<1x1x10xf32>) -> tensor<7x10xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> : tensor<1x1x10xf32> to tensor<1x7x10xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x7x10xf32> to tensor<7x10xf32>
  return %1 : tensor<7x10xf32>
}

// CHECK-LABEL: func.func @collapse_rank_comes_first(%arg0: tensor<1x1x10xf32>) -> tensor<7x10xf32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<1x1x10xf32> to tensor<1x10xf32>
// CHECK-NEXT:    %1 = tensorrt.broadcast %0 broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<7x10xf32>
// CHECK-NEXT:    return %1 : tensor<7x10xf32>
// CHECK-NEXT:  }

// -----

// Select takes in all three, each brings a size.

func.func @select_takes_in_all_three_each_brings_a_size(%c: tensor<1x1x4xi1>, %x: tensor<1x3x1xf32>, %y: tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
  %0 = tensorrt.broadcast %c broadcast_dims<0, 1, 2> : tensor<1x1x4xi1> to tensor<2x3x4xi1>
  %1 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> : tensor<1x3x1xf32> to tensor<2x3x4xf32>
  %2 = tensorrt.broadcast %y broadcast_dims<0, 1, 2> : tensor<2x1x1xf32> to tensor<2x3x4xf32>
  %3 = tensorrt.select ins(%0, %1, %2 : tensor<2x3x4xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %3 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @select_takes_in_all_three_each_brings_a_size(%arg0: tensor<1x1x4xi1>, %arg1: tensor<1x3x1xf32>, %arg2: tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.select ins(%arg0, %arg1, %arg2 : tensor<1x1x4xi1>, tensor<1x3x1xf32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

// Matrix_multiply takes in the batch of a side.

func.func @matrix_multiply_takes_in_the_batch_of_a_side(%x: tensor<1x2x3xf32>, %y: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> : tensor<1x2x3xf32> to tensor<5x2x3xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %1 : tensor<5x2x4xf32>
}

// CHECK-LABEL: func.func @matrix_multiply_takes_in_the_batch_of_a_side(%arg0: tensor<1x2x3xf32>, %arg1: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %arg1 : tensor<1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT:    return %0 : tensor<5x2x4xf32>
// CHECK-NEXT:  }

// -----

// Of a vector, too.

func.func @of_a_vector_too(%x: tensor<1x3xf32>, %y: tensor<5x3x4xf32>) -> tensor<5x4xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x3xf32> to tensor<5x3xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<5x3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
  return %1 : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @of_a_vector_too(%arg0: tensor<1x3xf32>, %arg1: tensor<5x3x4xf32>) -> tensor<5x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %arg1 : tensor<1x3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT:    return %0 : tensor<5x4xf32>
// CHECK-NEXT:  }

// -----

// Of both sides one stays, which brings the size.

func.func @of_both_sides_one_stays_which_brings_the_size(%x: tensor<1x2x3xf32>, %y: tensor<1x3x4xf32>) -> tensor<5x2x4xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> : tensor<1x2x3xf32> to tensor<5x2x3xf32>
  %1 = tensorrt.broadcast %y broadcast_dims<0, 1, 2> : tensor<1x3x4xf32> to tensor<5x3x4xf32>
  %2 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %1 : tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %2 : tensor<5x2x4xf32>
}

// CHECK-LABEL: func.func @of_both_sides_one_stays_which_brings_the_size(%arg0: tensor<1x2x3xf32>, %arg1: tensor<1x3x4xf32>) -> tensor<5x2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg1 broadcast_dims<0, 1, 2> : tensor<1x3x4xf32> to tensor<5x3x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT:    return %1 : tensor<5x2x4xf32>
// CHECK-NEXT:  }

// -----

// A broadcast that other ops use stays for them.

func.func @a_broadcast_that_other_ops_use_stays_for_them(%x: tensor<1x10xf32>, %y: tensor<5x10xf32>) -> (tensor<5x10xf32>, tensor<5x10xf32>) {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
  %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
  return %0, %1 : tensor<5x10xf32>, tensor<5x10xf32>
}

// CHECK-LABEL: func.func @a_broadcast_that_other_ops_use_stays_for_them(%arg0: tensor<1x10xf32>, %arg1: tensor<5x10xf32>) -> (tensor<5x10xf32>, tensor<5x10xf32>) {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%arg0, %arg1 : tensor<1x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
// CHECK-NEXT:    return %0, %1 : tensor<5x10xf32>, tensor<5x10xf32>
// CHECK-NEXT:  }

// -----

// Where the result would have another size, or nothing is won.

// Collapse_rank to one dimension.

func.func @collapse_rank_to_one_dimension(%x: tensor<1x1xf32>) -> tensor<7xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x1xf32> to tensor<1x7xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x7xf32> to tensor<7xf32>
  return %1 : tensor<7xf32>
}

// CHECK-LABEL: func.func @collapse_rank_to_one_dimension(%arg0: tensor<1x1xf32>) -> tensor<7xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<0, 1> : tensor<1x1xf32> to tensor<1x7xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %0 : tensor<1x7xf32> to tensor<7xf32>
// CHECK-NEXT:    return %1 : tensor<7xf32>
// CHECK-NEXT:  }

// -----

// Both operands would lose the size.

func.func @both_operands_would_lose_the_size(%x: tensor<1x10xf32>, %y: tensor<1x10xf32>) -> tensor<5x10xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
  %1 = tensorrt.broadcast %y broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
  %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
  return %2 : tensor<5x10xf32>
}

// CHECK-LABEL: func.func @both_operands_would_lose_the_size(%arg0: tensor<1x10xf32>, %arg1: tensor<1x10xf32>) -> tensor<5x10xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
// CHECK-NEXT:    %1 = tensorrt.broadcast %arg1 broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
// CHECK-NEXT:    return %2 : tensor<5x10xf32>
// CHECK-NEXT:  }

// -----

// All operands of select would.

func.func @all_operands_of_select_would(%c: tensor<1xi1>, %x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<5xf32> {
  %0 = tensorrt.broadcast %c broadcast_dims<0> : tensor<1xi1> to tensor<5xi1>
  %1 = tensorrt.broadcast %x broadcast_dims<0> : tensor<1xf32> to tensor<5xf32>
  %2 = tensorrt.broadcast %y broadcast_dims<0> : tensor<1xf32> to tensor<5xf32>
  %3 = tensorrt.select ins(%0, %1, %2 : tensor<5xi1>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %3 : tensor<5xf32>
}

// CHECK-LABEL: func.func @all_operands_of_select_would(%arg0: tensor<1xi1>, %arg1: tensor<1xf32>, %arg2: tensor<1xf32>) -> tensor<5xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<0> : tensor<1xi1> to tensor<5xi1>
// CHECK-NEXT:    %1 = tensorrt.broadcast %arg1 broadcast_dims<0> : tensor<1xf32> to tensor<5xf32>
// CHECK-NEXT:    %2 = tensorrt.broadcast %arg2 broadcast_dims<0> : tensor<1xf32> to tensor<5xf32>
// CHECK-NEXT:    %3 = tensorrt.select ins(%0, %1, %2 : tensor<5xi1>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
// CHECK-NEXT:    return %3 : tensor<5xf32>
// CHECK-NEXT:  }

// -----

// A product of matrices does not broadcast them.

func.func @a_product_of_matrices_does_not_broadcast_them(%x: tensor<5x1x3xf32>, %y: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> : tensor<5x1x3xf32> to tensor<5x2x3xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %1 : tensor<5x2x4xf32>
}

// CHECK-LABEL: func.func @a_product_of_matrices_does_not_broadcast_them(%arg0: tensor<5x1x3xf32>, %arg1: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<0, 1, 2> : tensor<5x1x3xf32> to tensor<5x2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
// CHECK-NEXT:    return %1 : tensor<5x2x4xf32>
// CHECK-NEXT:  }

// -----

// Collapse_rank of other dimensions.

func.func @collapse_rank_of_other_dimensions(%x: tensor<1x10xf32>, %y: tensor<1x10xf32>) -> (tensor<5x10xf32>, tensor<10xf32>) {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
  %1 = tensorrt.collapse_rank %y : tensor<1x10xf32> to tensor<10xf32>
  return %0, %1 : tensor<5x10xf32>, tensor<10xf32>
}

// CHECK-LABEL: func.func @collapse_rank_of_other_dimensions(%arg0: tensor<1x10xf32>, %arg1: tensor<1x10xf32>) -> (tensor<5x10xf32>, tensor<10xf32>) {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
// CHECK-NEXT:    %1 = tensorrt.collapse_rank %arg1 : tensor<1x10xf32> to tensor<10xf32>
// CHECK-NEXT:    return %0, %1 : tensor<5x10xf32>, tensor<10xf32>
// CHECK-NEXT:  }

// -----

// Sizes that are known when the function runs: the shape is an input.

// Unknown sizes are believed to agree.

// DYNAMIC: 0=1,4 1=3,1
// VALUES: 2=3,4
func.func @unknown_sizes_are_believed_to_agree(%x: tensor<1x?xf32>, %y: tensor<?x1xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1> shape(%s : tensor<2xi32>) : tensor<1x?xf32> to tensor<?x?xf32>
  %1 = tensorrt.broadcast %y broadcast_dims<0, 1> shape(%s : tensor<2xi32>) : tensor<?x1xf32> to tensor<?x?xf32>
  %2 = tensorrt.element_wise <kSUM>(%0, %1 : tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @unknown_sizes_are_believed_to_agree(%arg0: tensor<1x?xf32>, %arg1: tensor<?x1xf32>, %arg2: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUM>(%arg0, %arg1 : tensor<1x?xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// One unknown size needs no computed shape.

// DYNAMIC: 0=5
// VALUES: 1=2,5,4
func.func @one_unknown_size_needs_no_computed_shape(%x: tensor<?xf32>, %s: tensor<3xi32>) -> tensor<2x?x4xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<1> shape(%s : tensor<3xi32>) : tensor<?xf32> to tensor<2x?x4xf32>
  return %0 : tensor<2x?x4xf32>
}

// CHECK-LABEL: func.func @one_unknown_size_needs_no_computed_shape(%arg0: tensor<?xf32>, %arg1: tensor<3xi32>) -> tensor<2x?x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<?xf32> to tensor<1x?x1xf32>
// CHECK-NEXT:    %1 = tensorrt.broadcast %0 broadcast_dims<0, 1, 2> shape(%arg1 : tensor<3xi32>) : tensor<1x?x1xf32> to tensor<2x?x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x?x4xf32>
// CHECK-NEXT:  }

// -----

// Two do.

// DYNAMIC: 0=3,4,5
// VALUES: 1=3,2,4,5
func.func @two_do(%x: tensor<?x4x?xf32>, %s: tensor<4xi32>) -> tensor<?x2x4x?xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 2, 3> shape(%s : tensor<4xi32>) : tensor<?x4x?xf32> to tensor<?x2x4x?xf32>
  return %0 : tensor<?x2x4x?xf32>
}

// CHECK-LABEL: func.func @two_do(%arg0: tensor<?x4x?xf32>, %arg1: tensor<4xi32>) -> tensor<?x2x4x?xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<4> : tensor<1xi32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<1> : tensor<1xi32>
// CHECK-NEXT:    %0 = tensorrt.shape %arg0 : tensor<?x4x?xf32> -> tensor<3xi32>
// CHECK-NEXT:    %1 = tensorrt.slice %0[0][1][1] : tensor<3xi32> to tensor<1xi32>
// CHECK-NEXT:    %2 = tensorrt.slice %0[2][1][1] : tensor<3xi32> to tensor<1xi32>
// CHECK-NEXT:    %3 = tensorrt.concatenation {axis = 0 : i32} ins(%1, %cst_i32_0, %cst_i32, %2 : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
// CHECK-NEXT:    %4 = tensorrt.reshape %arg0 shape(%3: tensor<4xi32>) : tensor<?x4x?xf32> to tensor<?x1x4x?xf32>
// CHECK-NEXT:    %5 = tensorrt.broadcast %4 broadcast_dims<0, 1, 2, 3> shape(%arg1 : tensor<4xi32>) : tensor<?x1x4x?xf32> to tensor<?x2x4x?xf32>
// CHECK-NEXT:    return %5 : tensor<?x2x4x?xf32>
// CHECK-NEXT:  }

// -----

// A transpose of one unknown size has a reshape after it.

// DYNAMIC: 0=3,4
// VALUES: 1=4,3
func.func @a_transpose_of_one_unknown_size_has_a_reshape_after_it(%x: tensor<?x4xf32>, %s: tensor<2xi32>) -> tensor<4x?xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<1, 0> shape(%s : tensor<2xi32>) : tensor<?x4xf32> to tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @a_transpose_of_one_unknown_size_has_a_reshape_after_it(%arg0: tensor<?x4xf32>, %arg1: tensor<2xi32>) -> tensor<4x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<?x4xf32> to tensor<4x?xf32>
// CHECK-NEXT:    %1 = tensorrt.reshape %0 : tensor<4x?xf32> to tensor<4x?xf32>
// CHECK-NEXT:    %2 = tensorrt.broadcast %1 broadcast_dims<0, 1> shape(%arg1 : tensor<2xi32>) : tensor<4x?xf32> to tensor<4x?xf32>
// CHECK-NEXT:    return %2 : tensor<4x?xf32>
// CHECK-NEXT:  }

// -----

// A transpose of unknown sizes needs no reshape.

// DYNAMIC: 0=4,3
// VALUES: 1=3,4
func.func @a_transpose_of_unknown_sizes_needs_no_reshape(%x: tensor<?x?xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<1, 0> shape(%s : tensor<2xi32>) : tensor<?x?xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @a_transpose_of_unknown_sizes_needs_no_reshape(%arg0: tensor<?x?xf32>, %arg1: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<?x?xf32> to tensor<?x?xf32>
// CHECK-NEXT:    %1 = tensorrt.broadcast %0 broadcast_dims<0, 1> shape(%arg1 : tensor<2xi32>) : tensor<?x?xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %1 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// The shape loses what collapse_rank drops.

// DYNAMIC: 0=1,4
// VALUES: 1=1,3,4
func.func @the_shape_loses_what_collapse_rank_drops(%x: tensor<1x?xf32>, %s: tensor<3xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 2> shape(%s : tensor<3xi32>) : tensor<1x?xf32> to tensor<1x?x?xf32>
  %1 = tensorrt.collapse_rank %0 : tensor<1x?x?xf32> to tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @the_shape_loses_what_collapse_rank_drops(%arg0: tensor<1x?xf32>, %arg1: tensor<3xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[1, 2]> : tensor<2xi32>
// CHECK-NEXT:    %0 = tensorrt.gather {axis = 0 : i64} ins(%arg1, %cst_i32 : tensor<3xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %1 = tensorrt.broadcast %arg0 broadcast_dims<0, 1> shape(%0 : tensor<2xi32>) : tensor<1x?xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %1 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// Where a size that is not known may be a 1 that must be repeated.

// Two ones become an unknown size.

// VALUES: 2=7
func.func @two_ones_become_an_unknown_size(%x: tensor<1xf32>, %y: tensor<1xf32>, %s: tensor<1xi32>) -> tensor<?xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0> shape(%s : tensor<1xi32>) : tensor<1xf32> to tensor<?xf32>
  %1 = tensorrt.broadcast %y broadcast_dims<0> shape(%s : tensor<1xi32>) : tensor<1xf32> to tensor<?xf32>
  %2 = tensorrt.element_wise <kSUM>(%0, %1 : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// CHECK-LABEL: func.func @two_ones_become_an_unknown_size(%arg0: tensor<1xf32>, %arg1: tensor<1xf32>, %arg2: tensor<1xi32>) -> tensor<?xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<0> shape(%arg2 : tensor<1xi32>) : tensor<1xf32> to tensor<?xf32>
// CHECK-NEXT:    %1 = tensorrt.broadcast %arg1 broadcast_dims<0> shape(%arg2 : tensor<1xi32>) : tensor<1xf32> to tensor<?xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%0, %1 : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    return %2 : tensor<?xf32>
// CHECK-NEXT:  }

// -----

// Unknown sizes, one of which may be 1, become a number.

// DYNAMIC: 0=1 1=1
func.func @unknown_sizes_one_of_which_may_be_1_become_a_number(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<7xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0> : tensor<?xf32> to tensor<7xf32>
  %1 = tensorrt.broadcast %y broadcast_dims<0> : tensor<?xf32> to tensor<7xf32>
  %2 = tensorrt.element_wise <kSUM>(%0, %1 : tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  return %2 : tensor<7xf32>
}

// CHECK-LABEL: func.func @unknown_sizes_one_of_which_may_be_1_become_a_number(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) -> tensor<7xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<0> : tensor<?xf32> to tensor<7xf32>
// CHECK-NEXT:    %1 = tensorrt.broadcast %arg1 broadcast_dims<0> : tensor<?xf32> to tensor<7xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%0, %1 : tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
// CHECK-NEXT:    return %2 : tensor<7xf32>
// CHECK-NEXT:  }

// -----

// The matrix of a product is of unknown size.

// DYNAMIC: 0=1,1,3
// VALUES: 2=5,6,3
func.func @the_matrix_of_a_product_is_of_unknown_size(%x: tensor<1x?x3xf32>, %y: tensor<5x3x4xf32>, %s: tensor<3xi32>) -> tensor<5x?x4xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> shape(%s : tensor<3xi32>) : tensor<1x?x3xf32> to tensor<5x?x3xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<5x?x3xf32>, tensor<5x3x4xf32>) -> tensor<5x?x4xf32>
  return %1 : tensor<5x?x4xf32>
}

// CHECK-LABEL: func.func @the_matrix_of_a_product_is_of_unknown_size(%arg0: tensor<1x?x3xf32>, %arg1: tensor<5x3x4xf32>, %arg2: tensor<3xi32>) -> tensor<5x?x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<0, 1, 2> shape(%arg2 : tensor<3xi32>) : tensor<1x?x3xf32> to tensor<5x?x3xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<5x?x3xf32>, tensor<5x3x4xf32>) -> tensor<5x?x4xf32>
// CHECK-NEXT:    return %1 : tensor<5x?x4xf32>
// CHECK-NEXT:  }
