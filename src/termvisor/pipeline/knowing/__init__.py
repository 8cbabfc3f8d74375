"""How evidence becomes what is known of agents:

    processes ─► Recognition ─┐ who is there
    files, hooks, servers ────┤
    marks of the stream ──────┼─► Hearing ─► facts ─► Knowing ─► Store ─► news, events
    looks ────────────────────┘  adapters             one writer: fold, project, one transaction

What comes in is read by adapters (`agents/`), which only answer with values. What goes out was stored before.
"""

from termvisor.pipeline.knowing.afar import Afar
from termvisor.pipeline.knowing.circle import Circle
from termvisor.pipeline.knowing.gaze import Gaze
from termvisor.pipeline.knowing.hearing import Hearing
from termvisor.pipeline.knowing.knowing import Knowing
from termvisor.pipeline.knowing.printing import Printing
from termvisor.pipeline.knowing.recognition import Recognition
from termvisor.pipeline.knowing.standing import Standing
from termvisor.pipeline.knowing.turn import Terms

__all__ = ["Afar", "Circle", "Gaze", "Hearing", "Knowing", "Printing", "Recognition", "Standing", "Terms"]
