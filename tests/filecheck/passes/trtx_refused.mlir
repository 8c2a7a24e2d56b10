// RUN: tripybuild opt %s --split-input-file --verify-diagnostics -p trtx-to-tensorrt

// What NVIDIA's dialect cannot say is refused by its name and at its place.

func.func @attention(%a: tensor<?x?x3x4xf32>, %b: tensor<?x2x5x4xf32>, %c: tensor<?x2x5x4xf32>) -> tensor<?x?x3x4xf32> {
  // expected-error @below {{`trtx.attention` cannot be written in NVIDIA's tensorrt dialect: the number of query heads per key-value head is unknown}}
  %0 = trtx.attention {} ins(%a, %b, %c : tensor<?x?x3x4xf32>, tensor<?x2x5x4xf32>, tensor<?x2x5x4xf32>)
  return %0 : tensor<?x?x3x4xf32>
}

// -----

func.func @lrn(%a: tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32> {
  // expected-error @below {{`trtx.lrn` cannot be written in NVIDIA's tensorrt dialect: only of images `[batch, channels, height, width]` is it known what it means}}
  %0 = trtx.lrn {alpha = 1.0 : f32, beta = 0.75 : f32, k = 2.0 : f32, window = 3 : i64} %a : tensor<2x3x4x5x6xf32>
  return %0 : tensor<2x3x4x5x6xf32>
}

// -----

func.func @lrn_2(%a: tensor<2x3x4x5xi8>) -> tensor<2x3x4x5xi8> {
  // expected-error @below {{`trtx.lrn` cannot be written in NVIDIA's tensorrt dialect: its integers are quantized floats, with an unknown scale}}
  %0 = trtx.lrn {alpha = 1.0 : f32, beta = 0.75 : f32, k = 2.0 : f32, window = 3 : i64} %a : tensor<2x3x4x5xi8>
  return %0 : tensor<2x3x4x5xi8>
}

// -----

func.func @rotary_embedding(%a: tensor<2x3x4x?xf32>, %b: tensor<2x4x?xf32>) -> tensor<2x3x4x?xf32> {
  // expected-error @below {{`trtx.rotary_embedding` cannot be written in NVIDIA's tensorrt dialect: its head size is unknown}}
  %0 = trtx.rotary_embedding ins(%a, %b, %b : tensor<2x3x4x?xf32>, tensor<2x4x?xf32>, tensor<2x4x?xf32>)
  return %0 : tensor<2x3x4x?xf32>
}

// -----

func.func @scale(%a: tensor<2x?x3xf32>, %b: tensor<?xf32>) -> tensor<2x?x3xf32> {
  // expected-error @below {{`trtx.scale` cannot be written in NVIDIA's tensorrt dialect: its number of weights is unknown}}
  %0 = trtx.scale <kCHANNEL> %a shift(%b : tensor<?xf32>) : tensor<2x?x3xf32>
  return %0 : tensor<2x?x3xf32>
}

// -----

func.func @kv_cache_update(%a: tensor<2x3x6x4xf32>, %b: tensor<2x3x2x4xf32>, %c: tensor<2xi32>) -> tensor<2x3x6x4xf32> {
  // expected-error @below {{`trtx.kv_cache_update` cannot be written in NVIDIA's tensorrt dialect: only updates of one length can be scattered}}
  %0 = trtx.kv_cache_update ins(%a, %b, %c : tensor<2x3x6x4xf32>, tensor<2x3x2x4xf32>, tensor<2xi32>) update_lengths(%c : tensor<2xi32>)
  return %0 : tensor<2x3x6x4xf32>
}

// -----

func.func @grid_sample(%a: tensor<1x1x2x2xf32>, %b: tensor<1x3x3x2xf32>) -> tensor<1x1x3x3xf32> {
  // expected-error @below {{`trtx.grid_sample` cannot be written in NVIDIA's tensorrt dialect: it interpolates at places that only the run knows}}
  %0 = trtx.grid_sample ins(%a, %b : tensor<1x1x2x2xf32>, tensor<1x3x3x2xf32>) -> tensor<1x1x3x3xf32>
  return %0 : tensor<1x1x3x3xf32>
}

// -----

func.func @constant(%a: tensor<2xf32>) -> tensor<2xf4E2M1FN> {
  // expected-error @below {{`trtx.constant` cannot be written in NVIDIA's tensorrt dialect: it has no constants of f4}}
  %0 = trtx.constant dense<0.5> : tensor<2xf4E2M1FN>
  return %0 : tensor<2xf4E2M1FN>
}

// -----

func.func @quantize(%a: tensor<4x2xf32>, %b: tensor<f32>) -> tensor<4x2xf4E2M1FN> {
  // expected-error @below {{`trtx.quantize` cannot be written in NVIDIA's tensorrt dialect: it has f4 as what is dequantized, and not as what is quantized}}
  %0 = trtx.quantize in(%a : tensor<4x2xf32>) scale(%b : tensor<f32>) -> tensor<4x2xf4E2M1FN>
  return %0 : tensor<4x2xf4E2M1FN>
}

// -----

func.func @all_reduce(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{`trtx.all_reduce` cannot be written in NVIDIA's tensorrt dialect: several devices do it together}}
  %0 = trtx.all_reduce <kSUM> %a : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
