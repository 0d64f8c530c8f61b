"""The formats on the wire: bytes to messages and back, without I/O."""
