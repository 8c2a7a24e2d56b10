// RUN: tripybuild opt %s --split-input-file -p canonicalize | filecheck %s
// RUN: same-values %s -p canonicalize
// RUN: settled %s -p canonicalize

// Two transposes are one.

func.func @two_transposes_are_one(%a: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  %s = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d2, d0, d1)>} %a : tensor<2x3x4xf32> to tensor<4x2x3xf32>
  %r = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d0, d2, d1)>} %s : tensor<4x2x3xf32> to tensor<4x3x2xf32>
  return %r : tensor<4x3x2xf32>
}

// CHECK:       #map = affine_map<(d0, d1, d2) -> (d2, d1, d0)>
// CHECK-LABEL: func.func @two_transposes_are_one(%arg0: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<2x3x4xf32> to tensor<4x3x2xf32>
// CHECK-NEXT:    return %0 : tensor<4x3x2xf32>
// CHECK-NEXT:  }

// -----

// Transposes that undo each other are none.

func.func @transposes_that_undo_each_other_are_none(%a: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %s = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d2, d0, d1)>} %a : tensor<2x3x4xf32> to tensor<4x2x3xf32>
  %r = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d1, d2, d0)>} %s : tensor<4x2x3xf32> to tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @transposes_that_undo_each_other_are_none(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @transposes_that_undo_each_other_are_none_2(%a: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %r = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d0, d1, d2)>} %a : tensor<2x3x4xf32> to tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @transposes_that_undo_each_other_are_none_2(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @transposes_that_undo_each_other_are_none_3(%a: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %r = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %a : tensor<3x3xf32> to tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// CHECK:       #map = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @transposes_that_undo_each_other_are_none_3(%arg0: tensor<3x3xf32>) -> tensor<3x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.transpose {permutation = #map} %arg0 : tensor<3x3xf32> to tensor<3x3xf32>
// CHECK-NEXT:    return %0 : tensor<3x3xf32>
// CHECK-NEXT:  }

// -----

// A reshape says what it does.

func.func @a_reshape_says_what_it_does(%a: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %r = tensorrt.reshape %a : tensor<2x3x4xf32> to tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_2(%a: tensor<2x3x4xf32>) -> tensor<2x1x3x4xf32> {
  %r = tensorrt.reshape %a : tensor<2x3x4xf32> to tensor<2x1x3x4xf32>
  return %r : tensor<2x1x3x4xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_2(%arg0: tensor<2x3x4xf32>) -> tensor<2x1x3x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<2x3x4xf32> to tensor<2x1x3x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_3(%a: tensor<2x1x3x1xf32>) -> tensor<2x3xf32> {
  %r = tensorrt.reshape %a : tensor<2x1x3x1xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_3(%arg0: tensor<2x1x3x1xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<2x1x3x1xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_4(%a: tensor<1x1xf32>) -> tensor<f32> {
  %r = tensorrt.reshape %a : tensor<1x1xf32> to tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_4(%arg0: tensor<1x1xf32>) -> tensor<f32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<1x1xf32> to tensor<f32>
// CHECK-NEXT:    return %0 : tensor<f32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_5(%a: tensor<f32>) -> tensor<1x1xf32> {
  %r = tensorrt.reshape %a : tensor<f32> to tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_5(%arg0: tensor<f32>) -> tensor<1x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<f32> to tensor<1x1xf32>
// CHECK-NEXT:    return %0 : tensor<1x1xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_6(%a: tensor<2x1x1xf32>) -> tensor<1x2xf32> {
  %r = tensorrt.reshape %a : tensor<2x1x1xf32> to tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_6(%arg0: tensor<2x1x1xf32>) -> tensor<1x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x1x1xf32> to tensor<1x2xf32>
// CHECK-NEXT:    return %0 : tensor<1x2xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_7(%a: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %r = tensorrt.reshape %a : tensor<2x3x4xf32> to tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_7(%arg0: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<6x4xf32>
// CHECK-NEXT:    return %0 : tensor<6x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_8(%a: tensor<6xf32>) -> tensor<2x3xf32> {
  %r = tensorrt.reshape %a : tensor<6xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_8(%arg0: tensor<6xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<6xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_9(%a: tensor<1x2xf32>) -> tensor<2x1xf32> {
  %r = tensorrt.reshape %a : tensor<1x2xf32> to tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_9(%arg0: tensor<1x2xf32>) -> tensor<2x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<1x2xf32> to tensor<2x1xf32>
// CHECK-NEXT:    return %0 : tensor<2x1xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_10(%a: tensor<?x4xf32>) -> tensor<?x1x4xf32> {
  %r = tensorrt.reshape %a : tensor<?x4xf32> to tensor<?x1x4xf32>
  return %r : tensor<?x1x4xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_10(%arg0: tensor<?x4xf32>) -> tensor<?x1x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<?x4xf32> to tensor<?x1x4xf32>
// CHECK-NEXT:    return %0 : tensor<?x1x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_11(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = tensorrt.reshape %a : tensor<?x4xf32> to tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_11(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<?x4xf32> to tensor<?x4xf32>
// CHECK-NEXT:    return %0 : tensor<?x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_reshape_says_what_it_does_12(%a: tensor<2x3xf32>) -> tensor<1x2x3x1xf32> {
  %r = tensorrt.expand_rank %a : tensor<2x3xf32> to tensor<1x2x3x1xf32>
  return %r : tensor<1x2x3x1xf32>
}

// CHECK-LABEL: func.func @a_reshape_says_what_it_does_12(%arg0: tensor<2x3xf32>) -> tensor<1x2x3x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<2x3xf32> to tensor<1x2x3x1xf32>
// CHECK-NEXT:    return %0 : tensor<1x2x3x1xf32>
// CHECK-NEXT:  }

// -----

// Chains are as short as can be.

func.func @chains_are_as_short_as_can_be(%a: tensor<2x3x4xf32>) -> tensor<24xf32> {
  %v0 = tensorrt.reshape %a : tensor<2x3x4xf32> to tensor<6x4xf32>
  %r = tensorrt.reshape %v0 : tensor<6x4xf32> to tensor<24xf32>
  return %r : tensor<24xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be(%arg0: tensor<2x3x4xf32>) -> tensor<24xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 : tensor<2x3x4xf32> to tensor<24xf32>
// CHECK-NEXT:    return %0 : tensor<24xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_2(%a: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %v0 = tensorrt.reshape %a : tensor<2x3x4xf32> to tensor<24xf32>
  %r = tensorrt.reshape %v0 : tensor<24xf32> to tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_2(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_3(%a: tensor<2x3x4xf32>) -> tensor<2x3x1x4xf32> {
  %v0 = tensorrt.reshape %a : tensor<2x3x4xf32> to tensor<6x4xf32>
  %r = tensorrt.reshape %v0 : tensor<6x4xf32> to tensor<2x3x1x4xf32>
  return %r : tensor<2x3x1x4xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_3(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x1x4xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<2x3x4xf32> to tensor<2x3x1x4xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x1x4xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_4(%a: tensor<2x3xf32>) -> tensor<1x2x1x3xf32> {
  %v0 = tensorrt.expand_rank %a : tensor<2x3xf32> to tensor<2x1x3xf32>
  %r = tensorrt.expand_rank %v0 : tensor<2x1x3xf32> to tensor<1x2x1x3xf32>
  return %r : tensor<1x2x1x3xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_4(%arg0: tensor<2x3xf32>) -> tensor<1x2x1x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<2x3xf32> to tensor<1x2x1x3xf32>
// CHECK-NEXT:    return %0 : tensor<1x2x1x3xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_5(%a: tensor<1x2x1xf32>) -> tensor<2xf32> {
  %v0 = tensorrt.collapse_rank %a : tensor<1x2x1xf32> to tensor<1x2xf32>
  %r = tensorrt.collapse_rank %v0 : tensor<1x2xf32> to tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_5(%arg0: tensor<1x2x1xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<1x2x1xf32> to tensor<2xf32>
// CHECK-NEXT:    return %0 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_6(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %v0 = tensorrt.expand_rank %a : tensor<2x3xf32> to tensor<2x1x3xf32>
  %r = tensorrt.collapse_rank %v0 : tensor<2x1x3xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_6(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_7(%a: tensor<2x1x3xf32>) -> tensor<2x1x3xf32> {
  %v0 = tensorrt.collapse_rank %a : tensor<2x1x3xf32> to tensor<2x3xf32>
  %r = tensorrt.expand_rank %v0 : tensor<2x3xf32> to tensor<2x1x3xf32>
  return %r : tensor<2x1x3xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_7(%arg0: tensor<2x1x3xf32>) -> tensor<2x1x3xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x1x3xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_8(%a: tensor<2x3xf32>) -> tensor<2x1x3xf32> {
  %v0 = tensorrt.expand_rank %a : tensor<2x3xf32> to tensor<1x2x1x3xf32>
  %r = tensorrt.collapse_rank %v0 : tensor<1x2x1x3xf32> to tensor<2x1x3xf32>
  return %r : tensor<2x1x3xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_8(%arg0: tensor<2x3xf32>) -> tensor<2x1x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<2x3xf32> to tensor<2x1x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x3xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_9(%a: tensor<1x2x3xf32>) -> tensor<2x3xf32> {
  %v0 = tensorrt.expand_rank %a : tensor<1x2x3xf32> to tensor<1x2x1x3xf32>
  %r = tensorrt.collapse_rank %v0 : tensor<1x2x1x3xf32> to tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_9(%arg0: tensor<1x2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<1x2x3xf32> to tensor<2x3xf32>
// CHECK-NEXT:    return %0 : tensor<2x3xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_10(%a: tensor<2x1x3xf32>) -> tensor<2x1x3x1xf32> {
  %v0 = tensorrt.collapse_rank %a : tensor<2x1x3xf32> to tensor<2x3xf32>
  %r = tensorrt.expand_rank %v0 : tensor<2x3xf32> to tensor<2x1x3x1xf32>
  return %r : tensor<2x1x3x1xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_10(%arg0: tensor<2x1x3xf32>) -> tensor<2x1x3x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.expand_rank %arg0 : tensor<2x1x3xf32> to tensor<2x1x3x1xf32>
// CHECK-NEXT:    return %0 : tensor<2x1x3x1xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_11(%a: tensor<2x1x3x1xf32>) -> tensor<2x3x1xf32> {
  %v0 = tensorrt.collapse_rank %a : tensor<2x1x3x1xf32> to tensor<2x3xf32>
  %r = tensorrt.expand_rank %v0 : tensor<2x3xf32> to tensor<2x3x1xf32>
  return %r : tensor<2x3x1xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_11(%arg0: tensor<2x1x3x1xf32>) -> tensor<2x3x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<2x1x3x1xf32> to tensor<2x3x1xf32>
// CHECK-NEXT:    return %0 : tensor<2x3x1xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_12(%a: tensor<2x1x3xf32>) -> tensor<2x3x1xf32> {
  %v0 = tensorrt.collapse_rank %a : tensor<2x1x3xf32> to tensor<2x3xf32>
  %r = tensorrt.expand_rank %v0 : tensor<2x3xf32> to tensor<2x3x1xf32>
  return %r : tensor<2x3x1xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_12(%arg0: tensor<2x1x3xf32>) -> tensor<2x3x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.collapse_rank %arg0 : tensor<2x1x3xf32> to tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.expand_rank %0 : tensor<2x3xf32> to tensor<2x3x1xf32>
// CHECK-NEXT:    return %1 : tensor<2x3x1xf32>
// CHECK-NEXT:  }

// -----

func.func @chains_are_as_short_as_can_be_13(%a: tensor<?x1x?xf32>) -> tensor<?x1x?xf32> {
  %v0 = tensorrt.collapse_rank %a : tensor<?x1x?xf32> to tensor<?x?xf32>
  %r = tensorrt.expand_rank %v0 : tensor<?x?xf32> to tensor<?x1x?xf32>
  return %r : tensor<?x1x?xf32>
}

// CHECK-LABEL: func.func @chains_are_as_short_as_can_be_13(%arg0: tensor<?x1x?xf32>) -> tensor<?x1x?xf32> {
// CHECK-NEXT:    return %arg0 : tensor<?x1x?xf32>
// CHECK-NEXT:  }

// -----

// A reshape to a computed shape keeps it.

// UNEVALUATED
func.func @a_reshape_to_a_computed_shape_keeps_it(%a: tensor<2x3x4xf32>, %b: tensor<2xi32>) -> tensor<?x?xf32> {
  %v = tensorrt.reshape %a : tensor<2x3x4xf32> to tensor<6x4xf32>
  %r = tensorrt.reshape %v shape(%b: tensor<2xi32>) : tensor<6x4xf32> to tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @a_reshape_to_a_computed_shape_keeps_it(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 shape(%arg1: tensor<2xi32>) : tensor<2x3x4xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @a_reshape_to_a_computed_shape_keeps_it_2(%a: tensor<?xf32>, %b: tensor<2xi32>) -> tensor<?x1xf32> {
  %r = tensorrt.reshape %a shape(%b: tensor<2xi32>) : tensor<?xf32> to tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}

// CHECK-LABEL: func.func @a_reshape_to_a_computed_shape_keeps_it_2(%arg0: tensor<?xf32>, %arg1: tensor<2xi32>) -> tensor<?x1xf32> {
// CHECK-NEXT:    %0 = tensorrt.reshape %arg0 shape(%arg1: tensor<2xi32>) : tensor<?xf32> to tensor<?x1xf32>
// CHECK-NEXT:    return %0 : tensor<?x1xf32>
// CHECK-NEXT:  }

// -----

// A constant has the new shape.

func.func @a_constant_has_the_new_shape() -> tensor<2x1xf32> {
  %c = tensorrt.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = tensorrt.reshape %c : tensor<2xf32> to tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

// CHECK-LABEL: func.func @a_constant_has_the_new_shape() -> tensor<2x1xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}1.000000e+00], [2.000000e+00{{\]\]}}> : tensor<2x1xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<2x1xf32>
// CHECK-NEXT:  }

// -----

func.func @a_constant_has_the_new_shape_2() -> tensor<2x1xf32> {
  %c = tensorrt.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = tensorrt.expand_rank %c : tensor<2xf32> to tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}

// CHECK-LABEL: func.func @a_constant_has_the_new_shape_2() -> tensor<2x1xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<{{\[\[}}1.000000e+00], [2.000000e+00{{\]\]}}> : tensor<2x1xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<2x1xf32>
// CHECK-NEXT:  }

// -----

// A collapsed constant and one that was left out.

func.func @a_collapsed_constant_and_one_that_was_left_out() -> tensor<2xi32> {
  %c = tensorrt.constant dense<3> : tensor<1x2x1xi32>
  %r = tensorrt.collapse_rank %c : tensor<1x2x1xi32> to tensor<2xi32>
  return %r : tensor<2xi32>
}

// CHECK-LABEL: func.func @a_collapsed_constant_and_one_that_was_left_out() -> tensor<2xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<3> : tensor<2xi32>
// CHECK-NEXT:    return %cst_i32 : tensor<2xi32>
// CHECK-NEXT:  }

// -----

func.func @a_collapsed_constant_and_one_that_was_left_out_2() -> tensor<6xf32> {
  %c = tensorrt.constant dense_resource<__elided__> : tensor<2x3xf32>
  %r = tensorrt.reshape %c : tensor<2x3xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @a_collapsed_constant_and_one_that_was_left_out_2() -> tensor<6xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense_resource<__elided__> : tensor<6xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<6xf32>
// CHECK-NEXT:  }

// -----

// Weights are not read.

func.func @weights_are_not_read() -> tensor<6xf32> {
  %c = tensorrt.constant dense_resource<w> : tensor<2x3xf32>
  %r = tensorrt.reshape %c : tensor<2x3xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}
  {-# dialect_resources: {builtin: {w: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F"}} #-}

// CHECK-LABEL: func.func @weights_are_not_read() -> tensor<6xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense_resource<w> : tensor<2x3xf32>
// CHECK-NEXT:    %0 = tensorrt.reshape %cst_f32 : tensor<2x3xf32> to tensor<6xf32>
// CHECK-NEXT:    return %0 : tensor<6xf32>
// CHECK-NEXT:  }
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: {-#
// CHECK-NEXT:   dialect_resources: {
// CHECK-NEXT:     builtin: {
// CHECK-NEXT:       w: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F"
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: #-}

// -----

// A broadcast that stretches nothing is nothing.

func.func @a_broadcast_that_stretches_nothing_is_nothing(%a: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %r = tensorrt.broadcast %a broadcast_dims<0, 1, 2> : tensor<2x3x4xf32> to tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @a_broadcast_that_stretches_nothing_is_nothing(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<2x3x4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_broadcast_that_stretches_nothing_is_nothing_2(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %r = tensorrt.broadcast %a broadcast_dims<1, 0> : tensor<2x2xf32> to tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @a_broadcast_that_stretches_nothing_is_nothing_2(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<1, 0> : tensor<2x2xf32> to tensor<2x2xf32>
// CHECK-NEXT:    return %0 : tensor<2x2xf32>
// CHECK-NEXT:  }

// -----

func.func @a_broadcast_that_stretches_nothing_is_nothing_3(%a: tensor<1x2xf32>) -> tensor<3x2xf32> {
  %r = tensorrt.broadcast %a broadcast_dims<0, 1> : tensor<1x2xf32> to tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @a_broadcast_that_stretches_nothing_is_nothing_3(%arg0: tensor<1x2xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<0, 1> : tensor<1x2xf32> to tensor<3x2xf32>
// CHECK-NEXT:    return %0 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

func.func @a_broadcast_that_stretches_nothing_is_nothing_4(%a: tensor<2xf32>) -> tensor<3x2xf32> {
  %r = tensorrt.broadcast %a broadcast_dims<1> : tensor<2xf32> to tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @a_broadcast_that_stretches_nothing_is_nothing_4(%arg0: tensor<2xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %0 = tensorrt.broadcast %arg0 broadcast_dims<1> : tensor<2xf32> to tensor<3x2xf32>
// CHECK-NEXT:    return %0 : tensor<3x2xf32>
// CHECK-NEXT:  }

// -----

// A resize knows the sizes that a cast forgot.

// UNEVALUATED
func.func @a_resize_knows_the_sizes_that_a_cast_forgot(%a: tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32> {
  %c = tensor.cast %a : tensor<1x1x4x4xf32> to tensor<?x1x?x4xf32>
  %r = tensorrt.resize_nearest {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>, scales = array<f32: 1.0, 1.0, 2.0, 2.0>, nearestRounding = #tensorrt.resize_round_mode<kFLOOR>} %c : (tensor<?x1x?x4xf32>) -> tensor<?x1x?x8xf32>
  return %r : tensor<?x1x?x8xf32>
}

// CHECK-LABEL: func.func @a_resize_knows_the_sizes_that_a_cast_forgot(%arg0: tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.resize_nearest {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, nearestRounding = #tensorrt.resize_round_mode<kFLOOR>, scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>} %arg0 : (tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32>
// CHECK-NEXT:    return %0 : tensor<?x1x?x8xf32>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @a_resize_knows_the_sizes_that_a_cast_forgot_2(%a: tensor<?x1x?x4xf32>) -> tensor<?x1x?x8xf32> {
  %c = tensor.cast %a : tensor<?x1x?x4xf32> to tensor<1x1x4x4xf32>
  %r = tensorrt.resize_nearest {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>, scales = array<f32: 1.0, 1.0, 2.0, 2.0>, nearestRounding = #tensorrt.resize_round_mode<kFLOOR>} %c : (tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32>
  return %r : tensor<?x1x?x8xf32>
}

// CHECK-LABEL: func.func @a_resize_knows_the_sizes_that_a_cast_forgot_2(%arg0: tensor<?x1x?x4xf32>) -> tensor<?x1x?x8xf32> {
// CHECK-NEXT:    %cast = tensor.cast %arg0 : tensor<?x1x?x4xf32> to tensor<1x1x4x4xf32>
// CHECK-NEXT:    %0 = tensorrt.resize_nearest {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, nearestRounding = #tensorrt.resize_round_mode<kFLOOR>, scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>} %cast : (tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32>
// CHECK-NEXT:    return %0 : tensor<?x1x?x8xf32>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @a_resize_knows_the_sizes_that_a_cast_forgot_3(%a: tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32> {
  %c = tensor.cast %a : tensor<1x1x4x4xf32> to tensor<?x1x?x4xf32>
  %r = tensorrt.resize_linear {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>, scales = array<f32: 1.0, 1.0, 2.0, 2.0>} %c : (tensor<?x1x?x4xf32>) -> tensor<?x1x?x8xf32>
  return %r : tensor<?x1x?x8xf32>
}

// CHECK-LABEL: func.func @a_resize_knows_the_sizes_that_a_cast_forgot_3(%arg0: tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.resize_linear {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>} %arg0 : (tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32>
// CHECK-NEXT:    return %0 : tensor<?x1x?x8xf32>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @a_resize_knows_the_sizes_that_a_cast_forgot_4(%a: tensor<?x1x?x4xf32>) -> tensor<?x1x?x8xf32> {
  %c = tensor.cast %a : tensor<?x1x?x4xf32> to tensor<1x1x4x4xf32>
  %r = tensorrt.resize_linear {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>, scales = array<f32: 1.0, 1.0, 2.0, 2.0>} %c : (tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32>
  return %r : tensor<?x1x?x8xf32>
}

// CHECK-LABEL: func.func @a_resize_knows_the_sizes_that_a_cast_forgot_4(%arg0: tensor<?x1x?x4xf32>) -> tensor<?x1x?x8xf32> {
// CHECK-NEXT:    %cast = tensor.cast %arg0 : tensor<?x1x?x4xf32> to tensor<1x1x4x4xf32>
// CHECK-NEXT:    %0 = tensorrt.resize_linear {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>} %cast : (tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32>
// CHECK-NEXT:    return %0 : tensor<?x1x?x8xf32>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @a_resize_knows_the_sizes_that_a_cast_forgot_5(%a: tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32> {
  %c = tensor.cast %a : tensor<1x1x4x4xf32> to tensor<?x1x?x4xf32>
  %r = tensorrt.resize_cubic {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>, scales = array<f32: 1.0, 1.0, 2.0, 2.0>, cubicCoeff = -0.75 : f32} %c : (tensor<?x1x?x4xf32>) -> tensor<?x1x?x8xf32>
  return %r : tensor<?x1x?x8xf32>
}

// CHECK-LABEL: func.func @a_resize_knows_the_sizes_that_a_cast_forgot_5(%arg0: tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.resize_cubic {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, cubicCoeff = -7.500000e-01 : f32, scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>} %arg0 : (tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32>
// CHECK-NEXT:    return %0 : tensor<?x1x?x8xf32>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @a_resize_knows_the_sizes_that_a_cast_forgot_6(%a: tensor<?x1x?x4xf32>) -> tensor<?x1x?x8xf32> {
  %c = tensor.cast %a : tensor<?x1x?x4xf32> to tensor<1x1x4x4xf32>
  %r = tensorrt.resize_cubic {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>, scales = array<f32: 1.0, 1.0, 2.0, 2.0>, cubicCoeff = -0.75 : f32} %c : (tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32>
  return %r : tensor<?x1x?x8xf32>
}

// CHECK-LABEL: func.func @a_resize_knows_the_sizes_that_a_cast_forgot_6(%arg0: tensor<?x1x?x4xf32>) -> tensor<?x1x?x8xf32> {
// CHECK-NEXT:    %cast = tensor.cast %arg0 : tensor<?x1x?x4xf32> to tensor<1x1x4x4xf32>
// CHECK-NEXT:    %0 = tensorrt.resize_cubic {coordinateTransformation = #tensorrt.resize_coordinate_transformation<kASYMMETRIC>, cubicCoeff = -7.500000e-01 : f32, scales = array<f32: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>, selectorForSinglePixel = #tensorrt.resize_selector<kUPPER>} %cast : (tensor<1x1x4x4xf32>) -> tensor<?x1x?x8xf32>
// CHECK-NEXT:    return %0 : tensor<?x1x?x8xf32>
// CHECK-NEXT:  }
