"""From hits to an order: one algorithm, one file, one citation."""
