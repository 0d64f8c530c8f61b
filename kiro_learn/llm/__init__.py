"""One prompt in, one text out."""
