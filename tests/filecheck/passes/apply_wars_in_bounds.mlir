// RUN: tripybuild opt %s --split-input-file -p 'tensorrt-apply-wars{force-default-slice-in-bounds}' | filecheck %s
// RUN: same-values %s -p 'tensorrt-apply-wars{force-default-slice-in-bounds}'

// Slices are kept in bounds. Offsets end at the last element, sizes at the input's; in-bounds slices
// give the same.

// VALUES: 1=1,2 2=2,3
func.func @slices_are_kept_in_bounds(%x: tensor<4x6xf32>, %s: tensor<2xi32>, %n: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.slice %x[%s: tensor<2xi32>][%n: tensor<2xi32>][1, 1] : tensor<4x6xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @slices_are_kept_in_bounds(%arg0: tensor<4x6xf32>, %arg1: tensor<2xi32>, %arg2: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<2xi32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<[4, 6]> : tensor<2xi32>
// CHECK-NEXT:    %cst_i32_1 = tensorrt.constant dense<[3, 5]> : tensor<2xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMIN>(%arg1, %cst_i32_1 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMAX>(%0, %cst_i32 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kMIN>(%arg2, %cst_i32_0 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kMAX>(%2, %cst_i32 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %4 = tensorrt.slice %arg0[%1: tensor<2xi32>][%3: tensor<2xi32>][1, 1] : tensor<4x6xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %4 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// DYNAMIC: 0=4,6
// VALUES: 1=1,2 2=2,3
func.func @slices_are_kept_in_bounds_2(%x: tensor<?x6xf32>, %s: tensor<2xi32>, %n: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.slice %x[%s: tensor<2xi32>][%n: tensor<2xi32>][1, 1] : tensor<?x6xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @slices_are_kept_in_bounds_2(%arg0: tensor<?x6xf32>, %arg1: tensor<2xi32>, %arg2: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<2xi32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<1> : tensor<2xi32>
// CHECK-NEXT:    %0 = tensorrt.shape %arg0 : tensor<?x6xf32> -> tensor<2xi32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kSUB>(%0, %cst_i32_0 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kMIN>(%arg1, %1 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kMAX>(%2, %cst_i32 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kMIN>(%arg2, %0 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %5 = tensorrt.element_wise <kMAX>(%4, %cst_i32 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %6 = tensorrt.slice %arg0[%3: tensor<2xi32>][%5: tensor<2xi32>][1, 1] : tensor<?x6xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %6 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// An offset alone is kept in bounds. The size is known; one value may be offset and size.

// VALUES: 1=3,5
func.func @an_offset_alone_is_kept_in_bounds(%x: tensor<4x6xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.slice %x[%s: tensor<2xi32>][1, 1][1, 1] : tensor<4x6xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @an_offset_alone_is_kept_in_bounds(%arg0: tensor<4x6xf32>, %arg1: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<2xi32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<[3, 5]> : tensor<2xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMIN>(%arg1, %cst_i32_0 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMAX>(%0, %cst_i32 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %2 = tensorrt.slice %arg0[%1: tensor<2xi32>][1, 1][1, 1] : tensor<4x6xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %2 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// VALUES: 1=1,2
func.func @an_offset_alone_is_kept_in_bounds_2(%x: tensor<4x6xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.slice %x[%s: tensor<2xi32>][%s: tensor<2xi32>][1, 1] : tensor<4x6xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @an_offset_alone_is_kept_in_bounds_2(%arg0: tensor<4x6xf32>, %arg1: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<0> : tensor<2xi32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<[4, 6]> : tensor<2xi32>
// CHECK-NEXT:    %cst_i32_1 = tensorrt.constant dense<[3, 5]> : tensor<2xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMIN>(%arg1, %cst_i32_1 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMAX>(%0, %cst_i32 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kMIN>(%arg1, %cst_i32_0 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kMAX>(%2, %cst_i32 : tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %4 = tensorrt.slice %arg0[%1: tensor<2xi32>][%3: tensor<2xi32>][1, 1] : tensor<4x6xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %4 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// Other slices stay. Static ones are checked; other modes have a meaning out of bounds; it must be
// asked for.

func.func @other_slices_stay(%x: tensor<4x6xf32>) -> tensor<?x?xf32> {
  %0 = tensorrt.slice %x[1, 2][2, 3][1, 1] : tensor<4x6xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @other_slices_stay(%arg0: tensor<4x6xf32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.slice %arg0[1, 2][2, 3][1, 1] : tensor<4x6xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x?xf32>
// CHECK-NEXT:  }

// -----

// VALUES: 1=1,2 2=2,3
func.func @other_slices_stay_2(%x: tensor<4x6xf32>, %s: tensor<2xi32>, %n: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.slice %x[%s: tensor<2xi32>][%n: tensor<2xi32>][1, 1] {mode = #tensorrt.slice_mode<kWRAP>} : tensor<4x6xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @other_slices_stay_2(%arg0: tensor<4x6xf32>, %arg1: tensor<2xi32>, %arg2: tensor<2xi32>) -> tensor<?x?xf32> {
// CHECK-NEXT:    %0 = tensorrt.slice %arg0[%arg1: tensor<2xi32>][%arg2: tensor<2xi32>][1, 1] {mode = #tensorrt.slice_mode<kWRAP>} : tensor<4x6xf32> to tensor<?x?xf32>
// CHECK-NEXT:    return %0 : tensor<?x?xf32>
// CHECK-NEXT:  }
