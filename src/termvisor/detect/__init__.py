"""Text becomes detections."""
