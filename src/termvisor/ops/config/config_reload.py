"""The operation `config_reload`: make the running daemon reload its settings and rules."""

from msgspec import Struct

from termvisor.model.action.action import WriteConfig
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.config._settings import find_setting
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact


class ConfigReloadArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class ConfigReloadResult(Struct, frozen=True, kw_only=True):
    """``applied`` settings are active now; ``needs_restart`` have changed but need the command in ``restart_with``.

    ``rules`` is the number of active rules, null if none changed. ``rule_troubles`` are errors in rule files; with any,
    the previous rules stay active. ``agents`` are those whose description file is new, different or gone;
    ``agent_troubles`` are errors in such files, which are left out.
    """

    applied: tuple[str, ...]
    needs_restart: tuple[str, ...]
    restart_with: dict[str, str]
    rules: int | None
    rule_troubles: tuple[str, ...]
    agents: tuple[str, ...] = ()
    agent_troubles: tuple[str, ...] = ()


async def run(services: Services, _args: ConfigReloadArgs) -> ConfigReloadResult:
    reloaded = await services.maintenance.reload_settings()
    return ConfigReloadResult(
        applied=reloaded.applied,
        needs_restart=reloaded.needs_restart,
        restart_with={name: find_setting(name).restart for name in reloaded.needs_restart},
        rules=reloaded.rules.count,
        rule_troubles=reloaded.rules.troubles,
        agents=reloaded.descriptions.changed,
        agent_troubles=tuple(map(redact, reloaded.descriptions.troubles)),
    )


def render_text(result: ConfigReloadResult, options: RenderOptions) -> str:
    lines = [f"Applied: {', '.join(result.applied)}."] if result.applied else []
    lines += [
        options.paint("yellow", f"{name} has changed; run `{result.restart_with[name]}` to apply it.")
        for name in result.needs_restart
    ]
    if result.rules is not None:
        lines.append(f"Rules reloaded: {result.rules} active.")
    if result.rule_troubles:
        lines += [options.paint("red", sanitize(problem)) for problem in result.rule_troubles]
        lines.append("The previous rules stay active until this is fixed.")
    if result.agents:
        lines.append(f"Descriptions of agents reloaded: {sanitize(', '.join(result.agents))}.")
    lines += [options.paint("red", sanitize(f"left out: {problem}")) for problem in result.agent_troubles]
    return "\n".join(lines) or "Nothing has changed."


OP = Operation(
    name="config_reload",
    summary="Make the running daemon reload its settings and rules.",
    doc="""Settings that need no restart are applied at once; the others are listed and keep their old value. Invalid
settings are an error, and the old ones stay active. Rule packs are reloaded too: new and changed rules apply to output
from now on, and no line in between is missed. If a rule has become invalid, it is reported, and the previous rules stay
active. Files that describe agents are reloaded as well; an invalid one is reported and left out. SIGHUP does the same.
Environment variables are those with which the daemon was started. A program needs approval, because settings decide
which programs the daemon runs.""",
    run=run,
    render_text=render_text,
    effect="change",
    list_changes=lambda _services, _args: (WriteConfig(change="reload"),),
    works_without_daemon=True,
    get_exit_status=lambda result: 78 if result.rule_troubles or result.agent_troubles else 0,
    exit_statuses=(
        (69, "No daemon is running; it reads the settings when it starts."),
        (78, "The config file, a rule or an agent's description is invalid."),
    ),
    examples=(OperationExample("config reload", "apply changed settings and rules"),),
)
