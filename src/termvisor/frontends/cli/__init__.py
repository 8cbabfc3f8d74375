"""The command line: a thin client of the daemon (`fast_client`), and commands that manage the daemon itself."""
