"""Takes over changed settings and rules while the daemon runs. No text that was read is read again.

Invariant: settings or rules that are wrong change nothing, and those that need a restart keep their old value in all
parts.
"""

from msgspec.structs import replace

from termvisor.daemon.components import Parts
from termvisor.daemon.rules.precompile import warm_rules
from termvisor.log import logger, to_file
from termvisor.model.reload import Reloaded, RulesRead
from termvisor.ops.config._shared import merge
from termvisor.redaction import use as use_rules
from termvisor.settings import load

_REDACTION = frozenset({"redact_patterns", "redact_allow"})
_LOG = frozenset({"log_level", "log_bytes"})
log = logger("rules")


async def reload(parts: Parts) -> Reloaded:
    settings, told = merge(parts.settings, load(parts.places))
    changed = frozenset(told.applied)
    if changed & _REDACTION:
        use_rules(await warm_rules(parts.places, settings))
    if changed & _LOG:
        to_file(parts.places.log_file, settings)
    if changed:
        parts.settings = settings
        parts.pipeline.flush_every(settings.flush_interval)
        parts.lookout.take_over(settings)
        parts.attending.take_over(settings)
        await parts.chronicle.tell("config_reloaded", settings=", ".join(told.applied))
    return replace(told, rules=await _rules(parts))


async def _rules(parts: Parts) -> RulesRead:
    """Packs, and rules in them, as they are on disk now."""
    read = await parts.ruling.reload(parts.settings)
    if read.count is not None:
        parts.attending.read_screens_with(parts.places, parts.settings)
        await parts.chronicle.tell("rules_reloaded", rules=str(read.count))
    for trouble in read.troubles:
        log.warning("rules were not taken up: %s", trouble)
    return read
