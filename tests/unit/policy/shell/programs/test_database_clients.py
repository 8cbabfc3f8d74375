import pytest

from tests.unit.policy.policy_requests import find_classes


@pytest.mark.parametrize(
    "line",
    [
        "psql -c 'drop  schema x'",
        "psql -c 'TRUNCATE a'",
        "mysql -e 'DELETE FROM a;'",
        "sqlite3 f 'drop table a'",
        "echo 'drop table a' | mysql",
        "psql <<< 'drop role a'",
        "mongosh --eval 'db.a.drop()'",
        "redis-cli FLUSHDB",
        "dropdb a",
        "rake db:reset",
        "manage.py flush",
        "supabase db reset",
    ],
)
def test_drop_statements_are_classified(line: str) -> None:
    assert find_classes(line) == {"database_drop"}


@pytest.mark.parametrize(
    "line", ["psql -c 'select dropped from a'", "sqlite3 f 'select 1'", "redis-cli get a", "dropdb", "psql -c '\\d a'"]
)
def test_other_statements_have_no_class(line: str) -> None:
    assert find_classes(line) == set()


@pytest.mark.parametrize(
    "line",
    [
        "psql",
        "mysql -e 'delete from a where b=1'",
        "psql -f x.sql",
        "rails db:seed",
        "psql -c 'explain analyze delete from a where b'",
        "redis-cli getdel a",
    ],
)
def test_statement_that_does_not_only_read_has_an_unknown_effect(line: str) -> None:
    assert find_classes(line) == {"unknown_effect"}


@pytest.mark.parametrize(
    "line",
    [
        "sqlite3 f '.shell ls'",
        "psql -c '\\! ls'",
        "mysql -e 'system ls'",
        "psql -c \"copy a to program 'ls'\"",
        "sqlite3 f \"select writefile('a', '')\"",
        "duckdb -c .shell",
    ],
)
def test_command_that_leaves_the_database_is_inline_code(line: str) -> None:
    assert "inline_code" in find_classes(line)


def test_unknown_statements_are_dynamic() -> None:
    assert find_classes("cat dump.sql | psql") == {"dynamic", "unknown_effect"}
