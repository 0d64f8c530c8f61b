"""The names that records carry of the learner that made them."""

from __future__ import annotations

MODEL_STRATEGY = "llm-summary"
"""What records that a model worded carry, whichever model it was; the original kiro-learn's name."""

BUILT_IN_STRATEGY = "extractive"
"""What records of the built-in learner carry."""
