"""The operation `policy_show`: show the active policy."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from termvisor.model.action.policy import Policy
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact_values


class PolicyShowArgs(Struct, frozen=True, kw_only=True):
    """Choose the values to show."""

    changed: Annotated[bool, Meta(description="Only values that differ from the defaults.")] = False


class PolicyShowResult(Struct, frozen=True, kw_only=True):
    """``policy`` is null if the file is invalid and no policy was active before: then nothing is allowed. ``trouble``
    is the error in the file; the policy is then the previous one.
    """

    path: str
    policy: dict[str, Any] | None
    trouble: str


async def run(services: Services, args: PolicyShowArgs) -> PolicyShowResult:
    policy, problem = services.gate.audit.load_policy()
    return PolicyShowResult(
        path=services.paths.policy_file,
        policy=None if policy is None else redact_values(_collect_values(policy, only_changed=args.changed)),
        trouble=problem,
    )


def _collect_values(policy: Policy, *, only_changed: bool) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(policy)
    defaults = msgspec.to_builtins(Policy())
    return {name: value for name, value in values.items() if not only_changed or value != defaults[name]}


def render_text(result: PolicyShowResult, options: RenderOptions) -> str:
    lines = [options.paint("dim", sanitize(f"# {result.path}"))] if not options.is_quiet else []
    if result.trouble:
        lines.append(options.paint("red", sanitize(f"# {result.trouble}")))
    if result.policy is None:
        lines.append(options.paint("red", "# No valid policy: nothing is allowed."))
    for name, value in (result.policy or {}).items():
        # An empty table is shown as a value, so that no key disappears.
        table = value if isinstance(value, dict) else {}
        lines += [_format_line(f"{name}.{key}", inner) for key, inner in table.items()] or [_format_line(name, value)]
    return "\n".join(lines)


def _format_line(name: str, value: Any) -> str:
    return sanitize(f"{name} = {'unset' if value is None else msgspec.json.encode(value).decode()}")


OP = Operation(
    name="policy_show",
    summary="Show the active policy: which callers may do what, where and when.",
    doc="""The policy is read from `policy.toml` in the config directory, and again whenever it changes; without it the
defaults apply. With an invalid file the previous policy stays active, but allows nothing without approval until the
file is valid again.""",
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("policy show", "all values"),
        OperationExample("policy show --changed", "values that differ from the defaults"),
    ),
)
