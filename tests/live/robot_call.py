"""Call `visor robot` from this process: a call takes a millisecond, so polling is cheap.

It uses the command's own client. It starts a daemon if none runs; a failed call is repeated by the real command.
"""

from typing import Any

import msgspec

from termvisor.client import daemon_process
from termvisor.frontends.cli import fast_client
from termvisor.protocol import command_protocol
from termvisor.testing.visor_instance import VisorInstance


def call_robot(visor: VisorInstance, *words: str) -> Any:
    """Return the data of a robot call that must succeed, with every field."""
    if not daemon_process.is_running(visor.paths):
        visor.start()
    output = bytearray()
    request = command_protocol.CommandRequest(("--full", *words), True, "/")
    status = fast_client.exchange(visor.paths.daemon_socket, request, lambda _kind, data: output.extend(data))
    return msgspec.json.decode(output)["data"] if status == 0 else visor.call_robot(*words)
