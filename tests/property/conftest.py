"""No deadline for single examples: it would tell more of a busy machine than of the code."""

from hypothesis import settings

settings.register_profile("calm", deadline=None)
settings.load_profile("calm")
