func.func @yields_too_few(%n: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'tensorrt.for' op  region control flow edge from Region #0 to Region #0: source has 0 operands, but target successor needs 1}}
  %r = tensorrt.for %i = %n to %n step %i init(%c = %a) -> (tensor<4xf32>) {
  }
  return %r : tensor<4xf32>
}