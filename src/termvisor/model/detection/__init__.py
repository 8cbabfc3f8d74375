"""Values of rules, detections and match traces."""
