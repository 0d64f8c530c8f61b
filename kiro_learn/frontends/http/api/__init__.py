"""The routes of the search guide, for programs that know a project by its name."""
