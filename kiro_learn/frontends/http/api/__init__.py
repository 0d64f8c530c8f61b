"""The routes of the search guide: what programs ask that know a project by its name."""
