"""A project's profile: what its files say of its languages, tools and commands."""
