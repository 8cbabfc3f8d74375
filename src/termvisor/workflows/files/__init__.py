"""Load workflows that are written as YAML or TOML files. Read ``loader`` first."""
