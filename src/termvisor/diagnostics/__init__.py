"""Checks of the installation, run by `visor doctor`."""
