"""The op `config_reload`: a running daemon reads the settings again."""

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import find_setting
from termvisor.ops.render.text import RenderOptions, sanitize


class ConfigReloadArgs(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class ConfigReloadResult(Struct, frozen=True, kw_only=True):
    """``applied`` hold from now on; ``needs_restart`` differ and wait for what ``restart_with`` names for each.

    ``rules`` is how many are in force now, null where none changed. Because of ``rule_troubles``, the old ones stay.
    """

    applied: tuple[str, ...]
    needs_restart: tuple[str, ...]
    restart_with: dict[str, str]
    rules: int | None
    rule_troubles: tuple[str, ...]


async def run(services: Services, _args: ConfigReloadArgs) -> ConfigReloadResult:
    told = await services.maintenance.reload_settings()
    restart_with = {name: find_setting(name).restart for name in told.needs_restart}
    return ConfigReloadResult(
        applied=told.applied,
        needs_restart=told.needs_restart,
        restart_with=restart_with,
        rules=told.rules.count,
        rule_troubles=told.rules.troubles,
    )


def render_text(result: ConfigReloadResult, options: RenderOptions) -> str:
    lines = [f"Taken over: {', '.join(result.applied)}."] if result.applied else []
    lines += [
        options.paint("yellow", f"{name} has changed too, but needs `{result.restart_with[name]}`.")
        for name in result.needs_restart
    ]
    if result.rules is not None:
        lines.append(f"Rules taken up: {result.rules} are in force.")
    if result.rule_troubles:
        lines += [options.paint("red", sanitize(trouble)) for trouble in result.rule_troubles]
        lines.append("Rules are looked for as before, until that is mended.")
    return "\n".join(lines) or "Nothing has changed."


def _get_exit_status(result: ConfigReloadResult) -> int:
    return 78 if result.rule_troubles else 0


OP = Operation(
    name="config_reload",
    summary="Make the running daemon read its settings and rules again.",
    doc="""What is safe is taken over at once; what needs a restart is named and keeps its old value. Settings that
are wrong are an error, and the old ones go on to hold. Rule packs are read again, too: new and changed rules are looked
for in what is printed from now on, and no line in between is missed. Where a rule is wrong that was not before, it is
told, and the old rules stay. The signal SIGHUP does the same. The environment that counts is the one in which the
daemon was started.""",
    args_type=ConfigReloadArgs,
    result_type=ConfigReloadResult,
    run=run,
    render_text=render_text,
    effect="change",
    works_without_daemon=True,
    get_exit_status=_get_exit_status,
    exit_statuses=(
        (69, "No daemon is running; it will read the settings when it starts."),
        (78, "The config is wrong, or a rule is."),
    ),
    examples=(OperationExample("config reload", "take over what was changed"),),
)
