"""The operation `config_validate`: validate the config file and the environment."""

import os
import shutil
from collections.abc import Iterator, Mapping

from msgspec import Struct

from termvisor.model.agent.account import ACCOUNT_VARIABLE
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.settings.notifications import find_missing_settings
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize, sanitize_lines
from termvisor.settings import (
    FOLDER_VARIABLES,
    Settings,
    find_old_forms,
    get_environment,
    list_settings,
    load_settings,
    read_config_file,
)


class ConfigValidateArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class ConfigValidateResult(Struct, frozen=True, kw_only=True):
    """``warnings`` are valid but suspicious settings; invalid ones are an error."""

    path: str
    exists: bool
    settings_in_file: tuple[str, ...]
    warnings: tuple[str, ...]


async def run(services: Services, _args: ConfigValidateArgs) -> ConfigValidateResult:
    path = services.paths.config_file
    settings = load_settings(services.paths)
    return ConfigValidateResult(
        path=path,
        exists=os.path.exists(path),
        settings_in_file=tuple(read_config_file(path)),
        warnings=(*find_old_forms(path), *find_config_warnings(settings), *find_unknown_variables(get_environment())),
    )


def find_config_warnings(settings: Settings) -> Iterator[str]:
    """Yield warnings about valid settings that are probably mistakes."""
    if settings.thin_interval > settings.full_interval:
        yield "thin_interval is longer than full_interval, so changes are noticed later than full_interval says"
    if settings.segment_bytes > settings.recorder_cap_bytes:
        yield "recorder_cap_bytes is less than one segment (segment_bytes)"
    if shutil.which(settings.tmux_program) is None:
        yield f"tmux_program: {settings.tmux_program!r} not found"
    for channel, missing_setting in find_missing_settings(settings).items():
        if channel in settings.notify_ways:
            yield f"notify_ways contains {channel}, but {missing_setting} is not set"


def find_unknown_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield warnings about variables that look like ours and have no effect, with the closest known name."""
    variables = (*(setting.env for setting in list_settings()), *FOLDER_VARIABLES, ACCOUNT_VARIABLE)
    # Without the prefix that all of them share, which would make every name close to every other.
    known = {variable.removeprefix("VISOR_") for variable in variables}
    for name in sorted(environ):
        if name.startswith("VISOR_") and name.removeprefix("VISOR_") not in known:
            near = find_close_matches(name.removeprefix("VISOR_"), known)
            hint = f"did you mean VISOR_{near[0]}?" if near else "`visor config show --effective` lists the settings"
            yield f"{name} in the environment is not a setting: {hint}"


def render_text(result: ConfigValidateResult, options: RenderOptions) -> str:
    status = f"{result.path} ok" if result.exists else f"{result.path} does not exist; using the defaults"
    warnings = (options.paint("yellow", sanitize_lines(f"warning: {text}")) for text in result.warnings)
    return "\n".join([sanitize(status), *warnings])


OP = Operation(
    name="config_validate",
    summary="Validate the config file and the environment.",
    doc="""Checks name, type and limits of every setting, and regular expressions. An invalid setting is a
`config_error` with its line, and an unknown one with the closest key. A valid but suspicious one is a warning; so are
an unknown `VISOR_…` variable and a setting in an earlier form, with the new form.""",
    run=run,
    render_text=render_text,
    effect="local",
    exit_statuses=((78, "The config is invalid; the message names the place."),),
    examples=(OperationExample("config validate", "validate the config"),),
)
