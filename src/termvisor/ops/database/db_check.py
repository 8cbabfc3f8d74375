"""The operation `db_check`: check the integrity of the database and its search index."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize


class DbCheckArgs(Struct, frozen=True, kw_only=True):
    """Choose how thorough the check is."""

    thorough: Annotated[
        bool, Meta(description="Read every row and compare the search index with the text; needs space for a copy.")
    ] = False


class DbCheckResult(Struct, frozen=True, kw_only=True):
    """``wrong`` is the problem; empty if the database is intact."""

    path: str
    is_fine: bool
    is_thorough: bool
    wrong: str
    duration_secs: float


_REPAIR_HINT = (
    "Run `visor db reindex` if the search index differs from the text; "
    "for any other problem restore a backup with `visor db restore`."
)


async def run(services: Services, args: DbCheckArgs) -> DbCheckResult:
    check = await services.maintenance.check_database(thorough=args.thorough)
    return DbCheckResult(
        path=check.path,
        is_fine=not check.wrong,
        is_thorough=check.is_thorough,
        wrong=check.wrong,
        duration_secs=round(check.duration, 3),
    )


def render_text(result: DbCheckResult, options: RenderOptions) -> str:
    if result.is_fine:
        return f"{sanitize(result.path)} ok"
    return f"{sanitize(result.path)}: {sanitize(result.wrong)}\n{_REPAIR_HINT}"


OP = Operation(
    name="db_check",
    summary="Check the integrity of the database.",
    doc="""Without options it runs SQLite's quick check and counts the search index. `--thorough` reads every row and
index, and compares the search index with the text on a temporary copy. Recording and reading continue meanwhile.""",
    run=run,
    render_text=render_text,
    get_exit_status=lambda report: 0 if report.is_fine else 1,
    exit_statuses=((0, "The database is intact."), (1, "The check found a problem.")),
    examples=(OperationExample("db check", "quick check"), OperationExample("db check --thorough", "full check")),
)
