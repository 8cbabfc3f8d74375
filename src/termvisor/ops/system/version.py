"""The op `version`: which Termvisor this is."""

import sys

from msgspec import Struct

from termvisor import __version__
from termvisor.ops.api.envelope import SCHEMA_VERSION
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look


class GetVersion(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class Version(Struct, frozen=True, kw_only=True):
    """``schema_version`` is that of the JSON answers."""

    version: str
    schema_version: int
    python: str
    platform: str


async def run(_world: World, _wanted: GetVersion) -> Version:
    python = ".".join(map(str, sys.version_info[:3]))
    return Version(version=__version__, schema_version=SCHEMA_VERSION, python=python, platform=sys.platform)


def plain(version: Version, look: Look) -> str:
    if look.is_quiet:
        return version.version
    return f"visor {version.version} (Python {version.python}, {version.platform})"


OP = Op(
    name="version",
    aliases=("--version", "-V"),
    summary="Which version this is.",
    doc="Answered by the program itself; `visor health` tells the version of the running daemon.",
    Input=GetVersion,
    Output=Version,
    run=run,
    plain=plain,
    effect="local",
    examples=(Example("version", "for people"), Example("version -q", "the bare number")),
)
