"""One module for each group of tables: reads and writes of structs, one transaction per call."""
