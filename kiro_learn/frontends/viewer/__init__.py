"""The viewer: pages for a browser, which read the HTTP API and nothing else."""
