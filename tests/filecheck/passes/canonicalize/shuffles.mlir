// RUN: tripybuild opt %s --split-input-file -p canonicalize | filecheck %s
// RUN: same-values %s -p canonicalize
// RUN: settled %s -p canonicalize

// A constant shape is an attribute.

func.func @a_constant_shape_is_an_attribute(%a: tensor<?x6xf32>) -> tensor<3x?xf32> {
  %s = tensorrt.constant dense<[3, -1]> : tensor<2xi32>
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%a, %s : tensor<?x6xf32>, tensor<2xi32>) -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>
}

// CHECK-LABEL: func.func @a_constant_shape_is_an_attribute(%arg0: tensor<?x6xf32>) -> tensor<3x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 3, -1>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<?x6xf32>) -> tensor<3x?xf32>
// CHECK-NEXT:    return %0 : tensor<3x?xf32>
// CHECK-NEXT:  }

// -----

// A computed shape stays.

// UNEVALUATED
func.func @a_computed_shape_stays(%a: tensor<2x6xf32>, %b: tensor<2xi32>) -> tensor<?x?xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%a, %b : tensor<2x6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @a_computed_shape_stays(%arg0: tensor<2x6xf32>, %arg1: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0, %arg1 : tensor<2x6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// A computed shape of known sizes stays.

// UNEVALUATED
func.func @a_computed_shape_of_known_sizes_stays(%a: tensor<2x6xf32>, %b: tensor<2xi32>) -> tensor<3x4xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, second_transpose = array<i64: 0, 1>} ins(%a, %b : tensor<2x6xf32>, tensor<2xi32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @a_computed_shape_of_known_sizes_stays(%arg0: tensor<2x6xf32>, %arg1: tensor<2xi32>) -> tensor<3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, second_transpose = array<i64: 0, 1>} ins(%arg0, %arg1 : tensor<2x6xf32>, tensor<2xi32>) -> tensor<3x4xf32>
// CHECK-NEXT:    return %0 : tensor<3x4xf32>
// CHECK-NEXT:  }

// -----

// Known sizes are written down.

func.func @known_sizes_are_written_down(%a: tensor<2x6xf32>) -> tensor<2x2x3xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 0, 2, 3>, second_transpose = array<i64: 0, 1, 2>} ins(%a : tensor<2x6xf32>) -> tensor<2x2x3xf32>
  return %r : tensor<2x2x3xf32>
}

// CHECK-LABEL: func.func @known_sizes_are_written_down(%arg0: tensor<2x6xf32>) -> tensor<2x2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 2, 2, 3>, second_transpose = array<i64: 0, 1, 2>, zero_is_placeholder = false} ins(%arg0 : tensor<2x6xf32>) -> tensor<2x2x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x2x3xf32>
// CHECK-NEXT:  }

// -----

func.func @known_sizes_are_written_down_2(%a: tensor<2x6xf32>) -> tensor<3x2x2xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 0, 2, 3>, second_transpose = array<i64: 2, 0, 1>} ins(%a : tensor<2x6xf32>) -> tensor<3x2x2xf32>
  return %r : tensor<3x2x2xf32>
}

// CHECK-LABEL: func.func @known_sizes_are_written_down_2(%arg0: tensor<2x6xf32>) -> tensor<3x2x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 2, 2, 3>, second_transpose = array<i64: 2, 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<2x6xf32>) -> tensor<3x2x2xf32>
// CHECK-NEXT:    return %0 : tensor<3x2x2xf32>
// CHECK-NEXT:  }

// -----

func.func @known_sizes_are_written_down_3(%a: tensor<2x6xf32>) -> tensor<6x2xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, second_transpose = array<i64: 0, 1>} ins(%a : tensor<2x6xf32>) -> tensor<6x2xf32>
  return %r : tensor<6x2xf32>
}

// CHECK-LABEL: func.func @known_sizes_are_written_down_3(%arg0: tensor<2x6xf32>) -> tensor<6x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 6, 2>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<2x6xf32>) -> tensor<6x2xf32>
// CHECK-NEXT:    return %0 : tensor<6x2xf32>
// CHECK-NEXT:  }

// -----

func.func @known_sizes_are_written_down_4(%a: tensor<2x6xf32>) -> tensor<6x2xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, second_transpose = array<i64: 1, 0>} ins(%a : tensor<2x6xf32>) -> tensor<6x2xf32>
  return %r : tensor<6x2xf32>
}

// CHECK-LABEL: func.func @known_sizes_are_written_down_4(%arg0: tensor<2x6xf32>) -> tensor<6x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 2, 6>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%arg0 : tensor<2x6xf32>) -> tensor<6x2xf32>
// CHECK-NEXT:    return %0 : tensor<6x2xf32>
// CHECK-NEXT:  }

// -----

func.func @known_sizes_are_written_down_5(%a: tensor<2x6xf32>) -> tensor<3x4xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: -1, 4>, second_transpose = array<i64: 0, 1>} ins(%a : tensor<2x6xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @known_sizes_are_written_down_5(%arg0: tensor<2x6xf32>) -> tensor<3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 3, 4>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<2x6xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    return %0 : tensor<3x4xf32>
// CHECK-NEXT:  }

// -----

// Unknown sizes keep their placeholder.

func.func @unknown_sizes_keep_their_placeholder(%a: tensor<?x6xf32>) -> tensor<?x2x3xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 0, 2, 3>, second_transpose = array<i64: 0, 1, 2>} ins(%a : tensor<?x6xf32>) -> tensor<?x2x3xf32>
  return %r : tensor<?x2x3xf32>
}

// CHECK-LABEL: func.func @unknown_sizes_keep_their_placeholder(%arg0: tensor<?x6xf32>) -> tensor<?x2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 0, 2, 3>, second_transpose = array<i64: 0, 1, 2>} ins(%arg0 : tensor<?x6xf32>) -> tensor<?x2x3xf32>
// CHECK-NEXT:    return %0 : tensor<?x2x3xf32>
// CHECK-NEXT:  }

// -----

// A shuffle that changes nothing is nothing.

func.func @a_shuffle_that_changes_nothing_is_nothing(%a: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 2, 6>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%a : tensor<2x6xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @a_shuffle_that_changes_nothing_is_nothing(%arg0: tensor<2x6xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x6xf32>
// CHECK-NEXT:  }

// -----

func.func @a_shuffle_that_changes_nothing_is_nothing_2(%a: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 6, 2>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%a : tensor<2x6xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @a_shuffle_that_changes_nothing_is_nothing_2(%arg0: tensor<2x6xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x6xf32>
// CHECK-NEXT:  }

// -----

func.func @a_shuffle_that_changes_nothing_is_nothing_3(%a: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 2, 6>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%a : tensor<2x6xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @a_shuffle_that_changes_nothing_is_nothing_3(%arg0: tensor<2x6xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 2, 6>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT:    return %0 : tensor<2x6xf32>
// CHECK-NEXT:  }

// -----

func.func @a_shuffle_that_changes_nothing_is_nothing_4(%a: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 6, 2>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%a : tensor<2x6xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @a_shuffle_that_changes_nothing_is_nothing_4(%arg0: tensor<2x6xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 6, 2>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%arg0 : tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT:    return %0 : tensor<2x6xf32>
// CHECK-NEXT:  }

// -----

func.func @a_shuffle_that_changes_nothing_is_nothing_5(%a: tensor<1x5xf32>) -> tensor<1x5xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 1, 5>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%a : tensor<1x5xf32>) -> tensor<1x5xf32>
  return %r : tensor<1x5xf32>
}

// CHECK-LABEL: func.func @a_shuffle_that_changes_nothing_is_nothing_5(%arg0: tensor<1x5xf32>) -> tensor<1x5xf32> {
// CHECK-NEXT:    return %arg0 : tensor<1x5xf32>
// CHECK-NEXT:  }

// -----

func.func @a_shuffle_that_changes_nothing_is_nothing_6(%a: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1, 1>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%a : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}

// CHECK-LABEL: func.func @a_shuffle_that_changes_nothing_is_nothing_6(%arg0: tensor<1x1xf32>) -> tensor<1x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 1, 1>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%arg0 : tensor<1x1xf32>) -> tensor<1x1xf32>
// CHECK-NEXT:    return %0 : tensor<1x1xf32>
// CHECK-NEXT:  }

// -----

func.func @a_shuffle_that_changes_nothing_is_nothing_7(%a: tensor<f32>) -> tensor<f32> {
  %r = tensorrt.shuffle {first_transpose = array<i64>, reshape = array<i64>, second_transpose = array<i64>, zero_is_placeholder = false} ins(%a : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: func.func @a_shuffle_that_changes_nothing_is_nothing_7(%arg0: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:    return %arg0 : tensor<f32>
// CHECK-NEXT:  }

// -----

func.func @a_shuffle_that_changes_nothing_is_nothing_8(%a: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 1, 2, 0>, reshape = array<i64: 3, 4, 2>, second_transpose = array<i64: 2, 0, 1>, zero_is_placeholder = false} ins(%a : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @a_shuffle_that_changes_nothing_is_nothing_8(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_shuffle_that_changes_nothing_is_nothing_9(%a: tensor<3x3x3xf32>) -> tensor<3x3x3xf32> {
  %r = tensorrt.shuffle {first_transpose = array<i64: 1, 2, 0>, reshape = array<i64: 3, 3, 3>, second_transpose = array<i64: 1, 2, 0>, zero_is_placeholder = false} ins(%a : tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  return %r : tensor<3x3x3xf32>
}

// CHECK-LABEL: func.func @a_shuffle_that_changes_nothing_is_nothing_9(%arg0: tensor<3x3x3xf32>) -> tensor<3x3x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 1, 2, 0>, reshape = array<i64: 3, 3, 3>, second_transpose = array<i64: 1, 2, 0>, zero_is_placeholder = false} ins(%arg0 : tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
// CHECK-NEXT:    return %0 : tensor<3x3x3xf32>
// CHECK-NEXT:  }

// -----

// Two reshapes are one.

func.func @two_reshapes_are_one(%a: tensor<2x6xf32>) -> tensor<4x3xf32> {
  %s = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 4, 3>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%a : tensor<2x6xf32>) -> tensor<3x4xf32>
  %r = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 3, 4>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%s : tensor<3x4xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @two_reshapes_are_one(%arg0: tensor<2x6xf32>) -> tensor<4x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 3, 4>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%arg0 : tensor<2x6xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:    return %0 : tensor<4x3xf32>
// CHECK-NEXT:  }

// -----

// A transpose after a reshape goes into it.

func.func @a_transpose_after_a_reshape_goes_into_it(%a: tensor<?x6xf32>) -> tensor<2x3x?xf32> {
  %s = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 3, 2, -1>, second_transpose = array<i64: 0, 2, 1>, zero_is_placeholder = false} ins(%a : tensor<?x6xf32>) -> tensor<3x?x2xf32>
  %r = tensorrt.shuffle {first_transpose = array<i64: 1, 2, 0>, second_transpose = array<i64: 1, 2, 0>, zero_is_placeholder = false} ins(%s : tensor<3x?x2xf32>) -> tensor<2x3x?xf32>
  return %r : tensor<2x3x?xf32>
}

// CHECK-LABEL: func.func @a_transpose_after_a_reshape_goes_into_it(%arg0: tensor<?x6xf32>) -> tensor<2x3x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 1, 0>, reshape = array<i64: 3, 2, -1>, second_transpose = array<i64: 1, 0, 2>, zero_is_placeholder = false} ins(%arg0 : tensor<?x6xf32>) -> tensor<2x3x?xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x?xf32>
// CHECK-NEXT:  }

// -----

// A transpose keeps the reshape before it. What mlir-tensorrt loses: a square that was reshaped and
// then transposed.

func.func @a_transpose_keeps_the_reshape_before_it(%a: tensor<2x8xf32>) -> tensor<4x4xf32> {
  %s = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 4, 4>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%a : tensor<2x8xf32>) -> tensor<4x4xf32>
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%s : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @a_transpose_keeps_the_reshape_before_it(%arg0: tensor<2x8xf32>) -> tensor<4x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 4, 4>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%arg0 : tensor<2x8xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    return %0 : tensor<4x4xf32>
// CHECK-NEXT:  }

// -----

// Transposes between reshapes stay.

func.func @transposes_between_reshapes_stay(%a: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %s = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 3, 4>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%a : tensor<2x6xf32>) -> tensor<4x3xf32>
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 2, 6>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%s : tensor<4x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @transposes_between_reshapes_stay(%arg0: tensor<2x6xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 3, 4>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%arg0 : tensor<2x6xf32>) -> tensor<4x3xf32>
// CHECK-NEXT:    %1 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 2, 6>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%0 : tensor<4x3xf32>) -> tensor<2x6xf32>
// CHECK-NEXT:    return %1 : tensor<2x6xf32>
// CHECK-NEXT:  }

// -----

// A placeholder refers to the shape before it.

func.func @a_placeholder_refers_to_the_shape_before_it(%a: tensor<?x6xf32>) -> tensor<?x1x3xf32> {
  %s = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: -1, 3>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%a : tensor<?x6xf32>) -> tensor<?x3xf32>
  %r = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 0, 1, 3>, second_transpose = array<i64: 0, 1, 2>, zero_is_placeholder = true} ins(%s : tensor<?x3xf32>) -> tensor<?x1x3xf32>
  return %r : tensor<?x1x3xf32>
}

// CHECK-LABEL: func.func @a_placeholder_refers_to_the_shape_before_it(%arg0: tensor<?x6xf32>) -> tensor<?x1x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: -1, 3>, second_transpose = array<i64: 0, 1>, zero_is_placeholder = false} ins(%arg0 : tensor<?x6xf32>) -> tensor<?x3xf32>
// CHECK-NEXT:    %1 = tensorrt.shuffle {first_transpose = array<i64: 0, 1>, reshape = array<i64: 0, 1, 3>, second_transpose = array<i64: 0, 1, 2>} ins(%0 : tensor<?x3xf32>) -> tensor<?x1x3xf32>
// CHECK-NEXT:    return %1 : tensor<?x1x3xf32>
// CHECK-NEXT:  }

// -----

// Constant sizes of a slice are attributes.

func.func @constant_sizes_of_a_slice_are_attributes(%a: tensor<2x6xf32>) -> tensor<1x3xf32> {
  %s = tensorrt.constant dense<[1, 2]> : tensor<2xi32>
  %n = tensorrt.constant dense<[1, 3]> : tensor<2xi32>
  %r = tensorrt.slice %a[%s: tensor<2xi32>][%n: tensor<2xi32>][1, 1] {mode = #tensorrt.slice_mode<kCLAMP>} : tensor<2x6xf32> to tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}

// CHECK-LABEL: func.func @constant_sizes_of_a_slice_are_attributes(%arg0: tensor<2x6xf32>) -> tensor<1x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.slice %arg0[1, 2][1, 3][1, 1] {mode = #tensorrt.slice_mode<kCLAMP>} : tensor<2x6xf32> to tensor<1x3xf32>
// CHECK-NEXT:    return %0 : tensor<1x3xf32>
// CHECK-NEXT:  }

// -----

// The type of a slice and its stride stay.

// UNEVALUATED
func.func @the_type_of_a_slice_and_its_stride_stay(%a: tensor<2x6xf32>, %b: tensor<2xi32>) -> tensor<?x?xf32> {
  %n = tensorrt.constant dense<[1, 3]> : tensor<2xi32>
  %t = tensorrt.constant dense<[1, 1]> : tensor<2xi32>
  %r = tensorrt.slice %a[%b: tensor<2xi32>][%n: tensor<2xi32>][%t: tensor<2xi32>] : tensor<2x6xf32> to tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @the_type_of_a_slice_and_its_stride_stay(%arg0: tensor<2x6xf32>, %arg1: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<1> : tensor<2xi32>
// CHECK-NEXT:    %0 = tensorrt.slice %arg0[%arg1: tensor<2xi32>][1, 3][%cst_i32: tensor<2xi32>] : tensor<2x6xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// A filled slice keeps its fill.

func.func @a_filled_slice_keeps_its_fill(%a: tensor<2x6xf32>, %b: tensor<f32>) -> tensor<2x8xf32> {
  %s = tensorrt.constant dense<[0, -1]> : tensor<2xi32>
  %r = tensorrt.slice %a[%s: tensor<2xi32>][2, 8][1, 1] fill(%b : tensor<f32>) {mode = #tensorrt.slice_mode<kFILL>} : tensor<2x6xf32> to tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @a_filled_slice_keeps_its_fill(%arg0: tensor<2x6xf32>, %arg1: tensor<f32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.slice %arg0[0, -1][2, 8][1, 1] fill(%arg1 : tensor<f32>) {mode = #tensorrt.slice_mode<kFILL>} : tensor<2x6xf32> to tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }
