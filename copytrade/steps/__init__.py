"""The steps of reading an exchange, pure: no database, no network, no clock of their own.

The shell (ledger/, sync/) asks them what to do and stores what they say; the simulation plays the very same.
"""
