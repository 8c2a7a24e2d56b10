// RUN: tripybuild opt %s --split-input-file -p cse | filecheck %s
// RUN: same-values %s -p cse
// RUN: settled %s -p cse

// Equal ops are one. Same op, same operands, same attributes; a chain of them is shared to its end.

func.func @equal_ops_are_one(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2xf32>
  %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2xf32>
  %2 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %0 : tensor<2xf32>
  %3 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %1 : tensor<2xf32>
  %4 = tensorrt.element_wise <kSUM>(%2, %3 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %4 : tensor<2xf32>
}

// CHECK-LABEL: func.func @equal_ops_are_one(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %arg0 : tensor<2xf32>
// CHECK-NEXT:    %1 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %0 : tensor<2xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%1, %1 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    return %2 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

// What differs stays. Another attribute, another order of operands, another result type, another
// constant.

func.func @what_differs_stays(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<?xf32>) {
  %a = tensorrt.constant dense<1.0> : tensor<2x3xf32>
  %b = tensorrt.constant dense<2.0> : tensor<2x3xf32>
  %0 = tensorrt.element_wise <kSUB>(%x, %y : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tensorrt.element_wise <kSUB>(%y, %x : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tensorrt.element_wise <kPROD>(%0, %a : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %b : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = tensorrt.element_wise <kSUM>(%2, %3 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = tensorrt.reshape %4 : tensor<2x3xf32> to tensor<6xf32>
  %6 = tensorrt.reshape %4 : tensor<2x3xf32> to tensor<?xf32>
  return %5, %6 : tensor<6xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @what_differs_stays(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<?xf32>) {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<2.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kSUB>(%arg0, %arg1 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%arg1, %arg0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kPROD>(%0, %cst_f32 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%1, %cst_f32_0 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kSUM>(%2, %3 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %5 = tensorrt.reshape %4 : tensor<2x3xf32> to tensor<6xf32>
// CHECK-NEXT:    %6 = tensorrt.reshape %4 : tensor<2x3xf32> to tensor<?xf32>
// CHECK-NEXT:    return %5, %6 : tensor<6xf32>, tensor<?xf32>
// CHECK-NEXT:  }

// -----

// Effects are not shared. Assertions are kept, equal or not; random numbers differ.

// UNEVALUATED
func.func @effects_are_not_shared(%c: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>) {
  tensorrt.assertion {message = "no"} ins(%c : tensor<i1>)
  tensorrt.assertion {message = "no"} ins(%c : tensor<i1>)
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNOT>} %c : tensor<i1>
  %1 = func.call @f() : () -> tensor<2xf32>
  %2 = func.call @f() : () -> tensor<2xf32>
  return %1, %2 : tensor<2xf32>, tensor<2xf32>
}
func.func private @f() -> tensor<2xf32>

// CHECK-LABEL: func.func @effects_are_not_shared(%arg0: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>) {
// CHECK-NEXT:    tensorrt.assertion {message = "no"} ins(%arg0 : tensor<i1>)
// CHECK-NEXT:    tensorrt.assertion {message = "no"} ins(%arg0 : tensor<i1>)
// CHECK-NEXT:    %0 = call @f() : () -> tensor<2xf32>
// CHECK-NEXT:    %1 = call @f() : () -> tensor<2xf32>
// CHECK-NEXT:    return %0, %1 : tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT:  }
// CHECK-LABEL: func.func private @f() -> tensor<2xf32>

// -----

// Regions see what is around them and not each other. The `exp` outside serves inside; one branch's
// `abs` serves neither the other nor after.

func.func @regions_see_what_is_around_them_and_not_each_other(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2xf32>
  %1 = tensorrt.if(%c : tensor<i1>) -> tensor<2xf32> {
    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2xf32>
    %3 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %2 : tensor<2xf32>
    tensorrt.yield %3 : tensor<2xf32>
  } else {
    %4 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<2xf32>
    tensorrt.yield %4 : tensor<2xf32>
  }
  %5 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<2xf32>
  %6 = tensorrt.element_wise <kSUM>(%1, %5 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %6 : tensor<2xf32>
}

// CHECK-LABEL: func.func @regions_see_what_is_around_them_and_not_each_other(%arg0: tensor<i1>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %arg1 : tensor<2xf32>
// CHECK-NEXT:    %1 = tensorrt.if(%arg0 : tensor<i1>) -> tensor<2xf32> {
// CHECK-NEXT:      %4 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<2xf32>
// CHECK-NEXT:      tensorrt.yield %4 : tensor<2xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %4 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<2xf32>
// CHECK-NEXT:      tensorrt.yield %4 : tensor<2xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<2xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kSUM>(%1, %2 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    return %3 : tensor<2xf32>
// CHECK-NEXT:  }

// -----

// Functions are apart. What is equal in two functions stays in both.

func.func @f0(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = tensorrt.constant dense<1.0> : tensor<2xf32>
  return %c : tensor<2xf32>
}
func.func @f1(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = tensorrt.constant dense<1.0> : tensor<2xf32>
  return %c : tensor<2xf32>
}

// CHECK-LABEL: func.func @f0(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<2xf32>
// CHECK-NEXT:  }
// CHECK-LABEL: func.func @f1(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT:    return %cst_f32 : tensor<2xf32>
// CHECK-NEXT:  }
