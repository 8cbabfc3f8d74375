"""The op `interrupt`: an agent stops what it is at, and stays."""

from termvisor.model.action.action import Interrupt as Action
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Wish
from termvisor.ops.input._agent_commands import EXITS, Spoken, exit_status, plain, spoken, wished
from termvisor.ops.input._preconditions import Guarded, PaneReference


class Interrupt(Guarded, frozen=True, kw_only=True):
    """Whom to interrupt."""

    pane: PaneReference


async def wish(world: ActingWorld, wanted: Interrupt) -> Wish:
    return await wished(world, wanted, wanted.pane, lambda found: Action(pane=found.pane.id, agent=found.agent))


async def run(world: ActingWorld, wanted: Interrupt) -> Spoken:
    return await spoken(world, wanted, await wish(world, wanted))


OP = Op(
    name="interrupt",
    robot="interrupt",
    summary="Have an agent stop what it is doing.",
    doc="""By the agent's own server where it has one (Codex, opencode); else its own key is pressed, and only while
its screen shows that it works: at rest the same key would do something else. It is done when the agent was seen to
stop. `details.why` is `not_at_work` where there is nothing to interrupt. For other programs there is `visor kill`.""",
    Input=Interrupt,
    Output=Spoken,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exit_status=exit_status,
    exits=EXITS,
    examples=(
        Example("interrupt 7", "stop its turn"),
        Example("robot interrupt 7 --dry-run", "what would be said of it"),
    ),
)
