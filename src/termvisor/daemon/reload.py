"""Apply changed settings and rules while the daemon runs; stored text is not processed again.

Invariant: invalid settings or rules change nothing; settings that need a restart keep their old value everywhere.
"""

from msgspec.structs import replace

from termvisor.daemon.components import Components
from termvisor.daemon.rules.precompile import load_redaction_rules
from termvisor.log import configure_log_file, get_logger
from termvisor.model.reload import ReloadResult, RulesReloadResult
from termvisor.ops.config._settings import merge_settings
from termvisor.redaction import use_rules
from termvisor.settings import load_settings

_REDACTION_SETTINGS = frozenset({"redact_patterns", "redact_allow"})
_LOG_SETTINGS = frozenset({"log_level", "log_bytes"})
log = get_logger("rules")


async def reload_settings(components: Components) -> ReloadResult:
    """Read settings and rules from disk and apply them; raise ConfigError if the settings are invalid."""
    settings, result = merge_settings(components.settings, load_settings(components.paths))
    changed = frozenset(result.applied)
    if changed & _REDACTION_SETTINGS:
        use_rules(await load_redaction_rules(components.paths, settings))
    if changed & _LOG_SETTINGS:
        configure_log_file(components.paths.log_file, settings)
    if changed:
        components.settings = settings
        components.pipeline.set_flush_interval(settings.flush_interval)
        components.server_supervisor.apply_settings(settings)
        components.agent_tracking.apply_settings(settings)
        await components.event_log.emit("config_reloaded", settings=", ".join(result.applied))
    return replace(result, rules=await _reload_rules(components))


async def _reload_rules(components: Components) -> RulesReloadResult:
    result = await components.active_rules.reload(components.settings)
    if result.count is not None:
        components.agent_tracking.reload_screen_rules(components.paths, components.settings)
        await components.event_log.emit("rules_reloaded", rules=str(result.count))
    for problem in result.troubles:
        log.warning("rules were not reloaded: %s", problem)
    return result
