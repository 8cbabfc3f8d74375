from pathlib import Path

import pytest

from termvisor.diagnostics.checks import BUILTIN_CHECKS
from termvisor.errors import list_error_classes
from termvisor.model.action.action import RISK_BY_ACTION_KIND
from termvisor.model.action.policy import COMMAND_CLASSES
from termvisor.model.action.policy_keys import list_policy_keys as policy_keys
from termvisor.model.event import EVENT_KINDS
from termvisor.model.terminal.output import GAP_CAUSES
from termvisor.ops.api.catalog import OPERATION_NAMES
from termvisor.ops.docs.reference_pages import build_pages, find_stale_pages, main, write_pages
from termvisor.redaction import list_kinds
from termvisor.settings import list_settings

ROOT = Path(__file__).parents[4]
PAGES = build_pages()


def test_the_committed_pages_are_not_stale() -> None:
    assert find_stale_pages(str(ROOT)) == [], "run `make docs`"


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("settings", [row.name for row in list_settings()] + [row.env for row in list_settings()]),
        ("errors", [error.code for error in list_error_classes()]),
        ("events", list(EVENT_KINDS)),
        ("gaps", list(GAP_CAUSES)),
        ("checks", [check.name for check in BUILTIN_CHECKS]),
        ("secrets", [kind.name for kind in list_kinds()]),
        ("policy", [key.path for key in policy_keys()] + list(COMMAND_CLASSES) + list(RISK_BY_ACTION_KIND)),
    ],
)
def test_every_declared_name_is_documented(page: str, names: list[str]) -> None:
    text = PAGES[f"docs/reference/{page}.md"]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_every_operation_has_a_page_and_schemas() -> None:
    assert all(f"docs/reference/ops/{name}.md" in PAGES for name in OPERATION_NAMES)
    assert all(
        f"docs/json-schema/{name}.{end}.json" in PAGES for name in OPERATION_NAMES for end in ("input", "output")
    )
    assert all(f"(ops/{name}.md)" in PAGES["docs/reference/ops.md"] for name in OPERATION_NAMES)


def test_an_error_code_is_listed_once() -> None:
    lines = PAGES["docs/reference/errors.md"].splitlines()
    assert sum(line.startswith("| `internal`") for line in lines) == 1


def test_write_pages_updates_stale_and_removes_obsolete_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(tmp_path)
    assert main(["--check", root]) == 1
    assert main([root]) == 0
    (tmp_path / "docs/reference/errors.md").write_text("old")
    (tmp_path / "docs/reference/ops/removed.md").write_text("old")
    assert find_stale_pages(root) == ["docs/reference/errors.md", "docs/reference/ops/removed.md"]
    assert main(["--check", root]) == 1
    assert "stale: docs/reference/ops/removed.md" in capsys.readouterr().err
    write_pages(root)
    assert main(["--check", root]) == 0
