"""Cross-encoders on ONNX Runtime, from a folder that the user names."""
