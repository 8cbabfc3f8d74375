"""Operation `version`: print the version of this program."""

import sys

from msgspec import Struct

from termvisor import __version__
from termvisor.model.version import PYTHON_VERSION, describe_version
from termvisor.ops.api.envelope import SCHEMA_VERSION
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions


class VersionArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class VersionResult(Struct, frozen=True, kw_only=True):
    """``schema_version`` is the version of the JSON envelope."""

    version: str
    schema_version: int
    python: str
    platform: str


async def run(_services: Services, _args: VersionArgs) -> VersionResult:
    return VersionResult(
        version=__version__, schema_version=SCHEMA_VERSION, python=PYTHON_VERSION, platform=sys.platform
    )


def render_text(result: VersionResult, options: RenderOptions) -> str:
    if options.is_quiet:
        return result.version
    return describe_version(result.version, result.python, result.platform)


OP = Operation(
    name="version",
    aliases=("--version", "-V"),
    summary="Print the version.",
    doc="Prints the version of the command itself; `visor health` shows that of the running daemon.",
    run=run,
    render_text=render_text,
    effect="local",
    examples=(
        OperationExample("version", "print the version"),
        OperationExample("version -q", "print only the number"),
    ),
)
