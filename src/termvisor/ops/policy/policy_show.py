"""The op `policy_show`: the rules that are in force."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from termvisor.model.action.policy import Policy
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.render.action_text import masked
from termvisor.ops.render.text import Look, clean

NAME = "policy.toml"


class PolicyShow(Struct, frozen=True, kw_only=True):
    """How much of it."""

    changed: Annotated[bool, Meta(description="Only what differs from the defaults.")] = False


class PolicyInForce(Struct, frozen=True, kw_only=True):
    """``policy`` is null when the file is wrong and none was in force before: then nothing is allowed. ``trouble``
    says what is wrong with the file; the policy is then the one before it.
    """

    path: str
    policy: dict[str, Any] | None
    trouble: str


async def run(world: ActingWorld, wanted: PolicyShow) -> PolicyInForce:
    policy, trouble = world.door.ledger.policy()
    return PolicyInForce(
        path=f"{world.configuration[0].config_dir}/{NAME}",
        policy=None if policy is None else masked(_values(policy, changed=wanted.changed)),
        trouble=trouble,
    )


def _values(policy: Policy, *, changed: bool) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(policy)
    usual = msgspec.to_builtins(Policy())
    return {name: value for name, value in values.items() if not changed or value != usual[name]}


def plain(shown: PolicyInForce, look: Look) -> str:
    lines = [look.paint("dim", clean(f"# {shown.path}"))] if not look.is_quiet else []
    if shown.trouble:
        lines.append(look.paint("red", clean(f"# {shown.trouble}")))
    if shown.policy is None:
        lines.append(look.paint("red", "# No policy could be read: nothing is allowed."))
    for name, value in (shown.policy or {}).items():
        table = value if isinstance(value, dict) else {}
        lines += [_line(f"{name}.{inner}", held) for inner, held in table.items()] or [_line(name, value)]
    return "\n".join(lines)


def _line(name: str, value: Any) -> str:
    return clean(f"{name} = {'unset' if value is None else msgspec.json.encode(value).decode()}")


OP = Op(
    name="policy_show",
    summary="The rules in force: who may do what, where and when.",
    doc="""From `policy.toml` beside the config file, read again whenever it changes; without it the defaults hold. A
file that is wrong changes nothing: the policy before it stays in force, and this says what is wrong.""",
    Input=PolicyShow,
    Output=PolicyInForce,
    run=run,
    plain=plain,
    examples=(Example("policy show", "all of it"), Example("policy show --changed", "what you changed")),
)
