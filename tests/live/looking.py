"""What `visor robot` says, asked from this process: a look costs a millisecond, so that waiting costs little.

The courier is the command's own. A daemon is started where there is none; what fails is asked by the command itself.
"""

from typing import Any

import msgspec

from termvisor.client import daemon_process as start
from termvisor.frontends.cli import fast_client as courier
from termvisor.protocol import command_protocol as face
from termvisor.testing.instance import Instance


def look(visor: Instance, *words: str) -> Any:
    """The data of a robot call that must succeed."""
    if not start.is_running(visor.places):
        visor.up()
    said = bytearray()
    asked = face.Asked(words, True, "/")
    status = courier.collect(visor.places.daemon_socket, asked, lambda _kind, data: said.extend(data))
    return msgspec.json.decode(said)["data"] if status == 0 else visor.robot(*words)
