"""The server's side of the Model Context Protocol, without I/O: messages in, messages and requests to services out."""
