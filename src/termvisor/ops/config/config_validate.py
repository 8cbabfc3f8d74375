"""The op `config_validate`: is the config right, in form and in meaning?"""

import os
import shutil
from collections.abc import Iterator

from msgspec import Struct

from termvisor.model.action.notification import find_missing_settings
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import get_paths
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.settings import Settings, load_settings, read_config_file


class ConfigValidateArgs(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class ConfigValidateResult(Struct, frozen=True, kw_only=True):
    """A config that cannot be used is an error; ``warnings`` name what is allowed but hardly meant."""

    path: str
    exists: bool
    settings_in_file: tuple[str, ...]
    warnings: tuple[str, ...]


async def run(services: Services, _args: ConfigValidateArgs) -> ConfigValidateResult:
    path = get_paths(services).config_file
    settings = load_settings(get_paths(services))
    return ConfigValidateResult(
        path=path,
        exists=os.path.exists(path),
        settings_in_file=tuple(read_config_file(path)),
        warnings=tuple(find_config_warnings(settings)),
    )


def find_config_warnings(settings: Settings) -> Iterator[str]:
    """What a person hardly meant."""
    if settings.thin_interval > settings.full_interval:
        yield "thin_interval is longer than full_interval, so the short listing is never taken"
    if settings.segment_bytes > settings.recorder_cap_bytes:
        yield "recorder_cap_bytes is less than one segment (segment_bytes)"
    if shutil.which(settings.tmux_program) is None:
        yield f"tmux_program: there is no program {settings.tmux_program!r}"
    for way, lacks in find_missing_settings(settings).items():
        if way in settings.notify_ways:
            yield f"notify_ways names {way}, but {lacks} is not set"


def render_text(result: ConfigValidateResult, options: RenderOptions) -> str:
    told = f"{result.path} is fine" if result.exists else f"{result.path} does not exist; every default holds"
    return "\n".join(
        [sanitize(told), *(options.paint("yellow", sanitize(f"warning: {text}")) for text in result.warnings)]
    )


OP = Operation(
    name="config_validate",
    summary="Check the config file and the environment.",
    doc="""Checks names, types and limits of every setting, and regular expressions. What is wrong is a
`config_error` that names the place; what is allowed but hardly meant is a warning.""",
    args_type=ConfigValidateArgs,
    result_type=ConfigValidateResult,
    run=run,
    render_text=render_text,
    effect="local",
    exit_statuses=((78, "The config is wrong; the message says where."),),
    examples=(OperationExample("config validate", "check it"),),
)
