"""Secrets out of text before it is stored, shown or sent to a model.

What is recognised becomes ``[redacted:<kind>]``; a provider's prefix stays, so that a reader sees what was there.
"""

from termvisor.redaction.redactor import Redactor, redact, redact_each, use_rules
from termvisor.redaction.ruleset import RedactionRules, build_rules, list_kinds
from termvisor.redaction.seen_secrets import SeenSecrets
from termvisor.redaction.wrapped_lines import can_be_continuation

__all__ = [
    "RedactionRules",
    "Redactor",
    "SeenSecrets",
    "build_rules",
    "can_be_continuation",
    "list_kinds",
    "redact",
    "redact_each",
    "use_rules",
]
