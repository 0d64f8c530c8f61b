"""The learner that needs no model: it selects from the turns' own words, and writes none itself."""
