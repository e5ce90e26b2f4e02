"""Behind ./run: the supervisor, the embedded database and broker, the checks. Imports nothing of ours but itself.

Standard library only, since some of it runs before anything else is installed.
"""
