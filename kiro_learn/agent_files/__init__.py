"""The configuration files of coding agents as texts: where our hooks stand in them, put in and taken out again."""
