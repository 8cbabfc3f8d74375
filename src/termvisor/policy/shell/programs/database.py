"""Analyze database clients and find statements that drop or empty tables and databases."""

import re

from termvisor.policy.shell.call import CommandEffect, ProgramCall, classify
from termvisor.policy.shell.programs.interpreter import analyze_input
from termvisor.policy.shell.programs.program_table import ProgramEffectRule, build_analyzers

CLIENTS = "psql mysql mariadb sqlite3 sqlcmd clickhouse-client duckdb cqlsh mongosh mongo redis-cli mysqladmin usql"
_DROP_STATEMENT = re.compile(
    r"\bdrop\s+(?:database|table|schema|index|view|user|role|collection|keyspace|column|owned|materialized)\b"
    r"|\btruncate\b|\bdelete\s+from\s+[\w.\"`]+\s*(?:;|$)|\bdrop(?:database|collection|index|user)?\s*\("
    r"|\b(?:delete|remove)many?\s*\(\s*\{\s*\}|\bflush(?:all|db)\b|^\s*drop\s|\.drop\(",
    re.IGNORECASE,
)
_DROP_TASK = re.compile(r"^(?:db:(?:drop|reset|purge|truncate\w*|schema:load|migrate:reset)|flush|sqlflush|reset_db)$")


def _analyze_client(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    fed = analyze_input(call)
    texts += [word.text for word in fed.scripts]
    joined = " ".join(texts)
    if any(_DROP_STATEMENT.search(text) for text in (*texts, joined)):
        return classify("database_drop")
    return classify("dynamic", when=fed.classes)


def _analyze_task(call: ProgramCall) -> CommandEffect:
    """Analyze tasks such as `rails db:drop`, `manage.py flush` and `prisma migrate reset`."""
    texts = [word.text for word in call.arguments]
    is_reset = texts[:2] in (["migrate", "reset"], ["db", "push"], ["db", "drop"], ["db", "reset"])
    return classify("database_drop", when=is_reset or any(_DROP_TASK.match(text) for text in texts))


ANALYZERS = build_analyzers(
    {
        CLIENTS: _analyze_client,
        "dropdb dropuser": ProgramEffectRule(classes=("database_drop",), needs="operand"),
        "rails rake manage.py django-admin prisma supabase mix artisan": _analyze_task,
    }
)
