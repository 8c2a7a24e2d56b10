"""Network recorder: values, layers and regions of a recorded network, and its text."""
