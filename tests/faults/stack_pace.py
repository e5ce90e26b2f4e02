"""How often the stack of the reading battery reads. Apart from its settings, which a test must never import: they
change what the whole process holds."""

# Seconds between two readings of a kind.
SECONDS = {"open": 1.0, "history": 1.5, "traders": 3.0, "settings": 8.0}
