"""Client of the Codex app-server, shared by all Codex processes of one home. `server.py` implements the provider."""

from termvisor.agents.adapters.codex.server_client.server import create_server, get_server_key, source

__all__ = ["create_server", "get_server_key", "source"]
