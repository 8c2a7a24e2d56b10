// RUN: tripybuild opt %s --split-input-file -p tensorrt-expand-ops | filecheck %s
// RUN: same-values %s -p tensorrt-expand-ops
// RUN: settled %s -p tensorrt-expand-ops

// A transpose is a shuffle. The permutation goes first.

func.func @a_transpose_is_a_shuffle(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %0 = tensorrt.transpose {permutation = affine_map<(a, b, c) -> (c, a, b)>} %x : tensor<2x3x4xf32> to tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @a_transpose_is_a_shuffle(%arg0: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 2, 0, 1>, second_transpose = array<i64: 0, 1, 2>, zero_is_placeholder = false} ins(%arg0 : tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT:    return %0 : tensor<4x2x3xf32>
// CHECK-NEXT:  }

// -----

// A reshape is a shuffle. One size may be -1; of more, those that keep their place are zeros that
// stand for it.

func.func @a_reshape_is_a_shuffle(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3xf32> to tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @a_reshape_is_a_shuffle(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 3, 2>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    return %0 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_is_a_shuffle_2(%x: tensor<2x3xf32>) -> tensor<?xf32> {
  %0 = tensorrt.reshape %x : tensor<2x3xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @a_reshape_is_a_shuffle_2(%arg0: tensor<2x3xf32>) -> tensor<?xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: -1>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%arg0 : tensor<2x3xf32>) -> tensor<?xf32>
// CHECK-NEXT:    return %0 : tensor<?xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_is_a_shuffle_3(%x: tensor<?x3xf16>) -> tensor<3x?xf16> {
  %0 = tensorrt.reshape %x : tensor<?x3xf16> to tensor<3x?xf16>
  return %0 : tensor<3x?xf16>
}

// CHECK-LABEL: func.func @a_reshape_is_a_shuffle_3(%arg0: tensor<?x3xf16>) -> tensor<3x?xf16> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 3, -1>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<?x3xf16>) -> tensor<3x?xf16>
// CHECK-NEXT:    return %0 : tensor<3x?xf16>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_is_a_shuffle_4(%x: tensor<2x3xf32>) -> tensor<2x1x3xf32> {
  %0 = tensorrt.expand_rank %x : tensor<2x3xf32> to tensor<2x1x3xf32>
  return %0 : tensor<2x1x3xf32>
}

// CHECK-LABEL: func.func @a_reshape_is_a_shuffle_4(%arg0: tensor<2x3xf32>) -> tensor<2x1x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 2, 1, 3>, second_transpose = array<i64: 0, 1, 2>, zero_is_placeholder = false} ins(%arg0 : tensor<2x3xf32>) -> tensor<2x1x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x3xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_is_a_shuffle_5(%x: tensor<?x3xi32>) -> tensor<1x?x3xi32> {
  %0 = tensorrt.expand_rank %x : tensor<?x3xi32> to tensor<1x?x3xi32>
  return %0 : tensor<1x?x3xi32>
}

// CHECK-LABEL: func.func @a_reshape_is_a_shuffle_5(%arg0: tensor<?x3xi32>) -> tensor<1x?x3xi32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1, -1, 3>, second_transpose = array<i64: 0, 1, 2>, zero_is_placeholder = false} ins(%arg0 : tensor<?x3xi32>) -> tensor<1x?x3xi32>
// CHECK-NEXT:    return %0 : tensor<1x?x3xi32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_is_a_shuffle_6(%x: tensor<1x2x1xf32>) -> tensor<2xf32> {
  %0 = tensorrt.collapse_rank %x : tensor<1x2x1xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @a_reshape_is_a_shuffle_6(%arg0: tensor<1x2x1xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1, 2>, reshape = array<i64: 2>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%arg0 : tensor<1x2x1xf32>) -> tensor<2xf32>
// CHECK-NEXT:    return %0 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_is_a_shuffle_7(%x: tensor<?x?xf32>) -> tensor<?x?x1xf32> {
  %0 = tensorrt.expand_rank %x : tensor<?x?xf32> to tensor<?x?x1xf32>
  return %0 : tensor<?x?x1xf32>
}

// CHECK-LABEL: func.func @a_reshape_is_a_shuffle_7(%arg0: tensor<?x?xf32>) -> tensor<?x?x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 0, 0, 1>, second_transpose = array<i64: 0, 1, 2>} ins(%arg0 : tensor<?x?xf32>) -> tensor<?x?x1xf32>
// CHECK-NEXT:    return %0 : tensor<?x?x1xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_is_a_shuffle_8(%x: tensor<?x?xf32>) -> tensor<?x1x?xf32> {
  %0 = tensorrt.expand_rank %x : tensor<?x?xf32> to tensor<?x1x?xf32>
  return %0 : tensor<?x1x?xf32>
}

// CHECK-LABEL: func.func @a_reshape_is_a_shuffle_8(%arg0: tensor<?x?xf32>) -> tensor<?x1x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 0, 1, -1>, second_transpose = array<i64: 0, 1, 2>} ins(%arg0 : tensor<?x?xf32>) -> tensor<?x1x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x1x?xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_is_a_shuffle_9(%x: tensor<?x?x1xf32>) -> tensor<?x?xf32> {
  %0 = tensorrt.collapse_rank %x : tensor<?x?x1xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @a_reshape_is_a_shuffle_9(%arg0: tensor<?x?x1xf32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1, 2>, reshape = array<i64: 0, 0>, second_transpose = array<i64: 0, 1>} ins(%arg0 : tensor<?x?x1xf32>) -> tensor<?x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_is_a_shuffle_10(%x: tensor<?x1x?x4xf32>) -> tensor<?x?x4xf32> {
  %0 = tensorrt.collapse_rank %x : tensor<?x1x?x4xf32> to tensor<?x?x4xf32>
  return %0 : tensor<?x?x4xf32>
}

// CHECK-LABEL: func.func @a_reshape_is_a_shuffle_10(%arg0: tensor<?x1x?x4xf32>) -> tensor<?x?x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1, 2, 3>, reshape = array<i64: 0, -1, 4>, second_transpose = array<i64: 0, 1, 2>} ins(%arg0 : tensor<?x1x?x4xf32>) -> tensor<?x?x4xf32>
// CHECK-NEXT:    return %0 : tensor<?x?x4xf32>
// CHECK-NEXT:  }

// -----

// A reshape to the same type is nothing. Unless its shape is computed, or two sizes are unknown.

func.func @a_reshape_to_the_same_type_is_nothing(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = tensorrt.reshape %x : tensor<?x4xf32> to tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @a_reshape_to_the_same_type_is_nothing(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<?x4xf32>
// CHECK-NEXT:  }

// -----

// A scalar becomes a matrix. No dimensions at all.

func.func @a_scalar_becomes_a_matrix(%x: tensor<f32>) -> tensor<1x1xf32> {
  %0 = tensorrt.expand_rank %x : tensor<f32> to tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// CHECK-LABEL: func.func @a_scalar_becomes_a_matrix(%arg0: tensor<f32>) -> tensor<1x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64>, reshape = array<i64: 1, 1>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<f32>) -> tensor<1x1xf32>
// CHECK-NEXT:    return %0 : tensor<1x1xf32>
// CHECK-NEXT:  }

// -----

func.func @a_scalar_becomes_a_matrix_2(%x: tensor<1x1xf32>) -> tensor<f32> {
  %0 = tensorrt.collapse_rank %x : tensor<1x1xf32> to tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @a_scalar_becomes_a_matrix_2(%arg0: tensor<1x1xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64>, second_transpose = array<i64>, zero_is_placeholder = false} ins(%arg0 : tensor<1x1xf32>) -> tensor<f32>
// CHECK-NEXT:    return %0 : tensor<f32>
// CHECK-NEXT:  }

// -----

// Unknown sizes that move are computed. Neither -1 nor a placeholder says what two moved sizes are.

// DYNAMIC: 0=2,5
func.func @unknown_sizes_that_move_are_computed(%x: tensor<?x?xf32>) -> tensor<1x?x?xf32> {
  %0 = tensorrt.expand_rank %x : tensor<?x?xf32> to tensor<1x?x?xf32>
  return %0 : tensor<1x?x?xf32>
}

// CHECK-LABEL: func.func @unknown_sizes_that_move_are_computed(%arg0: tensor<?x?xf32>) -> tensor<1x?x?xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<1> : tensor<1xi32>
// CHECK-NEXT:    %0 = tensorrt.shape %arg0 : tensor<?x?xf32> -> tensor<2xi32>
// CHECK-NEXT:    %1 = tensorrt.slice %0[0][1][1] : tensor<2xi32> to tensor<1xi32>
// CHECK-NEXT:    %2 = tensorrt.slice %0[1][1][1] : tensor<2xi32> to tensor<1xi32>
// CHECK-NEXT:    %3 = tensorrt.concatenation {axis = 0 : i32} ins(%cst_i32, %1, %2 : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
// CHECK-NEXT:    %4 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, second_transpose = array<i64: 0, 1, 2>, zero_is_placeholder = false} ins(%arg0, %3 : tensor<?x?xf32>, tensor<3xi32>) -> tensor<1x?x?xf32>
// CHECK-NEXT:    return %4 : tensor<1x?x?xf32>
// CHECK-NEXT:  }

// -----

// A reshape to a computed shape. The shape is given to the shuffle, and zeros in it are zeros.

// DYNAMIC: 0=3,4
// VALUES: 1=2,6
func.func @a_reshape_to_a_computed_shape(%x: tensor<?x4xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.reshape %x shape(%s: tensor<2xi32>) : tensor<?x4xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @a_reshape_to_a_computed_shape(%arg0: tensor<?x4xf32>, %arg1: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0, %arg1 : tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// Truths go through integers. Older shuffles take no i1.

func.func @truths_go_through_integers(%x: tensor<2x3xi1>) -> tensor<6xi1> {
  %0 = tensorrt.reshape %x : tensor<2x3xi1> to tensor<6xi1>
  return %0 : tensor<6xi1>
}

// CHECK-LABEL: func.func @truths_go_through_integers(%arg0: tensor<2x3xi1>) -> tensor<6xi1> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<2x3xi1> to tensor<2x3xi32>
// CHECK-NEXT:    %1 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 6>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%0 : tensor<2x3xi32>) -> tensor<6xi32>
// CHECK-NEXT:    %2 = tensorrt.identity %1 : tensor<6xi32> to tensor<6xi1>
// CHECK-NEXT:    return %2 : tensor<6xi1>
// CHECK-NEXT:  }

// -----

func.func @truths_go_through_integers_2(%x: tensor<2x3xi1>) -> tensor<1x2x3xi1> {
  %0 = tensorrt.expand_rank %x : tensor<2x3xi1> to tensor<1x2x3xi1>
  return %0 : tensor<1x2x3xi1>
}

// CHECK-LABEL: func.func @truths_go_through_integers_2(%arg0: tensor<2x3xi1>) -> tensor<1x2x3xi1> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<2x3xi1> to tensor<2x3xi32>
// CHECK-NEXT:    %1 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1, 2, 3>, second_transpose = array<i64: 0, 1, 2>, zero_is_placeholder = false} ins(%0 : tensor<2x3xi32>) -> tensor<1x2x3xi32>
// CHECK-NEXT:    %2 = tensorrt.identity %1 : tensor<1x2x3xi32> to tensor<1x2x3xi1>
// CHECK-NEXT:    return %2 : tensor<1x2x3xi1>
// CHECK-NEXT:  }

// -----

func.func @truths_go_through_integers_3(%x: tensor<1x2xi1>) -> tensor<2xi1> {
  %0 = tensorrt.collapse_rank %x : tensor<1x2xi1> to tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @truths_go_through_integers_3(%arg0: tensor<1x2xi1>) -> tensor<2xi1> {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<1x2xi1> to tensor<1x2xi32>
// CHECK-NEXT:    %1 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 2>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%0 : tensor<1x2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %2 = tensorrt.identity %1 : tensor<2xi32> to tensor<2xi1>
// CHECK-NEXT:    return %2 : tensor<2xi1>
// CHECK-NEXT:  }

// -----

// A broadcast is a slice that wraps. Ranks are made equal first; dimensions out of order are
// transposed.

func.func @a_broadcast_is_a_slice_that_wraps(%x: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x3xf32> to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @a_broadcast_is_a_slice_that_wraps(%arg0: tensor<1x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.slice %arg0[0, 0][2, 3][1, 1] {mode = #tensorrt.slice_mode<kWRAP>} : tensor<1x3xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

func.func @a_broadcast_is_a_slice_that_wraps_2(%x: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<1> : tensor<3xf32> to tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @a_broadcast_is_a_slice_that_wraps_2(%arg0: tensor<3xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0>, reshape = array<i64: 1, 3, 1>, second_transpose = array<i64: 0, 1, 2>, zero_is_placeholder = false} ins(%arg0 : tensor<3xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT:    %1 = tensorrt.slice %0[0, 0, 0][2, 3, 4][1, 1, 1] {mode = #tensorrt.slice_mode<kWRAP>} : tensor<1x3x1xf32> to tensor<2x3x4xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_broadcast_is_a_slice_that_wraps_3(%x: tensor<f32>) -> tensor<2x3xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<> : tensor<f32> to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @a_broadcast_is_a_slice_that_wraps_3(%arg0: tensor<f32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64>, reshape = array<i64: 1, 1>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<f32>) -> tensor<1x1xf32>
// CHECK-NEXT:    %1 = tensorrt.slice %0[0, 0][2, 3][1, 1] {mode = #tensorrt.slice_mode<kWRAP>} : tensor<1x1xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %1 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

func.func @a_broadcast_is_a_slice_that_wraps_4(%x: tensor<3x1xf32>) -> tensor<2x3xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<1, 0> : tensor<3x1xf32> to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @a_broadcast_is_a_slice_that_wraps_4(%arg0: tensor<3x1xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<3x1xf32>) -> tensor<1x3xf32>
// CHECK-NEXT:    %1 = tensorrt.slice %0[0, 0][2, 3][1, 1] {mode = #tensorrt.slice_mode<kWRAP>} : tensor<1x3xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %1 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

func.func @a_broadcast_is_a_slice_that_wraps_5(%x: tensor<4x1xf32>) -> tensor<5x3x4xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<2, 0> : tensor<4x1xf32> to tensor<5x3x4xf32>
  return %0 : tensor<5x3x4xf32>
}

// CHECK-LABEL: func.func @a_broadcast_is_a_slice_that_wraps_5(%arg0: tensor<4x1xf32>) -> tensor<5x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 1, 1, 4>, second_transpose = array<i64: 0, 1, 2>, zero_is_placeholder = false} ins(%arg0 : tensor<4x1xf32>) -> tensor<1x1x4xf32>
// CHECK-NEXT:    %1 = tensorrt.slice %0[0, 0, 0][5, 3, 4][1, 1, 1] {mode = #tensorrt.slice_mode<kWRAP>} : tensor<1x1x4xf32> to tensor<5x3x4xf32>
// CHECK-NEXT:    return %1 : tensor<5x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_broadcast_is_a_slice_that_wraps_6(%x: tensor<1x1xf32>) -> tensor<2x3xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x1xf32> to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @a_broadcast_is_a_slice_that_wraps_6(%arg0: tensor<1x1xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.slice %arg0[0, 0][2, 3][1, 1] {mode = #tensorrt.slice_mode<kWRAP>} : tensor<1x1xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

// A broadcast to a computed shape. The size of the slice is the shape; ones stand where the input
// has no dimension.

// DYNAMIC: 0=2,1
// VALUES: 1=2,5,3
func.func @a_broadcast_to_a_computed_shape(%x: tensor<?x1xf32>, %s: tensor<3xi32>) -> tensor<?x?x?xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 2> shape(%s : tensor<3xi32>)
    : tensor<?x1xf32> to tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @a_broadcast_to_a_computed_shape(%arg0: tensor<?x1xf32>, %arg1: tensor<3xi32>) -> tensor<?x?x?xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<1> : tensor<1xi32>
// CHECK-NEXT:    %0 = tensorrt.shape %arg0 : tensor<?x1xf32> -> tensor<2xi32>
// CHECK-NEXT:    %1 = tensorrt.slice %0[0][1][1] : tensor<2xi32> to tensor<1xi32>
// CHECK-NEXT:    %2 = tensorrt.slice %0[1][1][1] : tensor<2xi32> to tensor<1xi32>
// CHECK-NEXT:    %3 = tensorrt.concatenation {axis = 0 : i32} ins(%1, %cst_i32, %2 : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
// CHECK-NEXT:    %4 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, second_transpose = array<i64: 0, 1, 2>, zero_is_placeholder = false} ins(%arg0, %3 : tensor<?x1xf32>, tensor<3xi32>) -> tensor<?x1x1xf32>
// CHECK-NEXT:    %5 = tensorrt.slice %4[0, 0, 0][%arg1: tensor<3xi32>][1, 1, 1] {mode = #tensorrt.slice_mode<kWRAP>} : tensor<?x1x1xf32> to tensor<?x?x?xf32>
// CHECK-NEXT:    return %5 : tensor<?x?x?xf32>
// CHECK-NEXT:  }

// -----

// The largest is the first of top k. Integers as floats, but those that floats cannot hold; vectors
// as matrices.

func.func @the_largest_is_the_first_of_top_k(%x: tensor<3x4xf32>) -> (tensor<3x1xf32>, tensor<3x1xi32>) {
  %0, %1 = tensorrt.argmin {axis = 1 : i64} %x : tensor<3x4xf32> -> tensor<3x1xf32>, tensor<3x1xi32>
  return %0, %1 : tensor<3x1xf32>, tensor<3x1xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k(%arg0: tensor<3x4xf32>) -> (tensor<3x1xf32>, tensor<3x1xi32>) {
// CHECK-NEXT:    %0:2 = tensorrt.top_k <kMIN> {axis = 1 : i64, k = 1 : i64} %arg0 : tensor<3x4xf32> -> tensor<3x1xf32>, tensor<3x1xi32>
// CHECK-NEXT:    return %0#0, %0#1 : tensor<3x1xf32>, tensor<3x1xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_2(%x: tensor<3x4xf32>) -> (tensor<3x1xf32>, tensor<3x1xi32>) {
  %0, %1 = tensorrt.argmax {axis = 1 : i64} %x : tensor<3x4xf32> -> tensor<3x1xf32>, tensor<3x1xi32>
  return %0, %1 : tensor<3x1xf32>, tensor<3x1xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_2(%arg0: tensor<3x4xf32>) -> (tensor<3x1xf32>, tensor<3x1xi32>) {
// CHECK-NEXT:    %0:2 = tensorrt.top_k <kMAX> {axis = 1 : i64, k = 1 : i64} %arg0 : tensor<3x4xf32> -> tensor<3x1xf32>, tensor<3x1xi32>
// CHECK-NEXT:    return %0#0, %0#1 : tensor<3x1xf32>, tensor<3x1xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_3(%x: tensor<3x4xf16>) -> (tensor<1x4xf16>, tensor<1x4xi32>) {
  %0, %1 = tensorrt.argmin {axis = 0 : i64} %x : tensor<3x4xf16> -> tensor<1x4xf16>, tensor<1x4xi32>
  return %0, %1 : tensor<1x4xf16>, tensor<1x4xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_3(%arg0: tensor<3x4xf16>) -> (tensor<1x4xf16>, tensor<1x4xi32>) {
// CHECK-NEXT:    %0:2 = tensorrt.top_k <kMIN> {axis = 0 : i64, k = 1 : i64} %arg0 : tensor<3x4xf16> -> tensor<1x4xf16>, tensor<1x4xi32>
// CHECK-NEXT:    return %0#0, %0#1 : tensor<1x4xf16>, tensor<1x4xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_4(%x: tensor<3x4xf16>) -> (tensor<1x4xf16>, tensor<1x4xi32>) {
  %0, %1 = tensorrt.argmax {axis = 0 : i64} %x : tensor<3x4xf16> -> tensor<1x4xf16>, tensor<1x4xi32>
  return %0, %1 : tensor<1x4xf16>, tensor<1x4xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_4(%arg0: tensor<3x4xf16>) -> (tensor<1x4xf16>, tensor<1x4xi32>) {
// CHECK-NEXT:    %0:2 = tensorrt.top_k <kMAX> {axis = 0 : i64, k = 1 : i64} %arg0 : tensor<3x4xf16> -> tensor<1x4xf16>, tensor<1x4xi32>
// CHECK-NEXT:    return %0#0, %0#1 : tensor<1x4xf16>, tensor<1x4xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_5(%x: tensor<3x4xi64>) -> (tensor<1x4xi64>, tensor<1x4xi32>) {
  %0, %1 = tensorrt.argmin {axis = 0 : i64} %x : tensor<3x4xi64> -> tensor<1x4xi64>, tensor<1x4xi32>
  return %0, %1 : tensor<1x4xi64>, tensor<1x4xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_5(%arg0: tensor<3x4xi64>) -> (tensor<1x4xi64>, tensor<1x4xi32>) {
// CHECK-NEXT:    %0:2 = tensorrt.top_k <kMIN> {axis = 0 : i64, k = 1 : i64} %arg0 : tensor<3x4xi64> -> tensor<1x4xi64>, tensor<1x4xi32>
// CHECK-NEXT:    return %0#0, %0#1 : tensor<1x4xi64>, tensor<1x4xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_6(%x: tensor<3x4xi64>) -> (tensor<1x4xi64>, tensor<1x4xi32>) {
  %0, %1 = tensorrt.argmax {axis = 0 : i64} %x : tensor<3x4xi64> -> tensor<1x4xi64>, tensor<1x4xi32>
  return %0, %1 : tensor<1x4xi64>, tensor<1x4xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_6(%arg0: tensor<3x4xi64>) -> (tensor<1x4xi64>, tensor<1x4xi32>) {
// CHECK-NEXT:    %0:2 = tensorrt.top_k <kMAX> {axis = 0 : i64, k = 1 : i64} %arg0 : tensor<3x4xi64> -> tensor<1x4xi64>, tensor<1x4xi32>
// CHECK-NEXT:    return %0#0, %0#1 : tensor<1x4xi64>, tensor<1x4xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_7(%x: tensor<3x4xi32>) -> (tensor<3x1xi32>, tensor<3x1xi32>) {
  %0, %1 = tensorrt.argmin {axis = 1 : i64} %x : tensor<3x4xi32> -> tensor<3x1xi32>, tensor<3x1xi32>
  return %0, %1 : tensor<3x1xi32>, tensor<3x1xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_7(%arg0: tensor<3x4xi32>) -> (tensor<3x1xi32>, tensor<3x1xi32>) {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<3x4xi32> to tensor<3x4xf32>
// CHECK-NEXT:    %1:2 = tensorrt.top_k <kMIN> {axis = 1 : i64, k = 1 : i64} %0 : tensor<3x4xf32> -> tensor<3x1xf32>, tensor<3x1xi32>
// CHECK-NEXT:    %2 = tensorrt.identity %1#0 : tensor<3x1xf32> to tensor<3x1xi32>
// CHECK-NEXT:    return %2, %1#1 : tensor<3x1xi32>, tensor<3x1xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_8(%x: tensor<3x4xi32>) -> (tensor<3x1xi32>, tensor<3x1xi32>) {
  %0, %1 = tensorrt.argmax {axis = 1 : i64} %x : tensor<3x4xi32> -> tensor<3x1xi32>, tensor<3x1xi32>
  return %0, %1 : tensor<3x1xi32>, tensor<3x1xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_8(%arg0: tensor<3x4xi32>) -> (tensor<3x1xi32>, tensor<3x1xi32>) {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<3x4xi32> to tensor<3x4xf32>
// CHECK-NEXT:    %1:2 = tensorrt.top_k <kMAX> {axis = 1 : i64, k = 1 : i64} %0 : tensor<3x4xf32> -> tensor<3x1xf32>, tensor<3x1xi32>
// CHECK-NEXT:    %2 = tensorrt.identity %1#0 : tensor<3x1xf32> to tensor<3x1xi32>
// CHECK-NEXT:    return %2, %1#1 : tensor<3x1xi32>, tensor<3x1xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_9(%x: tensor<5xf32>) -> (tensor<1xf32>, tensor<1xi32>) {
  %0, %1 = tensorrt.argmin {axis = 0 : i64} %x : tensor<5xf32> -> tensor<1xf32>, tensor<1xi32>
  return %0, %1 : tensor<1xf32>, tensor<1xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_9(%arg0: tensor<5xf32>) -> (tensor<1xf32>, tensor<1xi32>) {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0>, reshape = array<i64: 1, 5>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<5xf32>) -> tensor<1x5xf32>
// CHECK-NEXT:    %1:2 = tensorrt.top_k <kMIN> {axis = 1 : i64, k = 1 : i64} %0 : tensor<1x5xf32> -> tensor<1x1xf32>, tensor<1x1xi32>
// CHECK-NEXT:    %2 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%1#0 : tensor<1x1xf32>) -> tensor<1xf32>
// CHECK-NEXT:    %3 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%1#1 : tensor<1x1xi32>) -> tensor<1xi32>
// CHECK-NEXT:    return %2, %3 : tensor<1xf32>, tensor<1xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_10(%x: tensor<5xf32>) -> (tensor<1xf32>, tensor<1xi32>) {
  %0, %1 = tensorrt.argmax {axis = 0 : i64} %x : tensor<5xf32> -> tensor<1xf32>, tensor<1xi32>
  return %0, %1 : tensor<1xf32>, tensor<1xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_10(%arg0: tensor<5xf32>) -> (tensor<1xf32>, tensor<1xi32>) {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0>, reshape = array<i64: 1, 5>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<5xf32>) -> tensor<1x5xf32>
// CHECK-NEXT:    %1:2 = tensorrt.top_k <kMAX> {axis = 1 : i64, k = 1 : i64} %0 : tensor<1x5xf32> -> tensor<1x1xf32>, tensor<1x1xi32>
// CHECK-NEXT:    %2 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%1#0 : tensor<1x1xf32>) -> tensor<1xf32>
// CHECK-NEXT:    %3 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%1#1 : tensor<1x1xi32>) -> tensor<1xi32>
// CHECK-NEXT:    return %2, %3 : tensor<1xf32>, tensor<1xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_11(%x: tensor<5xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %0, %1 = tensorrt.argmin {axis = 0 : i64} %x : tensor<5xi32> -> tensor<1xi32>, tensor<1xi32>
  return %0, %1 : tensor<1xi32>, tensor<1xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_11(%arg0: tensor<5xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<5xi32> to tensor<5xf32>
// CHECK-NEXT:    %1 = tensorrt.shuffle {first_transpose = array<i64: 0>, reshape = array<i64: 1, 5>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%0 : tensor<5xf32>) -> tensor<1x5xf32>
// CHECK-NEXT:    %2:2 = tensorrt.top_k <kMIN> {axis = 1 : i64, k = 1 : i64} %1 : tensor<1x5xf32> -> tensor<1x1xf32>, tensor<1x1xi32>
// CHECK-NEXT:    %3 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%2#0 : tensor<1x1xf32>) -> tensor<1xf32>
// CHECK-NEXT:    %4 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%2#1 : tensor<1x1xi32>) -> tensor<1xi32>
// CHECK-NEXT:    %5 = tensorrt.identity %3 : tensor<1xf32> to tensor<1xi32>
// CHECK-NEXT:    return %5, %4 : tensor<1xi32>, tensor<1xi32>
// CHECK-NEXT:  }

// -----

func.func @the_largest_is_the_first_of_top_k_12(%x: tensor<5xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
  %0, %1 = tensorrt.argmax {axis = 0 : i64} %x : tensor<5xi32> -> tensor<1xi32>, tensor<1xi32>
  return %0, %1 : tensor<1xi32>, tensor<1xi32>
}

// CHECK-LABEL: func.func @the_largest_is_the_first_of_top_k_12(%arg0: tensor<5xi32>) -> (tensor<1xi32>, tensor<1xi32>) {
// CHECK-NEXT:    %0 = tensorrt.identity %arg0 : tensor<5xi32> to tensor<5xf32>
// CHECK-NEXT:    %1 = tensorrt.shuffle {first_transpose = array<i64: 0>, reshape = array<i64: 1, 5>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%0 : tensor<5xf32>) -> tensor<1x5xf32>
// CHECK-NEXT:    %2:2 = tensorrt.top_k <kMAX> {axis = 1 : i64, k = 1 : i64} %1 : tensor<1x5xf32> -> tensor<1x1xf32>, tensor<1x1xi32>
// CHECK-NEXT:    %3 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%2#0 : tensor<1x1xf32>) -> tensor<1xf32>
// CHECK-NEXT:    %4 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1>, second_transpose = array<i64: 0>, zero_is_placeholder = false} ins(%2#1 : tensor<1x1xi32>) -> tensor<1xi32>
// CHECK-NEXT:    %5 = tensorrt.identity %3 : tensor<1xf32> to tensor<1xi32>
// CHECK-NEXT:    return %5, %4 : tensor<1xi32>, tensor<1xi32>
// CHECK-NEXT:  }

// -----

// What has layers stays. Other ops are left alone.

func.func @what_has_layers_stays(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tensorrt.softmax {axis = 1 : i64} %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @what_has_layers_stays(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.softmax {axis = 1 : i64} %arg0 : tensor<2x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x3xf32>
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
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0>, reshape = array<i64: 2, 3>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%cst_i32 : tensor<6xi32>) -> tensor<2x3xi32>
// CHECK-NEXT:    return %0 : tensor<2x3xi32>
// CHECK-NEXT:  }
