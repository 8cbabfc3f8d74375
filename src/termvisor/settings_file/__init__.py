"""The settings as a file: declarations, their places in its tables (`file_layout`), and its text (`toml_document`)."""
