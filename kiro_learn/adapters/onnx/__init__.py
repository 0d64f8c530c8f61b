"""What runs on ONNX Runtime: the embedding models, the rerank model, the product of codes."""
