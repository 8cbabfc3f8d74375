"""The protocols between client and daemon over the Unix socket: command lines (`command_protocol`) and JSON-RPC."""
