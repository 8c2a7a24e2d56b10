// RUN: tripybuild opt %s --plugins ../inputs/plugins.py --split-input-file --verify-diagnostics -p tensorrt-infer-plugin-shapes

func.func @nowhere(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{No plugin `Nowhere`, version `1`, is registered in ``}}
  %0 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "Nowhere", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @data(%a: tensor<?x2xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{The plugin `Data` does not implement its output shapes}}
  // expected-note @below {{it declares a size tensor, which depends on data}}
  %0 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "Data", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?x2xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @asking(%a: tensor<?x2xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{The plugin `Asking` does not implement its output shapes}}
  // expected-note @below {{it asks for the value of a size that is not known}}
  %0 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "Asking", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?x2xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @number(%a: tensor<?x2xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{The plugin `Number` does not implement its output shapes}}
  // expected-note @below {{it returns `int` for a size}}
  %0 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "Number", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?x2xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

func.func @too_few(%a: tensor<?x4xf32>) -> tensor<?xf32> {
  // expected-error @below {{expected 1 i64 values to be yielded from the 'shapes' region but got 2 values}}
  %0 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "Half", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?x4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
