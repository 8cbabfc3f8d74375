"""The op `answer_dialog`: pick a choice of the dialog that an agent shows, by keys that fit exactly that dialog."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import AnswerDialog as Action
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Wish
from termvisor.ops.input._agent_commands import EXITS, Spoken, exit_status, plain, spoken, wished
from termvisor.ops.input._preconditions import Guarded, PaneReference


class AnswerDialog(Guarded, frozen=True, kw_only=True):
    """Which dialog, and what to pick."""

    pane: PaneReference
    choice: Annotated[
        str,
        Meta(
            description="`allow` (this once), `deny`, or the label of a choice, as it is shown.",
            extra={"positional": "rest"},
            min_length=1,
        ),
    ]


async def wish(world: ActingWorld, wanted: AnswerDialog) -> Wish:
    return await wished(
        world, wanted, wanted.pane, lambda found: Action(pane=found.pane.id, agent=found.agent, choice=wanted.choice)
    )


async def run(world: ActingWorld, wanted: AnswerDialog) -> Spoken:
    return await spoken(world, wanted, await wish(world, wanted))


OP = Op(
    name="answer_dialog",
    aliases=("answer",),
    robot="answer",
    summary="Answer the dialog that an agent shows in its pane.",
    doc="""For dialogs that nothing but the keyboard answers. A permission request stands in `visor inbox` as a rule,
and is answered there. What is judged, asked about and recorded is the very dialog that is shown; every key is pressed
only while its rows still stand on the screen, the choice that is pointed at among them, and the dialog must be seen to
go away. Never is Enter pressed on whatever happens to be marked. `details.why` of a refusal: `no_such_choice` (it is
not offered, or what the keys would do cannot be said surely), `dialog_changed` (another one is shown by now).""",
    Input=AnswerDialog,
    Output=Spoken,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exit_status=exit_status,
    exits=EXITS,
    examples=(
        Example("answer 7 allow", "yes, this once"),
        Example("answer 7 deny", "no"),
        Example("robot answer 7 SQLite", "the choice of this name, as JSON"),
    ),
)
