// RUN: tripybuild opt %s --split-input-file -p tensorrt-raise-activations | filecheck %s
// RUN: same-values %s -p tensorrt-raise-activations
// RUN: settled %s -p tensorrt-raise-activations

// Gelu by tanh. In the orders and forms that frameworks write.

func.func @gelu_by_tanh(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.element_wise <kPROD>(%x0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = tensorrt.element_wise <kPROD>(%0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<7.978846e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %4 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %6 : tensor<2x8xf32>
  %8 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %9 = tensorrt.element_wise <kSUM>(%8, %7 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %10 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %11 = tensorrt.element_wise <kPROD>(%9, %10 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.element_wise <kPROD>(%x0, %11 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %12 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @gelu_by_tanh(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_TANH>} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @gelu_by_tanh_2(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<3.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kPOW>(%x0, %0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<6.366198e-01> : tensor<1x1xf32>
  %6 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %7 = tensorrt.element_wise <kPOW>(%5, %6 : tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %8 = tensorrt.element_wise <kPROD>(%7, %4 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %9 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %8 : tensor<2x8xf32>
  %10 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %11 = tensorrt.element_wise <kSUM>(%10, %9 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %13 = tensorrt.element_wise <kPROD>(%11, %12 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %14 = tensorrt.element_wise <kPROD>(%x0, %13 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %14 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @gelu_by_tanh_2(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_TANH>} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @gelu_by_tanh_3(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.element_wise <kPROD>(%x0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = tensorrt.element_wise <kPROD>(%0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<7.978846e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %4 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %6 : tensor<2x8xf32>
  %8 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %9 = tensorrt.element_wise <kSUM>(%8, %7 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %10 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %11 = tensorrt.element_wise <kPROD>(%x0, %10 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.element_wise <kPROD>(%11, %9 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %12 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @gelu_by_tanh_3(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_TANH>} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @gelu_by_tanh_4(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<3.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kPOW>(%x0, %0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<6.366198e-01> : tensor<1x1xf32>
  %6 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %7 = tensorrt.element_wise <kPOW>(%5, %6 : tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %8 = tensorrt.element_wise <kPROD>(%7, %4 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %9 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %8 : tensor<2x8xf32>
  %10 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %11 = tensorrt.element_wise <kSUM>(%10, %9 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %13 = tensorrt.element_wise <kPROD>(%x0, %12 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %14 = tensorrt.element_wise <kPROD>(%13, %11 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %14 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @gelu_by_tanh_4(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_TANH>} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @gelu_by_tanh_5(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.element_wise <kPROD>(%x0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = tensorrt.element_wise <kPROD>(%0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<7.978846e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %4 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %6 : tensor<2x8xf32>
  %8 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %9 = tensorrt.element_wise <kSUM>(%8, %7 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %10 = tensorrt.element_wise <kPROD>(%x0, %9 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %11 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %12 = tensorrt.element_wise <kPROD>(%10, %11 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  return %12 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @gelu_by_tanh_5(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_TANH>} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @gelu_by_tanh_6(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<3.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kPOW>(%x0, %0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<6.366198e-01> : tensor<1x1xf32>
  %6 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %7 = tensorrt.element_wise <kPOW>(%5, %6 : tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %8 = tensorrt.element_wise <kPROD>(%7, %4 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %9 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %8 : tensor<2x8xf32>
  %10 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %11 = tensorrt.element_wise <kSUM>(%10, %9 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.element_wise <kPROD>(%x0, %11 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %13 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %14 = tensorrt.element_wise <kPROD>(%12, %13 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  return %14 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @gelu_by_tanh_6(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_TANH>} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

// Gelu by erf. The exact form; NVIDIA's constant, as float16 keeps it, is near enough.

func.func @gelu_by_erf(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<7.071068e-01> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kPROD>(%x0, %0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kERF>} %1 : tensor<2x8xf32>
  %3 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %4 = tensorrt.element_wise <kSUM>(%2, %3 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%4, %5 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.element_wise <kPROD>(%x0, %6 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %7 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @gelu_by_erf(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_ERF>} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @gelu_by_erf_2(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<7.070310e-01> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kPROD>(%x0, %0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kERF>} %1 : tensor<2x8xf32>
  %3 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %4 = tensorrt.element_wise <kSUM>(%2, %3 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%4, %5 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.element_wise <kPROD>(%x0, %6 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %7 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @gelu_by_erf_2(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_ERF>} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @gelu_by_erf_3(%x0: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %0 = tensorrt.constant dense<7.071068e-01> : tensor<1x1xf16>
  %1 = tensorrt.element_wise <kPROD>(%x0, %0 : tensor<2x8xf16>, tensor<1x1xf16>) -> tensor<2x8xf16>
  %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kERF>} %1 : tensor<2x8xf16>
  %3 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf16>
  %4 = tensorrt.element_wise <kSUM>(%2, %3 : tensor<2x8xf16>, tensor<1x1xf16>) -> tensor<2x8xf16>
  %5 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf16>
  %6 = tensorrt.element_wise <kPROD>(%4, %5 : tensor<2x8xf16>, tensor<1x1xf16>) -> tensor<2x8xf16>
  %7 = tensorrt.element_wise <kPROD>(%x0, %6 : tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  return %7 : tensor<2x8xf16>
}

// CHECK-LABEL: func.func @gelu_by_erf_3(%arg0: tensor<2x8xf16>) -> tensor<2x8xf16> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_ERF>} %arg0 : tensor<2x8xf16>
// CHECK-NEXT:    return %0 : tensor<2x8xf16>
// CHECK-NEXT:  }

// -----

// Gelu in short floats. The constants are rounded, and are the same ones.

// UNEVALUATED
func.func @gelu_in_short_floats(%x0: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %0 = tensorrt.element_wise <kPROD>(%x0, %x0 : tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  %1 = tensorrt.element_wise <kPROD>(%0, %x0 : tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf16>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf16>, tensor<1x1xf16>) -> tensor<2x8xf16>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  %5 = tensorrt.constant dense<7.978846e-01> : tensor<1x1xf16>
  %6 = tensorrt.element_wise <kPROD>(%5, %4 : tensor<1x1xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  %7 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %6 : tensor<2x8xf16>
  %8 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf16>
  %9 = tensorrt.element_wise <kSUM>(%8, %7 : tensor<1x1xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  %10 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf16>
  %11 = tensorrt.element_wise <kPROD>(%9, %10 : tensor<2x8xf16>, tensor<1x1xf16>) -> tensor<2x8xf16>
  %12 = tensorrt.element_wise <kPROD>(%x0, %11 : tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  return %12 : tensor<2x8xf16>
}

// CHECK-LABEL: func.func @gelu_in_short_floats(%arg0: tensor<2x8xf16>) -> tensor<2x8xf16> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_TANH>} %arg0 : tensor<2x8xf16>
// CHECK-NEXT:    return %0 : tensor<2x8xf16>
// CHECK-NEXT:  }

// -----

// UNEVALUATED
func.func @gelu_in_short_floats_2(%x0: tensor<2x8xbf16>) -> tensor<2x8xbf16> {
  %0 = tensorrt.element_wise <kPROD>(%x0, %x0 : tensor<2x8xbf16>, tensor<2x8xbf16>) -> tensor<2x8xbf16>
  %1 = tensorrt.element_wise <kPROD>(%0, %x0 : tensor<2x8xbf16>, tensor<2x8xbf16>) -> tensor<2x8xbf16>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xbf16>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xbf16>, tensor<1x1xbf16>) -> tensor<2x8xbf16>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xbf16>, tensor<2x8xbf16>) -> tensor<2x8xbf16>
  %5 = tensorrt.constant dense<7.978846e-01> : tensor<1x1xbf16>
  %6 = tensorrt.element_wise <kPROD>(%5, %4 : tensor<1x1xbf16>, tensor<2x8xbf16>) -> tensor<2x8xbf16>
  %7 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %6 : tensor<2x8xbf16>
  %8 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xbf16>
  %9 = tensorrt.element_wise <kSUM>(%8, %7 : tensor<1x1xbf16>, tensor<2x8xbf16>) -> tensor<2x8xbf16>
  %10 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xbf16>
  %11 = tensorrt.element_wise <kPROD>(%9, %10 : tensor<2x8xbf16>, tensor<1x1xbf16>) -> tensor<2x8xbf16>
  %12 = tensorrt.element_wise <kPROD>(%x0, %11 : tensor<2x8xbf16>, tensor<2x8xbf16>) -> tensor<2x8xbf16>
  return %12 : tensor<2x8xbf16>
}

// CHECK-LABEL: func.func @gelu_in_short_floats_2(%arg0: tensor<2x8xbf16>) -> tensor<2x8xbf16> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kGELU_TANH>} %arg0 : tensor<2x8xbf16>
// CHECK-NEXT:    return %0 : tensor<2x8xbf16>
// CHECK-NEXT:  }

// -----

// Other numbers are no gelu. Each constant counts.

func.func @other_numbers_are_no_gelu(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.element_wise <kPROD>(%x0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = tensorrt.element_wise <kPROD>(%0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<4.520000e-02> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<7.978846e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %4 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %6 : tensor<2x8xf32>
  %8 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %9 = tensorrt.element_wise <kSUM>(%8, %7 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %10 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %11 = tensorrt.element_wise <kPROD>(%9, %10 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.element_wise <kPROD>(%x0, %11 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %12 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @other_numbers_are_no_gelu(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<0.797884583> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_2 = tensorrt.constant dense<4.520000e-02> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%0, %arg0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kPROD>(%1, %cst_f32_2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kSUM>(%arg0, %2 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kPROD>(%cst_f32_1, %3 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %4 : tensor<2x8xf32>
// CHECK-NEXT:    %6 = tensorrt.element_wise <kSUM>(%cst_f32_0, %5 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %7 = tensorrt.element_wise <kPROD>(%6, %cst_f32 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kPROD>(%arg0, %7 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %8 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @other_numbers_are_no_gelu_2(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.element_wise <kPROD>(%x0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = tensorrt.element_wise <kPROD>(%0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<8.000000e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %4 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %6 : tensor<2x8xf32>
  %8 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %9 = tensorrt.element_wise <kSUM>(%8, %7 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %10 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %11 = tensorrt.element_wise <kPROD>(%9, %10 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.element_wise <kPROD>(%x0, %11 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %12 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @other_numbers_are_no_gelu_2(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<8.000000e-01> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%0, %arg0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kPROD>(%1, %cst_f32_2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kSUM>(%arg0, %2 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kPROD>(%cst_f32_1, %3 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %4 : tensor<2x8xf32>
// CHECK-NEXT:    %6 = tensorrt.element_wise <kSUM>(%cst_f32_0, %5 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %7 = tensorrt.element_wise <kPROD>(%6, %cst_f32 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kPROD>(%arg0, %7 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %8 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @other_numbers_are_no_gelu_3(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.element_wise <kPROD>(%x0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = tensorrt.element_wise <kPROD>(%0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<7.978846e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %4 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %6 : tensor<2x8xf32>
  %8 = tensorrt.constant dense<1.100000e+00> : tensor<1x1xf32>
  %9 = tensorrt.element_wise <kSUM>(%8, %7 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %10 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %11 = tensorrt.element_wise <kPROD>(%9, %10 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.element_wise <kPROD>(%x0, %11 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %12 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @other_numbers_are_no_gelu_3(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.100000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<0.797884583> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%0, %arg0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kPROD>(%1, %cst_f32_2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kSUM>(%arg0, %2 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kPROD>(%cst_f32_1, %3 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %4 : tensor<2x8xf32>
// CHECK-NEXT:    %6 = tensorrt.element_wise <kSUM>(%cst_f32_0, %5 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %7 = tensorrt.element_wise <kPROD>(%6, %cst_f32 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kPROD>(%arg0, %7 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %8 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @other_numbers_are_no_gelu_4(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.element_wise <kPROD>(%x0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = tensorrt.element_wise <kPROD>(%0, %x0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%x0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<7.978846e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%5, %4 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %6 : tensor<2x8xf32>
  %8 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %9 = tensorrt.element_wise <kSUM>(%8, %7 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %10 = tensorrt.constant dense<2.500000e-01> : tensor<1x1xf32>
  %11 = tensorrt.element_wise <kPROD>(%9, %10 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %12 = tensorrt.element_wise <kPROD>(%x0, %11 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %12 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @other_numbers_are_no_gelu_4(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.500000e-01> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<0.797884583> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_2 = tensorrt.constant dense<4.471500e-02> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %arg0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kPROD>(%0, %arg0 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kPROD>(%1, %cst_f32_2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kSUM>(%arg0, %2 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kPROD>(%cst_f32_1, %3 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %5 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %4 : tensor<2x8xf32>
// CHECK-NEXT:    %6 = tensorrt.element_wise <kSUM>(%cst_f32_0, %5 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %7 = tensorrt.element_wise <kPROD>(%6, %cst_f32 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %8 = tensorrt.element_wise <kPROD>(%arg0, %7 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %8 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

// Gelu of another value is none. The factor in front must be the argument inside.

func.func @gelu_of_another_value_is_none(%x0: tensor<2x8xf32>, %x1: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<7.071068e-01> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kPROD>(%x1, %0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kERF>} %1 : tensor<2x8xf32>
  %3 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %4 = tensorrt.element_wise <kSUM>(%2, %3 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %5 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%4, %5 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %7 = tensorrt.element_wise <kPROD>(%x0, %6 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %7 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @gelu_of_another_value_is_none(%arg0: tensor<2x8xf32>, %arg1: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<0.707106829> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg1, %cst_f32_1 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kERF>} %0 : tensor<2x8xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%1, %cst_f32_0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%2, %cst_f32 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kPROD>(%arg0, %3 : tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %4 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

// Gelu of what is broadcast is none. A constant that stretches the argument gives another shape.

func.func @gelu_of_what_is_broadcast_is_none(%x0: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %0 = tensorrt.constant dense<1.0> : tensor<4x8xf32>
  %1 = tensorrt.constant dense<7.071068e-01> : tensor<1x1xf32>
  %2 = tensorrt.element_wise <kPROD>(%x0, %1 : tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  %3 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kERF>} %2 : tensor<1x8xf32>
  %4 = tensorrt.element_wise <kSUM>(%3, %0 : tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
  %6 = tensorrt.element_wise <kPROD>(%4, %5 : tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %7 = tensorrt.element_wise <kPROD>(%x0, %6 : tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %7 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @gelu_of_what_is_broadcast_is_none(%arg0: tensor<1x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<5.000000e-01> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<1.000000e+00> : tensor<4x8xf32>
// CHECK-NEXT:    %cst_f32_1 = tensorrt.constant dense<0.707106829> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kPROD>(%arg0, %cst_f32_1 : tensor<1x8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
// CHECK-NEXT:    %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kERF>} %0 : tensor<1x8xf32>
// CHECK-NEXT:    %2 = tensorrt.element_wise <kSUM>(%1, %cst_f32_0 : tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %3 = tensorrt.element_wise <kPROD>(%2, %cst_f32 : tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %4 = tensorrt.element_wise <kPROD>(%arg0, %3 : tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    return %4 : tensor<4x8xf32>
// CHECK-NEXT:  }

// -----

// Minimum of maximum is a clip. The lower bound is alpha, the upper one beta.

func.func @minimum_of_maximum_is_a_clip(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<-5.000000e-01> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kMAX>(%x0, %0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<2.500000e-01> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kMIN>(%2, %1 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @minimum_of_maximum_is_a_clip(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kCLIP>, alpha = -5.000000e-01 : f32, beta = 2.500000e-01 : f32} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

func.func @minimum_of_maximum_is_a_clip_2(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<-5.000000e-01> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kMAX>(%0, %x0 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<2.500000e-01> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kMIN>(%1, %2 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @minimum_of_maximum_is_a_clip_2(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %0 = tensorrt.activation {activationType = #tensorrt.activation_type<kCLIP>, alpha = -5.000000e-01 : f32, beta = 2.500000e-01 : f32} %arg0 : tensor<2x8xf32>
// CHECK-NEXT:    return %0 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

// Bounds that cross are no clip. `min(1, max(x, 2))` is 1 everywhere; a clip would give 2.

func.func @bounds_that_cross_are_no_clip(%x0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %0 = tensorrt.constant dense<2.000000e+00> : tensor<1x1xf32>
  %1 = tensorrt.element_wise <kMAX>(%x0, %0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
  %2 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kMIN>(%2, %1 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @bounds_that_cross_are_no_clip(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<2.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32_0 : tensor<2x8xf32>, tensor<1x1xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMIN>(%cst_f32, %0 : tensor<1x1xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    return %1 : tensor<2x8xf32>
// CHECK-NEXT:  }

// -----

// Bounds of integers are no clip. A clip is one of floats.

func.func @bounds_of_integers_are_no_clip(%x0: tensor<2x8xi32>) -> tensor<2x8xi32> {
  %0 = tensorrt.constant dense<0> : tensor<1x1xi32>
  %1 = tensorrt.element_wise <kMAX>(%x0, %0 : tensor<2x8xi32>, tensor<1x1xi32>) -> tensor<2x8xi32>
  %2 = tensorrt.constant dense<3> : tensor<1x1xi32>
  %3 = tensorrt.element_wise <kMIN>(%2, %1 : tensor<1x1xi32>, tensor<2x8xi32>) -> tensor<2x8xi32>
  return %3 : tensor<2x8xi32>
}

// CHECK-LABEL: func.func @bounds_of_integers_are_no_clip(%arg0: tensor<2x8xi32>) -> tensor<2x8xi32> {
// CHECK-NEXT:    %cst_i32 = tensorrt.constant dense<3> : tensor<1x1xi32>
// CHECK-NEXT:    %cst_i32_0 = tensorrt.constant dense<0> : tensor<1x1xi32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_i32_0 : tensor<2x8xi32>, tensor<1x1xi32>) -> tensor<2x8xi32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMIN>(%cst_i32, %0 : tensor<1x1xi32>, tensor<2x8xi32>) -> tensor<2x8xi32>
// CHECK-NEXT:    return %1 : tensor<2x8xi32>
// CHECK-NEXT:  }

// -----

// Bounds that differ by element are no clip. A bound is one number.

func.func @bounds_that_differ_by_element_are_no_clip(%x0: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = tensorrt.constant dense<[[0.0, 1.0]]> : tensor<1x2xf32>
  %1 = tensorrt.element_wise <kMAX>(%x0, %0 : tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  %2 = tensorrt.constant dense<2.000000e+00> : tensor<1x1xf32>
  %3 = tensorrt.element_wise <kMIN>(%1, %2 : tensor<2x2xf32>, tensor<1x1xf32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @bounds_that_differ_by_element_are_no_clip(%arg0: tensor<2x2xf32>) -> tensor<2x2xf32> {
// CHECK-NEXT:    %cst_f32 = tensorrt.constant dense<2.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %cst_f32_0 = tensorrt.constant dense<{{\[\[}}0.000000e+00, 1.000000e+00{{\]\]}}> : tensor<1x2xf32>
// CHECK-NEXT:    %0 = tensorrt.element_wise <kMAX>(%arg0, %cst_f32_0 : tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    %1 = tensorrt.element_wise <kMIN>(%0, %cst_f32 : tensor<2x2xf32>, tensor<1x1xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    return %1 : tensor<2x2xf32>
// CHECK-NEXT:  }
