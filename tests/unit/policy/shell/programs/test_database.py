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
    "line", ["psql", "psql -c 'select dropped from a'", "mysql -e 'delete from a where b=1'", "dropdb", "rails db:seed"]
)
def test_other_statements_have_no_class(line: str) -> None:
    assert find_classes(line) == set()


def test_unknown_statements_are_dynamic() -> None:
    assert find_classes("cat dump.sql | psql") == {"dynamic"}
