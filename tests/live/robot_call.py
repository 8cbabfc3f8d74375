"""What `visor robot` says, asked from this process: a look costs a millisecond, so that waiting costs little.

The courier is the command's own. A daemon is started where there is none; what fails is asked by the command itself.
"""

from typing import Any

import msgspec

from termvisor.client import daemon_process
from termvisor.frontends.cli import fast_client
from termvisor.protocol import command_protocol
from termvisor.testing.visor_instance import VisorInstance


def call_robot(visor: VisorInstance, *words: str) -> Any:
    """The data of a robot call that must succeed."""
    if not daemon_process.is_running(visor.paths):
        visor.start()
    said = bytearray()
    asked = command_protocol.CommandRequest(words, True, "/")
    status = fast_client.exchange(visor.paths.daemon_socket, asked, lambda _kind, data: said.extend(data))
    return msgspec.json.decode(said)["data"] if status == 0 else visor.call_robot(*words)
