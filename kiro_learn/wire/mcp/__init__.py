"""The Model Context Protocol, a server's side, without any I/O: messages in, messages and requests to services out."""
