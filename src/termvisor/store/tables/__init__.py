"""One module for each group of tables. Every call reads or writes structs in one transaction."""
