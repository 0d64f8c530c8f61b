"""Editing the configuration files of coding agents, as texts: our hooks are put in, found and taken out again."""
