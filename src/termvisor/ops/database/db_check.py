"""The op `db_check`: is the database whole?"""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize


class DbCheckArgs(Struct, frozen=True, kw_only=True):
    """How closely to look."""

    thorough: Annotated[
        bool, Meta(description="Read every row and compare the search index with the text; needs room for a copy.")
    ] = False


class DbCheckResult(Struct, frozen=True, kw_only=True):
    """``wrong`` says what was found; empty when the database is whole."""

    path: str
    is_fine: bool
    is_thorough: bool
    wrong: str
    duration_secs: float


_REPAIR_HINT = (
    "An index that differs from the text is made anew by `visor db reindex`; "
    "of anything else put back a copy with `visor db restore`."
)


async def run(services: Services, args: DbCheckArgs) -> DbCheckResult:
    found = await services.maintenance.check_database(thorough=args.thorough)
    return DbCheckResult(
        path=found.path,
        is_fine=not found.wrong,
        is_thorough=found.is_thorough,
        wrong=found.wrong,
        duration_secs=round(found.duration, 3),
    )


def render_text(result: DbCheckResult, options: RenderOptions) -> str:
    if result.is_fine:
        return f"{sanitize(result.path)} is whole"
    return f"{sanitize(result.path)}: {sanitize(result.wrong)}\n{_REPAIR_HINT}"


OP = Operation(
    name="db_check",
    summary="Check that the database is whole.",
    doc="""Without options, SQLite's quick check and a count of the search index. With `--thorough` every row and
index is read, and the search index is compared with the text, on a copy that is deleted again. Nobody has to wait
meanwhile.""",
    args_type=DbCheckArgs,
    result_type=DbCheckResult,
    run=run,
    render_text=render_text,
    get_exit_status=lambda report: 0 if report.is_fine else 1,
    exit_statuses=((0, "The database is whole."), (1, "Something is wrong with it.")),
    examples=(OperationExample("db check", "a quick look"), OperationExample("db check --thorough", "everything")),
)
