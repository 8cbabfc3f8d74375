"""An action becomes a verdict."""
