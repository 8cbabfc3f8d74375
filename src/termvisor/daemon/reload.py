"""Takes over changed settings while the daemon runs.

Invariant: settings that are wrong change nothing, and those that need a restart keep their old value in all parts.
"""

from termvisor.daemon.parts import Parts
from termvisor.daemon.warm import warm_rules
from termvisor.log import to_file
from termvisor.model.reload import Reloaded
from termvisor.ops.configuration import merge
from termvisor.redact import use as use_rules
from termvisor.settings import load

_REDACTION = frozenset({"redact_patterns", "redact_allow"})
_LOG = frozenset({"log_level", "log_bytes"})


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
    return told
