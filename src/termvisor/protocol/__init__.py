"""The protocols between client and daemon on the Unix socket: command lines (`command_protocol`) and JSON-RPC."""
