"""The command line: a thin client of the daemon (`fast_client`) and the commands about the daemon itself."""
