"""Redact secrets in text before it is stored, shown or sent to a model.

A secret becomes ``[redacted:<kind>]``; the prefix of a provider's token is kept, so that readers see what it was.
Read `redactor` first; `provider_prefixes` and `context_patterns` define the built-in kinds.
"""

from termvisor.redaction.known_values import register_secret
from termvisor.redaction.partial_secrets import SeenSecrets, can_be_continuation
from termvisor.redaction.redactor import Redactor, redact, redact_each, redact_values, use_rules
from termvisor.redaction.ruleset import RedactionRules, build_rules, list_kinds

__all__ = [
    "RedactionRules",
    "Redactor",
    "SeenSecrets",
    "build_rules",
    "can_be_continuation",
    "list_kinds",
    "redact",
    "redact_each",
    "redact_values",
    "register_secret",
    "use_rules",
]
