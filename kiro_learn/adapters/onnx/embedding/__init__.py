"""MiniLM on ONNX Runtime, with the model bundled."""
