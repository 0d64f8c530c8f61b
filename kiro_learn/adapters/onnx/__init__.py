"""What runs on ONNX Runtime: the embedding models, the product of codes."""
