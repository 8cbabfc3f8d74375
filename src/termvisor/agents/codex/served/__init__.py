"""The server of Codex: all of one home share it."""

from termvisor.agents.base import Process
from termvisor.agents.codex.recognise import home_of
from termvisor.agents.codex.relay import SOURCE
from termvisor.agents.codex.served.app_server import AppServer
from termvisor.agents.server import Means, Server

source = SOURCE


def place_of(process: Process) -> str:
    return home_of(process)


def server(place: str, means: Means) -> Server:
    return AppServer(place, means)
