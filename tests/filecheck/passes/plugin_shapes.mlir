// RUN: tripybuild opt %s --plugins ../inputs/plugins.py -p tensorrt-infer-plugin-shapes | filecheck %s
// RUN: settled %s -p tensorrt-infer-plugin-shapes

// What a plugin computes of the sizes of its inputs becomes arithmetic; a size that is known is a
// number to it, and has an argument of the region all the same.

func.func @half(%a: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %0 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "Half", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?x4xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @half
// CHECK:      ^bb0(%[[ROWS:.*]]: i64, %{{.*}}: i64):
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-NEXT: %[[HALF:.*]] = arith.ceildivsi %[[ROWS]], %[[TWO]] : i64
// CHECK-NEXT: %[[FOUR:.*]] = arith.constant 4 : i64
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[HALF]], %[[FOUR]] : i64
// CHECK-NEXT: tensorrt.yield %[[HALF]], %[[SUM]] : i64, i64

func.func @every(%a: tensor<?x?xf32>) -> tensor<?x7xf32> {
  %0 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "Every", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?x?xf32>) -> tensor<?x7xf32>
  return %0 : tensor<?x7xf32>
}

// CHECK-LABEL: func.func @every
// CHECK:      ^bb0(%[[A:.*]]: i64, %[[B:.*]]: i64):
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[A]], %[[B]] : i64
// CHECK-NEXT: %[[PROD:.*]] = arith.muli %[[SUM]], %[[B]] : i64
// CHECK-NEXT: %[[MAX:.*]] = arith.maxsi %[[PROD]], %[[B]] : i64
// CHECK-NEXT: %[[MIN:.*]] = arith.minsi %[[MAX]], %[[B]] : i64
// CHECK-NEXT: %[[SUB:.*]] = arith.subi %[[MIN]], %[[B]] : i64
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpi eq, %[[SUB]], %[[B]] : i64
// CHECK-NEXT: %[[EQUAL:.*]] = arith.extui %[[SAME]] : i1 to i64
// CHECK-NEXT: %[[BELOW:.*]] = arith.cmpi slt, %[[EQUAL]], %[[B]] : i64
// CHECK-NEXT: %[[LESS:.*]] = arith.extui %[[BELOW]] : i1 to i64
// CHECK-NEXT: %[[DIV:.*]] = arith.floordivsi %[[LESS]], %[[B]] : i64
// CHECK-NEXT: %[[SEVEN:.*]] = arith.constant 7 : i64
// CHECK-NEXT: tensorrt.yield %[[DIV]], %[[SEVEN]] : i64, i64

// A plugin whose results are known, and one that has a region, are not asked.

func.func @known(%a: tensor<?x4xf32>) -> (tensor<2x2xf32>, tensor<?xf32>) {
  %0 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "Nowhere", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?x4xf32>) -> tensor<2x2xf32>
  %1 = tensorrt.opaque_plugin {creator_params = {}, plugin_name = "Nowhere", plugin_namespace = "", plugin_version = "1"}(%a) : (tensor<?x4xf32>) -> tensor<?xf32> {
  ^bb0(%rows: i64, %columns: i64):
    tensorrt.yield %rows : i64
  }
  return %0, %1 : tensor<2x2xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @known
// CHECK-NEXT: tensorrt.opaque_plugin {{.*}} -> tensor<2x2xf32>{{$}}
// CHECK-NEXT: tensorrt.opaque_plugin {{.*}} -> tensor<?xf32> {
// CHECK-NEXT: ^bb0(%[[ROWS:.*]]: i64, %{{.*}}: i64):
// CHECK-NEXT: tensorrt.yield %[[ROWS]] : i64
