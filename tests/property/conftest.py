"""No deadline for single examples: it would tell more of a busy machine than of the code. `FUZZ` looks longer."""

from hypothesis import settings

from tests.fuzz.effort import TIMES

settings.register_profile("calm", deadline=None, max_examples=100 * TIMES)
settings.load_profile("calm")
