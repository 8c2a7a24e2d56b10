"""Operations of NVIDIA's `tensorrt` dialect in xDSL, one module for each group."""
