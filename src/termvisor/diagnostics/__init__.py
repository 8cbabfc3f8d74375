"""Installation checks, run by `visor doctor`."""
