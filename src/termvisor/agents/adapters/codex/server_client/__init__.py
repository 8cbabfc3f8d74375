"""Client of the Codex app-server, which all Codex processes of one home share."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.codex.process_match import find_codex_home
from termvisor.agents.adapters.codex.server_client.app_server import AppServer
from termvisor.agents.adapters.codex.server_events import SOURCE_NAME
from termvisor.agents.adapters.server_contract import AgentServer, ServerDependencies

source = SOURCE_NAME


def get_server_key(process: ProcessInfo) -> str:
    return find_codex_home(process)


def create_server(server_key: str, dependencies: ServerDependencies) -> AgentServer:
    return AppServer(server_key, dependencies)
