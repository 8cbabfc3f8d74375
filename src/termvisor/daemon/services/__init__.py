"""The daemon's implementations of the services that `ops.api` declares; `services` puts them together."""
