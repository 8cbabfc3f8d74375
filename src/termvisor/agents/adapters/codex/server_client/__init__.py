"""The server of Codex: all of one home share it."""

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.adapters.codex.process_match import home_of
from termvisor.agents.adapters.codex.server_client.app_server import AppServer
from termvisor.agents.adapters.codex.server_events import SOURCE
from termvisor.agents.adapters.server_contract import Means, Server

source = SOURCE


def place_of(process: Process) -> str:
    return home_of(process)


def server(place: str, means: Means) -> Server:
    return AppServer(place, means)
