"""The op `db_check`: is the database whole?"""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, clean


class DbCheck(Struct, frozen=True, kw_only=True):
    """How closely to look."""

    thorough: Annotated[
        bool, Meta(description="Read every row and compare the search index with the text; needs room for a copy.")
    ] = False


class CheckReport(Struct, frozen=True, kw_only=True):
    """``wrong`` says what was found; empty when the database is whole."""

    path: str
    is_fine: bool
    is_thorough: bool
    wrong: str
    duration_secs: float


_REMEDY = (
    "An index that differs from the text is made anew by `visor db reindex`; "
    "of anything else put back a copy with `visor db restore`."
)


async def run(world: World, wanted: DbCheck) -> CheckReport:
    found = await world.upkeep.check(thorough=wanted.thorough)
    return CheckReport(
        path=found.path,
        is_fine=not found.wrong,
        is_thorough=found.is_thorough,
        wrong=found.wrong,
        duration_secs=round(found.duration, 3),
    )


def plain(report: CheckReport, look: Look) -> str:
    if report.is_fine:
        return f"{clean(report.path)} is whole"
    return f"{clean(report.path)}: {clean(report.wrong)}\n{_REMEDY}"


OP = Op(
    name="db_check",
    summary="Check that the database is whole.",
    doc="""Without options, SQLite's quick check and a count of the search index. With `--thorough` every row and
index is read, and the search index is compared with the text, on a copy that is deleted again. Nobody has to wait
meanwhile.""",
    Input=DbCheck,
    Output=CheckReport,
    run=run,
    plain=plain,
    exit_status=lambda report: 0 if report.is_fine else 1,
    exits=((0, "The database is whole."), (1, "Something is wrong with it.")),
    examples=(Example("db check", "a quick look"), Example("db check --thorough", "everything")),
)
