"""Client of the opencode HTTP server. Each process has its own if it was started with a port."""

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.opencode.server_client.event_server import SOURCE_NAME, EventServer
from termvisor.agents.adapters.server_contract import AgentServer, ServerDependencies

source = SOURCE_NAME


def get_server_key(process: ProcessInfo) -> str:
    return f"process {process.pid}" if process.pid else ""


def create_server(server_key: str, dependencies: ServerDependencies) -> AgentServer:
    return EventServer(server_key, dependencies)
