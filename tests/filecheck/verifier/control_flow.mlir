// RUN: tripybuild opt %s --split-input-file --verify-diagnostics

func.func @yield_in_function(%x: tensor<4xf32>) {
  // expected-error @below {{'tensorrt.yield' op expects parent op to be one of 'tensorrt.if, tensorrt.for, tensorrt.while, tensorrt.opaque_plugin'}}
  tensorrt.yield %x : tensor<4xf32>
}

// -----

func.func @yield_of_another_dialect(%x: tensor<4xf32>, %p: i1) {
  // expected-error @below {{'scf.if' op expects regions to end with 'scf.yield', found 'tensorrt.yield'}}
  // expected-note @below {{in custom textual format, the absence of terminator implies 'scf.yield'}}
  scf.if %p {
    tensorrt.yield
  }
  return
}

// -----

func.func @yield_is_not_last() {
  // expected-error @below {{'tensorrt.yield' op must be the last operation in the parent block}}
  tensorrt.yield
  return
}

// -----

func.func @condition_ends_for(%n: tensor<i32>, %a: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  // expected-error @below {{'tensorrt.for' op expects regions to end with 'tensorrt.yield', found 'tensorrt.condition'}}
  // expected-note @below {{in custom textual format, the absence of terminator implies 'tensorrt.yield'}}
  %r = tensorrt.for %i = %n to %n step %n init(%c = %a) -> (tensor<4xf32>) {
    tensorrt.condition(%p : tensor<i1>) %c : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @condition_in_if(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensorrt.if (%c : tensor<i1>) -> tensor<4xf32> {
    // expected-error @below {{'tensorrt.condition' op expects parent op 'tensorrt.while'}}
    tensorrt.condition(%c : tensor<i1>) %x : tensor<4xf32>
  } else {
    tensorrt.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @bound_of_another_type(%n: tensor<i32>, %s: tensor<i64>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{use of value '%s' expects different type than prior uses: 'tensor<i32>' vs 'tensor<i64>'}}
  %r = tensorrt.for %i = %n to %n step %s init(%c = %a) -> (tensor<4xf32>) {
    tensorrt.yield %c : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @first_value_of_another_type(%n: tensor<i32>) -> tensor<4xf32> {
  %a:2 = tensorrt.top_k <kMAX> {axis = 0 : i64, k = 4 : i64} %n : tensor<i32> -> tensor<4xf32>, tensor<4xi32>
  // expected-error @below {{use of value '%a' expects different type than prior uses: 'tensor<4xf32>' vs 'tensor<4xi32>'}}
  // expected-note-re @below {{prior use here: control_flow.mlir:{{[0-9]+}}:10}}
  %r = tensorrt.for %i = %n to %n step %n init(%c = %a#1) -> (tensor<4xf32>) {
    tensorrt.yield %c : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @yield_names_another_type(%n: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %r = tensorrt.for %i = %n to %n step %n init(%c = %a) -> (tensor<4xf32>) {
    // expected-error @below {{use of value '%c' expects different type than prior uses: 'tensor<4xf16>' vs 'tensor<4xf32>'}}
    tensorrt.yield %c : tensor<4xf16>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @next_turn_of_another_type(%n: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'tensorrt.for' op  along control flow edge from Region #0 to Region #0: source type #0 'tensor<4xf16>' should match input type #0 'tensor<4xf32>'}}
  %r = tensorrt.for %i = %n to %n step %n init(%c = %a) -> (tensor<4xf32>) {
    %t = tensorrt.cast %c : tensor<4xf32> to tensor<4xf16>
    tensorrt.yield %t : tensor<4xf16>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @first_turn_of_another_type(%n: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'tensorrt.for' op  along control flow edge from parent operands to Region #0: source type #0 'tensor<4xf32>' should match input type #0 'tensor<4xf16>'}}
  %r = "tensorrt.for"(%n, %n, %n, %a) ({
  ^bb0(%i: tensor<i32>, %c: tensor<4xf16>):
    tensorrt.yield %a : tensor<4xf32>
  }) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @no_turn_of_another_type(%n: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error @below {{'tensorrt.for' op  along control flow edge from parent operands to parent results: source type #0 'tensor<4xf32>' should match input type #0 'tensor<4xf16>'}}
  %r = "tensorrt.for"(%n, %n, %n, %a) ({
  ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
    tensorrt.yield %c : tensor<4xf32>
  }) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xf32>) -> tensor<4xf16>
  return %r : tensor<4xf16>
}

// -----

func.func @yields_too_few(%n: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'tensorrt.for' op  region control flow edge from Region #0 to Region #0: source has 0 operands, but target successor needs 1}}
  %r = tensorrt.for %i = %n to %n step %n init(%c = %a) -> (tensor<4xf32>) {
  }
  return %r : tensor<4xf32>
}

// -----

func.func @yield_ends_a_condition(%n: tensor<i32>) -> tensor<i32> {
  // expected-error @below {{'tensorrt.while' op  region control flow edge from Region #0 to parent results: source has 1 operands, but target successor needs 2}}
  %r:2 = tensorrt.while(%n, %n : tensor<i32>, tensor<i32>) -> tensor<i32>, tensor<i32> {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    tensorrt.yield %a : tensor<i32>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    tensorrt.yield %a, %b : tensor<i32>, tensor<i32>
  }
  return %r#0 : tensor<i32>
}
