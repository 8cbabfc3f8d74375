"""Targets: the machines, containers and terminals that panes run in."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import TargetName

TargetKind = Literal["local", "ssh", "docker", "podman", "wezterm", "kitty"]


class Target(Struct, frozen=True):
    name: TargetName
    kind: TargetKind


LOCAL = Target(TargetName("local"), "local")
