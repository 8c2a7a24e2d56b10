// RUN: tripybuild opt %s --split-input-file -p test-tensorrt-shape-inference,cse | filecheck %s
// RUN: settled %s -p test-tensorrt-shape-inference

// Numbers of the type, dimensions that are handed on, the greatest of what is broadcast, elements of a
// tensor of sizes; what only an argument knows stays.

func.func @sizes(%a: tensor<?x4xf32>, %b: tensor<?x?xf32>, %n: tensor<2xi32>) -> (index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %a : tensor<?x4xf32> to tensor<4x?xf32>
  %e = tensorrt.element_wise <kSUM>(%a, %b : tensor<?x4xf32>, tensor<?x?xf32>) -> tensor<?x4xf32>
  %r = tensorrt.reshape %a shape(%n: tensor<2xi32>) : tensor<?x4xf32> to tensor<?x?xf32>
  %0 = tensor.dim %t, %c1 : tensor<4x?xf32>
  %1 = tensor.dim %e, %c0 : tensor<?x4xf32>
  %2 = tensor.dim %e, %c1 : tensor<?x4xf32>
  %3 = tensor.dim %r, %c1 : tensor<?x?xf32>
  %4 = tensor.dim %a, %c0 : tensor<?x4xf32>
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}

// CHECK-LABEL: func.func @sizes
// CHECK:      %[[A:dim.*]] = tensor.dim %arg0, %c0
// CHECK-NEXT: %[[B:dim.*]] = tensor.dim %arg1, %c0
// CHECK-NEXT: %[[MAX:.*]] = arith.maxsi %[[A]], %[[B]] : index
// CHECK:      %[[N:.*]] = tensor.extract %arg2[%c1] : tensor<2xi32>
// CHECK-NEXT: %[[CAST:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK-NEXT: return %[[A]], %[[MAX]], %c4, %[[CAST]], %[[A]]

// -----

// A product has the rows of one operand and the columns of the other. What an operation computes of
// its sizes is not said: a concatenation, a filter.

func.func @computed(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %j = tensorrt.concatenation {axis = 0 : i32} ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %0 = tensor.dim %j, %c0 : tensor<?x?xf32>
  %1 = tensor.dim %j, %c1 : tensor<?x?xf32>
  %2 = tensor.dim %m, %c1 : tensor<?x?xf32>
  return %0, %1, %2 : index, index, index
}

// CHECK-LABEL: func.func @computed
// CHECK:      %[[SUM:.*]] = tensor.dim %{{[0-9]+}}, %c0 : tensor<?x?xf32>
// CHECK:      %[[SECOND:.*]] = tensor.dim %arg0, %c1 : tensor<?x?xf32>
// CHECK-NEXT: %[[COLUMNS:.*]] = tensor.dim %arg1, %c0 : tensor<?x?xf32>
// CHECK-NEXT: return %[[SUM]], %[[SECOND]], %[[COLUMNS]]

// -----

// A plugin's region is computed outside of it, as far as the size needs it.

func.func @plugin(%a: tensor<?x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "P", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?x?xf32>) -> tensor<?x?xf32> {
  ^bb0(%rows: i64, %columns: i64):
    %two = arith.constant 2 : i64
    %half = arith.ceildivsi %rows, %two : i64
    %both = arith.addi %half, %columns : i64
    tensorrt.yield %half, %both : i64, i64
  }
  %1 = tensor.dim %0, %c0 : tensor<?x?xf32>
  %2 = tensor.dim %0, %c1 : tensor<?x?xf32>
  return %1, %2 : index, index
}

// CHECK-LABEL: func.func @plugin
// CHECK:      %[[DIM:.*]] = tensor.dim %arg0, %c0 : tensor<?x?xf32>
// CHECK-NEXT: %[[ROWS:.*]] = arith.index_cast %[[DIM]] : index to i64
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-NEXT: %[[HALF:.*]] = arith.ceildivsi %[[ROWS]], %[[TWO]] : i64
// CHECK-NEXT: %[[FIRST:.*]] = arith.index_cast %[[HALF]] : i64 to index
// CHECK:      arith.addi %[[HALF]]
// CHECK:      return %[[FIRST]], %{{[0-9]+}}

// -----

// What nothing says stays: an index that is computed, a plugin without a region, a region's result.

func.func @open(%a: tensor<?x4xf32>, %c: tensor<i1>, %i: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %t = tensorrt.transpose {permutation = affine_map<(d0, d1) -> (d1, d0)>} %a : tensor<?x4xf32> to tensor<4x?xf32>
  %p = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "P", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?x4xf32>) -> tensor<?xf32>
  %if = tensorrt.if (%c : tensor<i1>) -> tensor<?x4xf32> {
    tensorrt.yield %a : tensor<?x4xf32>
  } else {
    tensorrt.yield %a : tensor<?x4xf32>
  }
  %0 = tensor.dim %t, %i : tensor<4x?xf32>
  %1 = tensor.dim %p, %c0 : tensor<?xf32>
  %2 = tensor.dim %if, %c0 : tensor<?x4xf32>
  return %0, %1, %2 : index, index, index
}

// CHECK-LABEL: func.func @open
// CHECK:      %[[T:[0-9]+]] = tensorrt.transpose
// CHECK-NEXT: %[[P:[0-9]+]] = tensorrt.opaque_plugin
// CHECK-NEXT: %[[IF:[0-9]+]] = tensorrt.if
// CHECK:      tensor.dim %[[T]], %arg2
// CHECK-NEXT: tensor.dim %[[P]], %c0
// CHECK-NEXT: tensor.dim %[[IF]], %c0

// -----

// A linear range has the sizes of its operand, and a reduction a number that the type does not have.

func.func @numbers(%n: tensor<1xi32>, %s: tensor<f32>, %d: tensor<1xf32>, %a: tensor<?x4xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %l = tensorrt.linspace[%s : tensor<f32>][%n : tensor<1xi32>][%d : tensor<1xf32>] : tensor<?xf32>
  %r = tensorrt.reduce <kSUM> %a {keepDimensions = true, reduceAxes = array<i64: 0>} : tensor<?x4xf32> -> tensor<?x4xf32>
  %0 = tensor.dim %l, %c0 : tensor<?xf32>
  %1 = tensor.dim %r, %c0 : tensor<?x4xf32>
  return %0, %1 : index, index
}

// CHECK-LABEL: func.func @numbers
// CHECK:      %[[N:.*]] = tensor.extract %arg0[%c0] : tensor<1xi32>
// CHECK-NEXT: %[[SIZE:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT: return %[[SIZE]], %[[ONE]]
