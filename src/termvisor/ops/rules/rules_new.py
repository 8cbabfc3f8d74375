"""The operation `rules_new`: create a template for a user's own rule."""

import os
import re
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, StateConflict, Unavailable
from termvisor.model.action.action import WriteConfig
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.ops.rules._rule_packs import build_template_files
from termvisor.system.files import make_private_folder

# The id is also the file name, so it has no slash and does not start with a dot.
_RULE_ID_PATTERN = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+", re.ASCII)
_PACK_NAME_PATTERN = re.compile(r"[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)*", re.ASCII)
# File systems limit a name to 255 bytes.
_MAX_NAME_LENGTH = 120


class CreateRuleArgs(Struct, frozen=True, kw_only=True):
    """The id of the rule, and its pack."""

    id: Annotated[
        str,
        Meta(description="The rule's id: words joined by dots: `deploy.rollout.stuck`.", extra={"positional": "one"}),
    ]
    pack: Annotated[str, Meta(description="The pack of the rule; created if it does not exist.")] = "org.local"
    agent: Annotated[str, Meta(description="Only in panes of this agent.", pattern="^([a-z][a-z0-9_]*)?$")] = ""


class CreateRuleResult(Struct, frozen=True, kw_only=True):
    path: str
    pack: str


async def run(services: Services, args: CreateRuleArgs) -> CreateRuleResult:
    if not _RULE_ID_PATTERN.fullmatch(args.id) or len(args.id) > _MAX_NAME_LENGTH:
        raise BadRequest(f"{args.id[:200]!r} is not a rule id", hint="Use words of a-z, 0-9 and _, joined by dots.")
    if (
        not _PACK_NAME_PATTERN.fullmatch(args.pack)
        or len(args.pack) > _MAX_NAME_LENGTH
        or args.pack.startswith("core.")
    ):
        raise BadRequest(
            f"{args.pack[:200]!r} is not a valid pack name",
            hint="Use words of a-z, 0-9, - and _, joined by dots; `core.` is reserved.",
        )
    (pack_path, pack_text), (path, text) = build_template_files(services, args.pack, args.id, args.agent)
    make_private_folder(os.path.dirname(path), keeps_mode=True)
    _write_new_file(pack_path, pack_text, may_exist=True)
    _write_new_file(path, text)
    return CreateRuleResult(path=path, pack=args.pack)


def _write_new_file(path: str, text: str, *, may_exist: bool = False) -> None:
    try:
        # O_EXCL: an existing rule is never overwritten, even if it is a symbolic link.
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    # The pack file is shared by all rules of the pack; only the rule itself must be new.
    except FileExistsError:
        if not may_exist:
            raise StateConflict(f"{path} already exists", hint="Edit it, or choose another id.") from None
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error


def render_text(result: CreateRuleResult, options: RenderOptions) -> str:
    return sanitize(f"wrote {result.path}; edit it, then run `visor rules lint` and `visor config reload`")


OP = Operation(
    name="rules_new",
    summary="Create a template for a rule of your own.",
    doc="""The rule is active once it is complete and `visor rules lint` reports no error. A rule with the id of a
built-in one replaces it. An existing file is never overwritten. A program needs approval.""",
    run=run,
    render_text=render_text,
    effect="local",
    list_changes=lambda _services, args: (WriteConfig(change="rule", name=args.id, value=args.pack),),
    exit_statuses=((75, "The file already exists."),),
    examples=(
        OperationExample("rules new deploy.rollout.stuck", "in your pack org.local"),
        OperationExample("rules new codex.usage.reached --agent codex", "replace a built-in rule"),
    ),
)
