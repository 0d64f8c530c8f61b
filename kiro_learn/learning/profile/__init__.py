"""A project's profile: its languages, tools and commands, as its files show them."""
