"""OpenVINO on the CPU: what it is asked, what it is never asked, and how a model is called."""
