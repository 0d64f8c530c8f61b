"""Learning for the graph memory: what events say of entities, facts, procedures and preferences, as pure functions."""
