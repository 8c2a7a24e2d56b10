// RUN: tripybuild opt %s --split-input-file -p canonicalize | filecheck %s
// RUN: same-values %s -p canonicalize
// RUN: settled %s -p canonicalize

// A result that nobody uses goes.

func.func @a_result_that_nobody_uses_goes(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = tensorrt.if (%c : tensor<i1>) -> tensor<4xf32>, tensor<4xf32> {
    %s = tensorrt.element_wise <kSUM>(%a, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%a, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  } else {
    %s = tensorrt.element_wise <kSUM>(%b, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%s, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %t, %s : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_result_that_nobody_uses_goes(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %0 = tensorrt.if(%arg0 : tensor<i1>) -> tensor<4xf32> {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg1, %arg2 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1 : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg2, %arg2 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      %2 = tensorrt.element_wise <kSUM>(%1, %arg1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %2 : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_result_that_nobody_uses_goes_2(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = tensorrt.if (%c : tensor<i1>) -> tensor<4xf32>, tensor<4xf32> {
    %s = tensorrt.element_wise <kSUM>(%a, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%a, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  } else {
    %s = tensorrt.element_wise <kSUM>(%b, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%s, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %t, %s : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_result_that_nobody_uses_goes_2(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %0 = tensorrt.if(%arg0 : tensor<i1>) -> tensor<4xf32> {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg1, %arg1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1 : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg2, %arg2 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1 : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

// Results that are used stay.

func.func @results_that_are_used_stay(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = tensorrt.if (%c : tensor<i1>) -> tensor<4xf32>, tensor<4xf32> {
    %s = tensorrt.element_wise <kSUM>(%a, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%a, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  } else {
    %s = tensorrt.element_wise <kSUM>(%b, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%s, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %t, %s : tensor<4xf32>, tensor<4xf32>
  }
  %q = tensorrt.element_wise <kSUM>(%r#0, %r#1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %q : tensor<4xf32>
}

// CHECK-LABEL: func.func @results_that_are_used_stay(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %0:2 = tensorrt.if(%arg0 : tensor<i1>) -> tensor<4xf32>, tensor<4xf32> {
// CHECK-NEXT:      %2 = tensorrt.element_wise <kSUM>(%arg1, %arg2 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      %3 = tensorrt.element_wise <kSUM>(%arg1, %arg1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %2, %3 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %2 = tensorrt.element_wise <kSUM>(%arg2, %arg2 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      %3 = tensorrt.element_wise <kSUM>(%2, %arg1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %3, %2 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUM>(%0#0, %0#1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    return %1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

// A value that both regions give is the result.

func.func @a_value_that_both_regions_give_is_the_result(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = tensorrt.if (%c : tensor<i1>) -> tensor<4xf32> {
    %s = tensorrt.element_wise <kSUM>(%a, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%a, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %a : tensor<4xf32>
  } else {
    %s = tensorrt.element_wise <kSUM>(%b, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%s, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_value_that_both_regions_give_is_the_result(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    return %arg1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_value_that_both_regions_give_is_the_result_2(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = tensorrt.if (%c : tensor<i1>) -> tensor<4xf32> {
    %s = tensorrt.element_wise <kSUM>(%a, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%a, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %a : tensor<4xf32>
  } else {
    %s = tensorrt.element_wise <kSUM>(%b, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%s, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_value_that_both_regions_give_is_the_result_2(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %0 = tensorrt.if(%arg0 : tensor<i1>) -> tensor<4xf32> {
// CHECK-NEXT:      tensorrt.yield %arg1 : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      tensorrt.yield %arg2 : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_value_that_both_regions_give_is_the_result_3(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = tensorrt.if (%c : tensor<i1>) -> tensor<4xf32>, tensor<4xf32> {
    %s = tensorrt.element_wise <kSUM>(%a, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%a, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %a, %s : tensor<4xf32>, tensor<4xf32>
  } else {
    %s = tensorrt.element_wise <kSUM>(%b, %b : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%s, %a : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %a, %t : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_value_that_both_regions_give_is_the_result_3(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %0 = tensorrt.if(%arg0 : tensor<i1>) -> tensor<4xf32> {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg1, %arg2 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1 : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg2, %arg2 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      %2 = tensorrt.element_wise <kSUM>(%1, %arg1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %2 : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

// A value that does not change is not carried.

func.func @a_value_that_does_not_change_is_not_carried(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %lb = tensorrt.constant dense<0> : tensor<i32>
  %ub = tensorrt.constant dense<3> : tensor<i32>
  %step = tensorrt.constant dense<1> : tensor<i32>
  %r:2 = tensorrt.for %i = %lb to %ub step %step init(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = tensorrt.element_wise <kSUM>(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %y : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_value_that_does_not_change_is_not_carried(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<i32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<3> : tensor<i32>
// CHECK-NEXT:    %cst_i32_1 = tensorrt.constant dense<1> : tensor<i32>
// CHECK-NEXT:    %0 = tensorrt.for %arg2 = %cst_i32 to %cst_i32_0 step %cst_i32_1 init(%arg3 = %arg0) -> (tensor<4xf32>) {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg3, %arg1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1 : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_value_that_does_not_change_is_not_carried_2(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %lb = tensorrt.constant dense<0> : tensor<i32>
  %ub = tensorrt.constant dense<3> : tensor<i32>
  %step = tensorrt.constant dense<1> : tensor<i32>
  %r:2 = tensorrt.for %i = %lb to %ub step %step init(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = tensorrt.element_wise <kSUM>(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %y : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_value_that_does_not_change_is_not_carried_2(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    return %arg1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_value_that_does_not_change_is_not_carried_3(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %lb = tensorrt.constant dense<0> : tensor<i32>
  %ub = tensorrt.constant dense<3> : tensor<i32>
  %step = tensorrt.constant dense<1> : tensor<i32>
  %r:2 = tensorrt.for %i = %lb to %ub step %step init(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = tensorrt.element_wise <kSUM>(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_value_that_does_not_change_is_not_carried_3(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<i32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<3> : tensor<i32>
// CHECK-NEXT:    %cst_i32_1 = tensorrt.constant dense<1> : tensor<i32>
// CHECK-NEXT:    %0 = tensorrt.for %arg2 = %cst_i32 to %cst_i32_0 step %cst_i32_1 init(%arg3 = %arg0) -> (tensor<4xf32>) {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg3, %arg1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1 : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_value_that_does_not_change_is_not_carried_4(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %lb = tensorrt.constant dense<0> : tensor<i32>
  %ub = tensorrt.constant dense<3> : tensor<i32>
  %step = tensorrt.constant dense<1> : tensor<i32>
  %r:2 = tensorrt.for %i = %lb to %ub step %step init(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = tensorrt.element_wise <kSUM>(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_value_that_does_not_change_is_not_carried_4(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    return %arg1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

// A value that changes is carried.

func.func @a_value_that_changes_is_carried(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %lb = tensorrt.constant dense<0> : tensor<i32>
  %ub = tensorrt.constant dense<3> : tensor<i32>
  %step = tensorrt.constant dense<1> : tensor<i32>
  %r:2 = tensorrt.for %i = %lb to %ub step %step init(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = tensorrt.element_wise <kSUM>(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %x : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_value_that_changes_is_carried(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<i32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<3> : tensor<i32>
// CHECK-NEXT:    %cst_i32_1 = tensorrt.constant dense<1> : tensor<i32>
// CHECK-NEXT:    %0:2 = tensorrt.for %arg2 = %cst_i32 to %cst_i32_0 step %cst_i32_1 init(%arg3 = %arg0, %arg4 = %arg1) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg3, %arg4 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1, %arg3 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0#0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_value_that_changes_is_carried_2(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %lb = tensorrt.constant dense<0> : tensor<i32>
  %ub = tensorrt.constant dense<3> : tensor<i32>
  %step = tensorrt.constant dense<1> : tensor<i32>
  %r:2 = tensorrt.for %i = %lb to %ub step %step init(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = tensorrt.element_wise <kSUM>(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %s : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_value_that_changes_is_carried_2(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<i32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<3> : tensor<i32>
// CHECK-NEXT:    %cst_i32_1 = tensorrt.constant dense<1> : tensor<i32>
// CHECK-NEXT:    %0:2 = tensorrt.for %arg2 = %cst_i32 to %cst_i32_0 step %cst_i32_1 init(%arg3 = %arg0, %arg4 = %arg1) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg3, %arg4 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1, %1 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0#0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

// A value that only carries itself goes.

func.func @a_value_that_only_carries_itself_goes(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %lb = tensorrt.constant dense<0> : tensor<i32>
  %ub = tensorrt.constant dense<3> : tensor<i32>
  %step = tensorrt.constant dense<1> : tensor<i32>
  %r:3 = tensorrt.for %i = %lb to %ub step %step init(%x = %a, %y = %b, %z = %a) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %s = tensorrt.element_wise <kSUM>(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %t = tensorrt.element_wise <kSUM>(%z, %z : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %x, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_value_that_only_carries_itself_goes(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<i32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<3> : tensor<i32>
// CHECK-NEXT:    %cst_i32_1 = tensorrt.constant dense<1> : tensor<i32>
// CHECK-NEXT:    %0:2 = tensorrt.for %arg2 = %cst_i32 to %cst_i32_0 step %cst_i32_1 init(%arg3 = %arg0, %arg4 = %arg1) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg3, %arg4 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1, %arg3 : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0#0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

// A loop that nobody uses goes.

func.func @a_loop_that_nobody_uses_goes(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %lb = tensorrt.constant dense<0> : tensor<i32>
  %ub = tensorrt.constant dense<3> : tensor<i32>
  %step = tensorrt.constant dense<1> : tensor<i32>
  %r:2 = tensorrt.for %i = %lb to %ub step %step init(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %s = tensorrt.element_wise <kSUM>(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %s, %x : tensor<4xf32>, tensor<4xf32>
  }
  return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_loop_that_nobody_uses_goes(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    return %arg0 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

// A while loop carries what changes.

func.func @a_while_loop_carries_what_changes(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %zero = tensorrt.constant dense<0.0> : tensor<f32>
  %one = tensorrt.constant dense<1.0> : tensor<f32>
  %three = tensorrt.constant dense<3.0> : tensor<f32>
  %r:3 = tensorrt.while (%zero, %a, %b : tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32>, tensor<4xf32> {
  ^bb0(%n: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>):
    %go = tensorrt.element_wise <kLESS>(%n, %three : tensor<f32>, tensor<f32>) -> tensor<i1>
    tensorrt.condition(%go : tensor<i1>) %n, %x, %y : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }, {
  ^bb0(%k: tensor<f32>, %u: tensor<4xf32>, %v: tensor<4xf32>):
    %m = tensorrt.element_wise <kSUM>(%k, %one : tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = tensorrt.element_wise <kSUM>(%u, %v : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %m, %s, %v : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_while_loop_carries_what_changes(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:    %0:2 = tensorrt.while(%cst_f32, %arg0 : tensor<f32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32> {
// CHECK-NEXT:    ^bb0(%arg2: tensor<f32>, %arg3: tensor<4xf32>):
// CHECK-NEXT:      %1 = tensorrt.element_wise <kLESS>(%arg2, %cst_f32_1 : tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:      tensorrt.condition(%1 : tensor<i1>) %arg2, %arg3 : tensor<f32>, tensor<4xf32>
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%arg2: tensor<f32>, %arg3: tensor<4xf32>):
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg2, %cst_f32_0 : tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %2 = tensorrt.element_wise <kSUM>(%arg3, %arg1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1, %2 : tensor<f32>, tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0#1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_while_loop_carries_what_changes_2(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %zero = tensorrt.constant dense<0.0> : tensor<f32>
  %one = tensorrt.constant dense<1.0> : tensor<f32>
  %three = tensorrt.constant dense<3.0> : tensor<f32>
  %r:3 = tensorrt.while (%zero, %a, %b : tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32>, tensor<4xf32> {
  ^bb0(%n: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>):
    %go = tensorrt.element_wise <kLESS>(%n, %three : tensor<f32>, tensor<f32>) -> tensor<i1>
    tensorrt.condition(%go : tensor<i1>) %n, %x, %y : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }, {
  ^bb0(%k: tensor<f32>, %u: tensor<4xf32>, %v: tensor<4xf32>):
    %m = tensorrt.element_wise <kSUM>(%k, %one : tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = tensorrt.element_wise <kSUM>(%u, %v : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %m, %s, %v : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_while_loop_carries_what_changes_2(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    return %arg1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_while_loop_carries_what_changes_3(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %zero = tensorrt.constant dense<0.0> : tensor<f32>
  %one = tensorrt.constant dense<1.0> : tensor<f32>
  %three = tensorrt.constant dense<3.0> : tensor<f32>
  %r:3 = tensorrt.while (%zero, %a, %b : tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32>, tensor<4xf32> {
  ^bb0(%n: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>):
    %go = tensorrt.element_wise <kLESS>(%n, %three : tensor<f32>, tensor<f32>) -> tensor<i1>
    tensorrt.condition(%go : tensor<i1>) %n, %x, %y : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }, {
  ^bb0(%k: tensor<f32>, %u: tensor<4xf32>, %v: tensor<4xf32>):
    %m = tensorrt.element_wise <kSUM>(%k, %one : tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = tensorrt.element_wise <kSUM>(%u, %v : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %m, %s, %b : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_while_loop_carries_what_changes_3(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:    %0:2 = tensorrt.while(%cst_f32, %arg0 : tensor<f32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32> {
// CHECK-NEXT:    ^bb0(%arg2: tensor<f32>, %arg3: tensor<4xf32>):
// CHECK-NEXT:      %1 = tensorrt.element_wise <kLESS>(%arg2, %cst_f32_1 : tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:      tensorrt.condition(%1 : tensor<i1>) %arg2, %arg3 : tensor<f32>, tensor<4xf32>
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%arg2: tensor<f32>, %arg3: tensor<4xf32>):
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg2, %cst_f32_0 : tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %2 = tensorrt.element_wise <kSUM>(%arg3, %arg1 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1, %2 : tensor<f32>, tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0#1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

// A while loop keeps what takes turns.

func.func @a_while_loop_keeps_what_takes_turns(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %zero = tensorrt.constant dense<0.0> : tensor<f32>
  %one = tensorrt.constant dense<1.0> : tensor<f32>
  %three = tensorrt.constant dense<3.0> : tensor<f32>
  %r:3 = tensorrt.while (%zero, %a, %b : tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32>, tensor<4xf32> {
  ^bb0(%n: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>):
    %go = tensorrt.element_wise <kLESS>(%n, %three : tensor<f32>, tensor<f32>) -> tensor<i1>
    tensorrt.condition(%go : tensor<i1>) %n, %y, %x : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }, {
  ^bb0(%k: tensor<f32>, %u: tensor<4xf32>, %v: tensor<4xf32>):
    %m = tensorrt.element_wise <kSUM>(%k, %one : tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = tensorrt.element_wise <kSUM>(%u, %v : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %m, %s, %v : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_while_loop_keeps_what_takes_turns(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:    %0:3 = tensorrt.while(%cst_f32, %arg0, %arg1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32>, tensor<4xf32> {
// CHECK-NEXT:    ^bb0(%arg2: tensor<f32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>):
// CHECK-NEXT:      %1 = tensorrt.element_wise <kLESS>(%arg2, %cst_f32_1 : tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:      tensorrt.condition(%1 : tensor<i1>) %arg2, %arg4, %arg3 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%arg2: tensor<f32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>):
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg2, %cst_f32_0 : tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %2 = tensorrt.element_wise <kSUM>(%arg3, %arg4 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1, %2, %arg4 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0#1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_while_loop_keeps_what_takes_turns_2(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %zero = tensorrt.constant dense<0.0> : tensor<f32>
  %one = tensorrt.constant dense<1.0> : tensor<f32>
  %three = tensorrt.constant dense<3.0> : tensor<f32>
  %r:3 = tensorrt.while (%zero, %a, %b : tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32>, tensor<4xf32> {
  ^bb0(%n: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>):
    %go = tensorrt.element_wise <kLESS>(%n, %three : tensor<f32>, tensor<f32>) -> tensor<i1>
    tensorrt.condition(%go : tensor<i1>) %n, %x, %y : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }, {
  ^bb0(%k: tensor<f32>, %u: tensor<4xf32>, %v: tensor<4xf32>):
    %m = tensorrt.element_wise <kSUM>(%k, %one : tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = tensorrt.element_wise <kSUM>(%u, %v : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %m, %s, %u : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_while_loop_keeps_what_takes_turns_2(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:    %0:3 = tensorrt.while(%cst_f32, %arg0, %arg1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32>, tensor<4xf32> {
// CHECK-NEXT:    ^bb0(%arg2: tensor<f32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>):
// CHECK-NEXT:      %1 = tensorrt.element_wise <kLESS>(%arg2, %cst_f32_1 : tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:      tensorrt.condition(%1 : tensor<i1>) %arg2, %arg3, %arg4 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%arg2: tensor<f32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>):
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg2, %cst_f32_0 : tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %2 = tensorrt.element_wise <kSUM>(%arg3, %arg4 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1, %2, %arg3 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0#1 : tensor<4xf32>
// CHECK-NEXT:  }

// -----

func.func @a_while_loop_keeps_what_takes_turns_3(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %zero = tensorrt.constant dense<0.0> : tensor<f32>
  %one = tensorrt.constant dense<1.0> : tensor<f32>
  %three = tensorrt.constant dense<3.0> : tensor<f32>
  %r:3 = tensorrt.while (%zero, %a, %b : tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32>, tensor<4xf32> {
  ^bb0(%n: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>):
    %go = tensorrt.element_wise <kLESS>(%n, %three : tensor<f32>, tensor<f32>) -> tensor<i1>
    tensorrt.condition(%go : tensor<i1>) %n, %x, %y : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }, {
  ^bb0(%k: tensor<f32>, %u: tensor<4xf32>, %v: tensor<4xf32>):
    %m = tensorrt.element_wise <kSUM>(%k, %one : tensor<f32>, tensor<f32>) -> tensor<f32>
    %s = tensorrt.element_wise <kSUM>(%u, %v : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tensorrt.yield %m, %v, %s : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_while_loop_keeps_what_takes_turns_3(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:    %0:3 = tensorrt.while(%cst_f32, %arg0, %arg1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<f32>, tensor<4xf32>, tensor<4xf32> {
// CHECK-NEXT:    ^bb0(%arg2: tensor<f32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>):
// CHECK-NEXT:      %1 = tensorrt.element_wise <kLESS>(%arg2, %cst_f32_1 : tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT:      tensorrt.condition(%1 : tensor<i1>) %arg2, %arg3, %arg4 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }, {
// CHECK-NEXT:    ^bb0(%arg2: tensor<f32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>):
// CHECK-NEXT:      %1 = tensorrt.element_wise <kSUM>(%arg2, %cst_f32_0 : tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %2 = tensorrt.element_wise <kSUM>(%arg3, %arg4 : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      tensorrt.yield %1, %arg4, %2 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0#1 : tensor<4xf32>
// CHECK-NEXT:  }
