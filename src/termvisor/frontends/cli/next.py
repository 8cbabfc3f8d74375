"""`visor next --go` on a terminal: goes to the agent that needs a person most, as `visor attach` goes to a pane."""

import msgspec

from termvisor.frontends.cli.attach import attach_terminal
from termvisor.ops.agents.next import NextArgs
from termvisor.ops.api.arguments import render_arguments
from termvisor.ops.panes.attach import AttachResult


class _NextAgent(msgspec.Struct):
    attached: AttachResult | None = None


class _NextAnswer(msgspec.Struct):
    data: _NextAgent | None = None


def run(args: NextArgs) -> int:
    return attach_terminal(("next", *render_arguments(args)), read_attach_target)


def read_attach_target(answer: bytes) -> AttachResult | None:
    """Where the answer leads, if somebody needs a person."""
    found = msgspec.json.decode(answer, type=_NextAnswer).data
    return None if found is None else found.attached
