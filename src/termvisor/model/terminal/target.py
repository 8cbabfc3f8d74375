"""Targets: the machines, containers and terminals that panes run in, their connection, and how to attach to a pane."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import TargetName


class Target(Struct, frozen=True):
    """A machine, container or terminal that panes run in. ``kind`` names a registered transport or backend."""

    name: TargetName
    kind: str = "local"
    reference: str = ""
    """How the kind finds it: an ssh alias, a container, a socket. Never a secret."""
    helper: Literal["auto", "never"] = "auto"
    """Whether a recorder of ours may run there."""
    is_default: bool = False


LOCAL = Target(TargetName("local"), "local")


class LinkHealth(Struct, frozen=True, kw_only=True):
    """The connection to a target. Times are nanoseconds since 1970, other durations seconds."""

    state: Literal["ok", "degraded", "down"] = "ok"
    since: int = 0
    round_trip_s: float = 0.0
    clock_skew_s: tuple[float, float] = (0.0, 0.0)
    """Bounds of the target's clock minus ours."""
    detail: str = ""


class ServerKey(Struct, frozen=True, order=True):
    """The place of a server: a target and an address there, such as the path of a socket.

    An address alone is not enough: two machines may use the same path.
    """

    target: TargetName
    address: str

    @property
    def label(self) -> str:
        """The address, with the target in front of it unless that is this machine."""
        return self.address if self.target == LOCAL.name else f"{self.target}:{self.address}"


class AttachPlan(Struct, frozen=True, kw_only=True):
    """How a person's terminal shows a pane: by a command, or by our own client if there is none."""

    address: str
    """The server's address: a terminal that is already inside that server uses ``inside``."""
    outside: tuple[str, ...] = ()
    """The command for a plain terminal; empty if our own client attaches."""
    inside: tuple[str, ...] = ()
    """The command for a terminal inside the same server; empty if there is none."""
