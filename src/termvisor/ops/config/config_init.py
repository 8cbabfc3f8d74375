"""The op `config_init`: a config file with every setting in it, commented out, to start from."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import Conflict, Unavailable
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import toml, where
from termvisor.ops.render.text import Look, clean
from termvisor.settings import Row, make_private, rows


class ConfigInit(Struct, frozen=True, kw_only=True):
    """Whether an existing file may be replaced."""

    force: Annotated[bool, Meta(description="Replace the file; the old one is kept as config.toml.old.")] = False


class ConfigMade(Struct, frozen=True, kw_only=True):
    path: str
    kept: str | None
    """Where the replaced file is now."""


async def run(world: World, wanted: ConfigInit) -> ConfigMade:
    path = where(world).config_file
    if os.path.lexists(path) and not wanted.force:
        raise Conflict(f"{path} exists", hint="Edit it, or give --force to replace it.")
    return ConfigMade(path=path, kept=_write(path))


def _write(path: str) -> str | None:
    make_private(os.path.dirname(path))
    kept = path + ".old" if os.path.lexists(path) else None
    try:
        if kept is not None:
            os.replace(path, kept)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(template())
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error
    return kept


def template() -> str:
    """Every setting with its meaning and default."""
    head = "# Settings of Termvisor. Take the # off a line to change it; `visor config validate` checks the file.\n"
    return head + "".join(
        f"\n# {row.doc}\n# Environment: {row.env}. {row.type}\n# {row.name} = {_example(row)}\n" for row in rows()
    )


def _example(row: Row) -> str:
    """The default, or the form of a value where the default is to have none."""
    return '["…"]' if row.default is None else toml(row.default)


def plain(made: ConfigMade, look: Look) -> str:
    kept = f"; the old one is {made.kept}" if made.kept else ""
    return clean(f"{made.path} written{kept}")


OP = Op(
    name="config_init",
    summary="Write a config file with every setting, commented out.",
    doc="Nothing is changed by it until a line is taken in. An existing file is left alone unless `--force` is given.",
    Input=ConfigInit,
    Output=ConfigMade,
    run=run,
    plain=plain,
    effect="local",
    exits=((75, "The file exists and --force was not given."),),
    examples=(Example("config init", "write it"), Example("config init --force", "write it anew, keep the old one")),
)
