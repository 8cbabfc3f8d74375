"""The server of an opencode: each process has its own, if it was told to listen."""

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.opencode.server_client.event_server import SOURCE, EventServer
from termvisor.agents.adapters.server_contract import Means, Server

source = SOURCE


def place_of(process: Process) -> str:
    return f"process {process.pid}" if process.pid else ""


def server(place: str, means: Means) -> Server:
    return EventServer(place, means)
