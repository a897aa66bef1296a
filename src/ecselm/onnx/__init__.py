"""Models as ONNX graphs, for machines without Python."""
