"""`visor next --go` on a terminal: goes to the agent that needs a person most, as `visor attach` goes to a pane."""

import msgspec

from termvisor.frontends.cli.attach import go
from termvisor.ops.agents.next import Next
from termvisor.ops.api.arguments import render
from termvisor.ops.panes.attach import Attached


class _Found(msgspec.Struct):
    attached: Attached | None = None


class _Answer(msgspec.Struct):
    data: _Found | None = None


def run(wanted: Next) -> int:
    return go(("next", *render(wanted)), way)


def way(answer: bytes) -> Attached | None:
    """Where the answer leads, if somebody needs a person."""
    found = msgspec.json.decode(answer, type=_Answer).data
    return None if found is None else found.attached
