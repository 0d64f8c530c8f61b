"""The learner that needs no model: it picks from what was said, and words nothing itself."""
