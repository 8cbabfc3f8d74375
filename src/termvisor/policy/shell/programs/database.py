"""Database clients: statements that drop or empty what a database holds."""

import re

from termvisor.policy.shell import getopt as options
from termvisor.policy.shell.call import Call
from termvisor.policy.shell.effect import NOTHING, Effect, Look
from termvisor.policy.shell.programs.runner import feed

CLIENTS: tuple[str, ...] = (
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "sqlcmd",
    "clickhouse-client",
    "duckdb",
    "cqlsh",
    "mongosh",
    "mongo",
)
CLIENTS += ("redis-cli", "mysqladmin", "usql")
_DROPS = re.compile(
    r"\bdrop\s+(?:database|table|schema|index|view|user|role|collection|keyspace|column|owned|materialized)\b"
    r"|\btruncate\b|\bdelete\s+from\s+[\w.\"`]+\s*(?:;|$)|\bdrop(?:database|collection|index|user)?\s*\("
    r"|\b(?:delete|remove)many?\s*\(\s*\{\s*\}|\bflush(?:all|db)\b|^\s*drop\s|\.drop\(",
    re.IGNORECASE,
)
_DROP = Effect(classes=("database_drop",))
_TASKS = re.compile(r"^(?:db:(?:drop|reset|purge|truncate\w*|schema:load|migrate:reset)|flush|sqlflush|reset_db)$")


def _client(call: Call) -> Effect:
    texts = [word.text for word in call.arguments]
    fed = feed(call)
    texts += [word.text for word in fed.scripts]
    joined = " ".join(texts)
    if any(_DROPS.search(text) for text in (*texts, joined)):
        return _DROP
    return Effect(classes=("dynamic",)) if fed.classes else NOTHING


def _always(call: Call) -> Effect:
    return _DROP if options.read(call.arguments).operands else NOTHING


def _task(call: Call) -> Effect:
    """`rails db:drop`, `manage.py flush`, `prisma migrate reset`."""
    texts = [word.text for word in call.arguments]
    is_reset = texts[:2] in (["migrate", "reset"], ["db", "push"], ["db", "drop"], ["db", "reset"])
    return _DROP if is_reset or any(_TASKS.match(text) for text in texts) else NOTHING


LOOKS: dict[str, Look] = {}
LOOKS |= dict.fromkeys(CLIENTS, _client) | dict.fromkeys(("dropdb", "dropuser"), _always)
LOOKS |= dict.fromkeys(("rails", "rake", "manage.py", "django-admin", "prisma", "supabase", "mix", "artisan"), _task)
