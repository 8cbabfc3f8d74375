"""The op `config_reload`: a running daemon reads the settings again."""

from msgspec import Struct

from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import setting
from termvisor.ops.render.text import Look, clean


class ConfigReload(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class ConfigReloaded(Struct, frozen=True, kw_only=True):
    """``applied`` hold from now on; ``needs_restart`` differ and wait for what ``restart_with`` names for each.

    ``rules`` is how many are in force now, null where none changed. Because of ``rule_troubles``, the old ones stay.
    """

    applied: tuple[str, ...]
    needs_restart: tuple[str, ...]
    restart_with: dict[str, str]
    rules: int | None
    rule_troubles: tuple[str, ...]


async def run(world: World, _wanted: ConfigReload) -> ConfigReloaded:
    told = await world.upkeep.reload()
    restart_with = {name: setting(name).restart for name in told.needs_restart}
    return ConfigReloaded(
        applied=told.applied,
        needs_restart=told.needs_restart,
        restart_with=restart_with,
        rules=told.rules.count,
        rule_troubles=told.rules.troubles,
    )


def plain(told: ConfigReloaded, look: Look) -> str:
    lines = [f"Taken over: {', '.join(told.applied)}."] if told.applied else []
    lines += [
        look.paint("yellow", f"{name} has changed too, but needs `{told.restart_with[name]}`.")
        for name in told.needs_restart
    ]
    if told.rules is not None:
        lines.append(f"Rules taken up: {told.rules} are in force.")
    if told.rule_troubles:
        lines += [look.paint("red", clean(trouble)) for trouble in told.rule_troubles]
        lines.append("Rules are looked for as before, until that is mended.")
    return "\n".join(lines) or "Nothing has changed."


def _status(told: ConfigReloaded) -> int:
    return 78 if told.rule_troubles else 0


OP = Op(
    name="config_reload",
    summary="Make the running daemon read its settings and rules again.",
    doc="""What is safe is taken over at once; what needs a restart is named and keeps its old value. Settings that
are wrong are an error, and the old ones go on to hold. Rule packs are read again, too: new and changed rules are looked
for in what is printed from now on, and no line in between is missed. Where a rule is wrong that was not before, it is
told, and the old rules stay. The signal SIGHUP does the same. The environment that counts is the one in which the
daemon was started.""",
    Input=ConfigReload,
    Output=ConfigReloaded,
    run=run,
    plain=plain,
    effect="change",
    works_alone=True,
    exit_status=_status,
    exits=(
        (69, "No daemon is running; it will read the settings when it starts."),
        (78, "The config is wrong, or a rule is."),
    ),
    examples=(Example("config reload", "take over what was changed"),),
)
