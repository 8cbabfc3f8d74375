"""A Target is a place where panes live."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import TargetName

TargetKind = Literal["local", "ssh", "docker", "podman", "wezterm", "kitty"]


class Target(Struct, frozen=True):
    name: TargetName
    kind: TargetKind


LOCAL = Target(TargetName("local"), "local")
