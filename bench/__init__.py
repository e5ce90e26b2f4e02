"""Measurements: `./run bench settings`. Each is told as a ratio to something bare, measured in the same run."""
