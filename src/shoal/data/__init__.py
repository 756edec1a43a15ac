"""Tables and specs: what is read, asked and stored."""
