"""Groups of settings, one module each; `termvisor.settings` combines them."""
