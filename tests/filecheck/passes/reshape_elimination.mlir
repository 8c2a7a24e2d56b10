// RUN: tripybuild opt %s --split-input-file -p tensorrt-reshape-elimination | filecheck %s
// RUN: same-values %s -p tensorrt-reshape-elimination
// RUN: settled %s -p tensorrt-reshape-elimination

// The form is mlir tensorrts.

// The last reshape is looked at before the first becomes another op.

func.func @the_last_reshape_is_looked_at_before_the_first_becomes_anoth(%x: tensor<2x1x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x1x4xf32> {
  %0 = tensorrt.reshape %x : tensor<2x1x3xf32> to tensor<2x3xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = tensorrt.reshape %1 : tensor<2x4xf32> to tensor<2x1x4xf32>
  return %2 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @the_last_reshape_is_looked_at_before_the_first_becomes_anoth(%arg0: tensor<2x1x3xf32>, %arg1: tensor<3x4xf32>) -> tensor<2x1x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg1 : tensor<3x4xf32> to tensor<1x3x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<2x1x3xf32>, tensor<1x3x4xf32>) -> tensor<2x1x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x1x4xf32>
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

// The product has the dimensions that the reshapes took away and gave back.

// Rows are merged and split again.

func.func @rows_are_merged_and_split_again(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @rows_are_merged_and_split_again(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg1 : tensor<4x5xf32> to tensor<1x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x5xf32>
// CHECK-NEXT:  }

// -----

// Rows, behind a batch of both sides.

func.func @rows_behind_a_batch_of_both_sides(%x: tensor<7x2x3x4xf32>, %y: tensor<7x4x5xf32>) -> tensor<7x2x3x5xf32> {
  %0 = tensorrt.reshape %x : tensor<7x2x3x4xf32> to tensor<7x6x4xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<7x6x4xf32>, tensor<7x4x5xf32>) -> tensor<7x6x5xf32>
  %2 = tensorrt.reshape %1 : tensor<7x6x5xf32> to tensor<7x2x3x5xf32>
  return %2 : tensor<7x2x3x5xf32>
}

// CHECK-LABEL: func.func @rows_behind_a_batch_of_both_sides(%arg0: tensor<7x2x3x4xf32>, %arg1: tensor<7x4x5xf32>) -> tensor<7x2x3x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg1 : tensor<7x4x5xf32> to tensor<7x1x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<7x2x3x4xf32>, tensor<7x1x4x5xf32>) -> tensor<7x2x3x5xf32>
// CHECK-NEXT:    return %1 : tensor<7x2x3x5xf32>
// CHECK-NEXT:  }

// -----

// Rows, of a product with columns of unknown number.

func.func @rows_of_a_product_with_columns_of_unknown_number(%x: tensor<2x3x4xf32>, %y: tensor<4x?xf32>) -> tensor<2x3x?xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<6x4xf32>, tensor<4x?xf32>) -> tensor<6x?xf32>
  %2 = tensorrt.reshape %1 : tensor<6x?xf32> to tensor<2x3x?xf32>
  return %2 : tensor<2x3x?xf32>
}

// CHECK-LABEL: func.func @rows_of_a_product_with_columns_of_unknown_number(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4x?xf32>) -> tensor<2x3x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg1 : tensor<4x?xf32> to tensor<1x4x?xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<2x3x4xf32>, tensor<1x4x?xf32>) -> tensor<2x3x?xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x?xf32>
// CHECK-NEXT:  }

// -----

// The batch of the right side is merged and split again.

func.func @the_batch_of_the_right_side_is_merged_and_split_again(%x: tensor<6x5x4xf32>, %y: tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = tensorrt.reshape %y : tensor<2x3x4x7xf32> to tensor<6x4x7xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%x, %0 : tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %2 = tensorrt.reshape %1 : tensor<6x5x7xf32> to tensor<2x3x5x7xf32>
  return %2 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @the_batch_of_the_right_side_is_merged_and_split_again(%arg0: tensor<6x5x4xf32>, %arg1: tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<6x5x4xf32> to tensor<2x3x5x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x5x7xf32>
// CHECK-NEXT:  }

// -----

// The batch of the right side, which the left one has not.

func.func @the_batch_of_the_right_side_which_the_left_one_has_not(%x: tensor<1x5x4xf32>, %y: tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32> {
  %0 = tensorrt.reshape %y : tensor<2x3x4x7xf32> to tensor<6x4x7xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%x, %0 : tensor<1x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %2 = tensorrt.reshape %1 : tensor<6x5x7xf32> to tensor<2x3x5x7xf32>
  return %2 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @the_batch_of_the_right_side_which_the_left_one_has_not(%arg0: tensor<1x5x4xf32>, %arg1: tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<1x5x4xf32> to tensor<1x1x5x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<1x1x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x5x7xf32>
// CHECK-NEXT:  }

// -----

// The batch, of a product with rows of unknown number.

func.func @the_batch_of_a_product_with_rows_of_unknown_number(%x: tensor<6x?x4xf32>, %y: tensor<2x3x4x7xf32>) -> tensor<2x3x?x7xf32> {
  %0 = tensorrt.reshape %y : tensor<2x3x4x7xf32> to tensor<6x4x7xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%x, %0 : tensor<6x?x4xf32>, tensor<6x4x7xf32>) -> tensor<6x?x7xf32>
  %2 = tensorrt.reshape %1 : tensor<6x?x7xf32> to tensor<2x3x?x7xf32>
  return %2 : tensor<2x3x?x7xf32>
}

// CHECK-LABEL: func.func @the_batch_of_a_product_with_rows_of_unknown_number(%arg0: tensor<6x?x4xf32>, %arg1: tensor<2x3x4x7xf32>) -> tensor<2x3x?x7xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<6x?x4xf32> to tensor<2x3x?x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<2x3x?x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x?x7xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x?x7xf32>
// CHECK-NEXT:  }

// -----

// Two reshapes are one.

func.func @two_reshapes_are_one(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<3x8xf32>
  %1 = tensorrt.reshape %0 : tensor<3x8xf32> to tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @two_reshapes_are_one(%arg0: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<4x6xf32>
// CHECK-NEXT:    return %0 : tensor<4x6xf32>
// CHECK-NEXT:  }

// -----

// Where the product would be another one, or nobody knows.

// The dimension that is summed is merged.

func.func @the_dimension_that_is_summed_is_merged(%x: tensor<2x3x4xf32>, %y: tensor<12x5xf32>) -> tensor<2x1x5xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<2x12xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<2x12xf32>, tensor<12x5xf32>) -> tensor<2x5xf32>
  %2 = tensorrt.expand_rank %1 : tensor<2x5xf32> to tensor<2x1x5xf32>
  return %2 : tensor<2x1x5xf32>
}

// CHECK-LABEL: func.func @the_dimension_that_is_summed_is_merged(%arg0: tensor<2x3x4xf32>, %arg1: tensor<12x5xf32>) -> tensor<2x1x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<2x12xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<2x12xf32>, tensor<12x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT:    %2 = tensorrt.expand_rank %1 : tensor<2x5xf32> to tensor<2x1x5xf32>
// CHECK-NEXT:    return %2 : tensor<2x1x5xf32>
// CHECK-NEXT:  }

// -----

// Rows are split in another way.

func.func @rows_are_split_in_another_way(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<3x2x5xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<3x2x5xf32>
  return %2 : tensor<3x2x5xf32>
}

// CHECK-LABEL: func.func @rows_are_split_in_another_way(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4x5xf32>) -> tensor<3x2x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<6x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<3x2x5xf32>
// CHECK-NEXT:    return %2 : tensor<3x2x5xf32>
// CHECK-NEXT:  }

// -----

// Rows change places with a batch of both sides.

func.func @rows_change_places_with_a_batch_of_both_sides(%x: tensor<2x3x4x5xf32>, %y: tensor<6x5x7xf32>) -> tensor<2x3x4x7xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4x5xf32> to tensor<6x4x5xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<6x4x5xf32>, tensor<6x5x7xf32>) -> tensor<6x4x7xf32>
  %2 = tensorrt.reshape %1 : tensor<6x4x7xf32> to tensor<2x3x4x7xf32>
  return %2 : tensor<2x3x4x7xf32>
}

// CHECK-LABEL: func.func @rows_change_places_with_a_batch_of_both_sides(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<6x5x7xf32>) -> tensor<2x3x4x7xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4x5xf32> to tensor<6x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<6x4x5xf32>, tensor<6x5x7xf32>) -> tensor<6x4x7xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<6x4x7xf32> to tensor<2x3x4x7xf32>
// CHECK-NEXT:    return %2 : tensor<2x3x4x7xf32>
// CHECK-NEXT:  }

// -----

// Only the batch is merged.

func.func @only_the_batch_is_merged(%x: tensor<2x3x4x5xf32>, %y: tensor<1x5x7xf32>) -> tensor<2x3x4x7xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4x5xf32> to tensor<6x4x5xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<6x4x5xf32>, tensor<1x5x7xf32>) -> tensor<6x4x7xf32>
  %2 = tensorrt.reshape %1 : tensor<6x4x7xf32> to tensor<2x3x4x7xf32>
  return %2 : tensor<2x3x4x7xf32>
}

// CHECK-LABEL: func.func @only_the_batch_is_merged(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<1x5x7xf32>) -> tensor<2x3x4x7xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4x5xf32> to tensor<6x4x5xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<6x4x5xf32>, tensor<1x5x7xf32>) -> tensor<6x4x7xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<6x4x7xf32> to tensor<2x3x4x7xf32>
// CHECK-NEXT:    return %2 : tensor<2x3x4x7xf32>
// CHECK-NEXT:  }

// -----

// Rows are torn apart by a batch of both sides.

func.func @rows_are_torn_apart_by_a_batch_of_both_sides(%x: tensor<2x6x4x5xf32>, %y: tensor<3x5x7xf32>) -> tensor<2x6x4x7xf32> {
  %0 = tensorrt.reshape %x : tensor<2x6x4x5xf32> to tensor<3x16x5xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<3x16x5xf32>, tensor<3x5x7xf32>) -> tensor<3x16x7xf32>
  %2 = tensorrt.reshape %1 : tensor<3x16x7xf32> to tensor<2x6x4x7xf32>
  return %2 : tensor<2x6x4x7xf32>
}

// CHECK-LABEL: func.func @rows_are_torn_apart_by_a_batch_of_both_sides(%arg0: tensor<2x6x4x5xf32>, %arg1: tensor<3x5x7xf32>) -> tensor<2x6x4x7xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x6x4x5xf32> to tensor<3x16x5xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<3x16x5xf32>, tensor<3x5x7xf32>) -> tensor<3x16x7xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<3x16x7xf32> to tensor<2x6x4x7xf32>
// CHECK-NEXT:    return %2 : tensor<2x6x4x7xf32>
// CHECK-NEXT:  }

// -----

// Rows of unknown number.

func.func @rows_of_unknown_number(%x: tensor<?x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<?x3x5xf32> {
  %0 = tensorrt.reshape %x : tensor<?x3x4xf32> to tensor<?x4xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  %2 = tensorrt.reshape %1 : tensor<?x5xf32> to tensor<?x3x5xf32>
  return %2 : tensor<?x3x5xf32>
}

// CHECK-LABEL: func.func @rows_of_unknown_number(%arg0: tensor<?x3x4xf32>, %arg1: tensor<4x5xf32>) -> tensor<?x3x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<?x3x4xf32> to tensor<?x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<?x5xf32> to tensor<?x3x5xf32>
// CHECK-NEXT:    return %2 : tensor<?x3x5xf32>
// CHECK-NEXT:  }

// -----

// A side is read transposed.

func.func @a_side_is_read_transposed(%x: tensor<2x3x4xf32>, %y: tensor<5x4xf32>) -> tensor<2x3x5xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%0, %y : tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
  %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @a_side_is_read_transposed(%arg0: tensor<2x3x4xf32>, %arg1: tensor<5x4xf32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<6x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%0, %arg1 : tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<2x3x5xf32>
// CHECK-NEXT:    return %2 : tensor<2x3x5xf32>
// CHECK-NEXT:  }

// -----

// Columns are merged with the batch.

func.func @columns_are_merged_with_the_batch(%x: tensor<2x5x4xf32>, %y: tensor<2x3x4x8xf32>) -> tensor<2x3x5x8xf32> {
  %0 = tensorrt.reshape %y : tensor<2x3x4x8xf32> to tensor<2x4x24xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%x, %0 : tensor<2x5x4xf32>, tensor<2x4x24xf32>) -> tensor<2x5x24xf32>
  %2 = tensorrt.reshape %1 : tensor<2x5x24xf32> to tensor<2x3x5x8xf32>
  return %2 : tensor<2x3x5x8xf32>
}

// CHECK-LABEL: func.func @columns_are_merged_with_the_batch(%arg0: tensor<2x5x4xf32>, %arg1: tensor<2x3x4x8xf32>) -> tensor<2x3x5x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg1 : tensor<2x3x4x8xf32> to tensor<2x4x24xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<2x5x4xf32>, tensor<2x4x24xf32>) -> tensor<2x5x24xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<2x5x24xf32> to tensor<2x3x5x8xf32>
// CHECK-NEXT:    return %2 : tensor<2x3x5x8xf32>
// CHECK-NEXT:  }

// -----

// Rows and columns of the result are others.

func.func @rows_and_columns_of_the_result_are_others(%x: tensor<6x4x4xf32>, %y: tensor<2x3x4x8xf32>) -> tensor<2x3x8x4xf32> {
  %0 = tensorrt.reshape %y : tensor<2x3x4x8xf32> to tensor<6x4x8xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%x, %0 : tensor<6x4x4xf32>, tensor<6x4x8xf32>) -> tensor<6x4x8xf32>
  %2 = tensorrt.reshape %1 : tensor<6x4x8xf32> to tensor<2x3x8x4xf32>
  return %2 : tensor<2x3x8x4xf32>
}

// CHECK-LABEL: func.func @rows_and_columns_of_the_result_are_others(%arg0: tensor<6x4x4xf32>, %arg1: tensor<2x3x4x8xf32>) -> tensor<2x3x8x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg1 : tensor<2x3x4x8xf32> to tensor<6x4x8xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%arg0, %0 : tensor<6x4x4xf32>, tensor<6x4x8xf32>) -> tensor<6x4x8xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<6x4x8xf32> to tensor<2x3x8x4xf32>
// CHECK-NEXT:    return %2 : tensor<2x3x8x4xf32>
// CHECK-NEXT:  }

// -----

// The reshape after the product takes dimensions out.

func.func @the_reshape_after_the_product_takes_dimensions_out(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<30xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %y : tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<30xf32>
  return %2 : tensor<30xf32>
}

// CHECK-LABEL: func.func @the_reshape_after_the_product_takes_dimensions_out(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4x5xf32>) -> tensor<30xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<6x4xf32>
// CHECK-NEXT:    %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>} ins(%0, %arg1 : tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT:    %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<30xf32>
// CHECK-NEXT:    return %2 : tensor<30xf32>
// CHECK-NEXT:  }
