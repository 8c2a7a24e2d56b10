// RUN: tripybuild opt %s | filecheck %s
// RUN: tripybuild opt %s --print-generic | filecheck %s --check-prefix=GENERIC

func.func @blocks(%x: tensor<?x32xbf16>, %s: tensor<bf16>) -> (tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>) {
  %0, %1 = tensorrt.dynamic_quantize {axis = 1 : i32, block_size = 16 : i32} in (%x : tensor<?x32xbf16>) double_quant_scale (%s : tensor<bf16>) -> tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>
  return %0, %1 : tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>
}

// CHECK: %0:2 = tensorrt.dynamic_quantize {axis = 1 : i32} in(%arg0 : tensor<?x32xbf16>) double_quant_scale(%arg1 : tensor<bf16>) -> tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>
// GENERIC: "tensorrt.dynamic_quantize"(%arg0, %arg1) <{axis = 1 : i32{{.*}}}> : (tensor<?x32xbf16>, tensor<bf16>) -> (tensor<?x32xf4E2M1FN>, tensor<?x2xf8E4M3FN>)
