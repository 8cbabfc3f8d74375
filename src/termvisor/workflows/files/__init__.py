"""Load workflows from YAML or TOML files. Read ``loader`` first."""
