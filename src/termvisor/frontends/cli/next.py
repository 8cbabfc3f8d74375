"""Run `visor next --go` on a terminal: attach to the pane of the agent that needs the user most."""

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
    """Return the pane to attach to; None if no agent needs the user."""
    agent = msgspec.json.decode(answer, type=_NextAnswer).data
    return None if agent is None else agent.attached
