"""Operation `job_extract`: read named values from the output of a job."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.action.action import Action, WriteFile
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.jobs._job_item import JobReference, resolve_job
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact


class JobExtractArgs(Struct, frozen=True, kw_only=True):
    """The job, and the extractor."""

    job: JobReference
    extractor: Annotated[str, Meta(description="Name of the extractor.", extra={"positional": "one"})]
    secret_file: Annotated[
        str, Meta(description="Write secret values to this new file, one `name=value` a line.", extra={"is_path": True})
    ] = ""


class JobExtractResult(Struct, frozen=True, kw_only=True):
    """``values`` by name. Secret ones are only in ``secret_file``; ``secrets`` names them."""

    job: int
    extractor: str
    values: dict[str, str]
    secrets: tuple[str, ...] = ()
    secret_file: str = ""


async def run(services: Services, args: JobExtractArgs) -> JobExtractResult:
    job = await resolve_job(services, args.job)
    found = await services.jobs.extract(job, args.extractor, args.secret_file)
    values = {name: redact(value) for name, value in found.values.items()}
    return JobExtractResult(
        job=job.id, extractor=args.extractor, values=values, secrets=found.secrets, secret_file=found.secret_file
    )


def _list_changes(_services: Services, args: JobExtractArgs) -> tuple[Action, ...]:
    return (WriteFile(path=args.secret_file, why="secrets of a job"),) if args.secret_file else ()


def render_text(result: JobExtractResult, _options: RenderOptions) -> str:
    rows = [f"{name}={sanitize(value)}" for name, value in result.values.items()]
    place = f"in {result.secret_file}" if result.secret_file else "not shown: give --secret-file"
    rows += [f"{name}: secret, {place}" for name in result.secrets]
    return "\n".join(rows) or "nothing found"


OP = Operation(
    name="job_extract",
    summary="Read named values, such as a login code, from the output of a job.",
    doc="""An extractor knows the prompts and values of one command: `claude_setup_token`, `gh_auth_login`, and those of
other packages (entry point `termvisor.extractors`). Start the job with `visor run --extractor`, so that its prompts are
recognized and its secrets are masked from the first byte. A secret value is written to `--secret-file` (a new file with
mode 0600) and then overwritten in the raw log: it can be extracted once.""",
    run=run,
    render_text=render_text,
    effect="change",
    list_changes=_list_changes,
    examples=(
        OperationExample("job extract 12 gh_auth_login", "the one-time code and the address"),
        OperationExample("job extract 12 claude_setup_token --secret-file ~/.claude-token", "store the token"),
    ),
)
