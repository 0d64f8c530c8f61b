"""Any server that speaks OpenAI's chat completions."""
