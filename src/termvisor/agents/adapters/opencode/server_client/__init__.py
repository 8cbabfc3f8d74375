"""Client of the opencode HTTP server, one for each process with a port: `server.py` implements the provider."""

from termvisor.agents.adapters.opencode.server_client.server import create_server, get_server_key, source

__all__ = ["create_server", "get_server_key", "source"]
