"""The op `quit_agent`: an agent that rests leaves in its own way."""

from termvisor.model.action.action import QuitAgent as Action
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Wish
from termvisor.ops.input._agent_commands import EXITS, Spoken, exit_status, plain, spoken, wished
from termvisor.ops.input._preconditions import Guarded, PaneReference


class QuitAgent(Guarded, frozen=True, kw_only=True):
    """Who is to leave."""

    pane: PaneReference


async def wish(world: ActingWorld, wanted: QuitAgent) -> Wish:
    return await wished(world, wanted, wanted.pane, lambda found: Action(pane=found.pane.id, agent=found.agent))


async def run(world: ActingWorld, wanted: QuitAgent) -> Spoken:
    return await spoken(world, wanted, await wish(world, wanted))


OP = Op(
    name="quit_agent",
    aliases=("quit",),
    robot="quit",
    summary="Have an agent leave in its own way.",
    doc="""Its own keys for that are pressed, and only while it rests with an empty composer; it is done when its
process has ended. `details.why` of a refusal: `at_work` (interrupt it first), `dialog_open`, `composer_not_empty`. The
pane stays if a shell is under it. `visor resume` takes the conversation up again.""",
    Input=QuitAgent,
    Output=Spoken,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exit_status=exit_status,
    exits=EXITS,
    examples=(Example("quit 7", "it leaves, and its session can be resumed"), Example("robot quit 7", "as JSON")),
)
