"""Any agent that speaks the Agent Client Protocol, as a child process."""
