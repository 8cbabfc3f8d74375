"""The op `config_validate`: is the config right, in form and in meaning?"""

import os
import shutil
from collections.abc import Iterator

from msgspec import Struct

from termvisor.model.action.notification import missing
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import where
from termvisor.ops.render.text import Look, clean
from termvisor.settings import Settings, load, read_file


class ConfigValidate(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class ConfigVerdict(Struct, frozen=True, kw_only=True):
    """A config that cannot be used is an error; ``warnings`` name what is allowed but hardly meant."""

    path: str
    exists: bool
    settings_in_file: tuple[str, ...]
    warnings: tuple[str, ...]


async def run(world: World, _wanted: ConfigValidate) -> ConfigVerdict:
    path = where(world).config_file
    settings = load(where(world))
    return ConfigVerdict(
        path=path,
        exists=os.path.exists(path),
        settings_in_file=tuple(read_file(path)),
        warnings=tuple(doubts(settings)),
    )


def doubts(settings: Settings) -> Iterator[str]:
    """What a person hardly meant."""
    if settings.thin_interval > settings.full_interval:
        yield "thin_interval is longer than full_interval, so the short listing is never taken"
    if settings.segment_bytes > settings.recorder_cap_bytes:
        yield "recorder_cap_bytes is less than one segment (segment_bytes)"
    if shutil.which(settings.tmux_program) is None:
        yield f"tmux_program: there is no program {settings.tmux_program!r}"
    for way, lacks in missing(settings).items():
        if way in settings.notify_ways:
            yield f"notify_ways names {way}, but {lacks} is not set"


def plain(verdict: ConfigVerdict, look: Look) -> str:
    told = f"{verdict.path} is fine" if verdict.exists else f"{verdict.path} does not exist; every default holds"
    return "\n".join([clean(told), *(look.paint("yellow", clean(f"warning: {text}")) for text in verdict.warnings)])


OP = Op(
    name="config_validate",
    summary="Check the config file and the environment.",
    doc="""Checks names, types and limits of every setting, and regular expressions. What is wrong is a
`config_error` that names the place; what is allowed but hardly meant is a warning.""",
    Input=ConfigValidate,
    Output=ConfigVerdict,
    run=run,
    plain=plain,
    effect="local",
    exits=((78, "The config is wrong; the message says where."),),
    examples=(Example("config validate", "check it"),),
)
