"""Spot orders: off until two switches are on, reviewed, sent at most once, and looked up by our own id.

    DRAFT -> CONFIRMED -> SENDING -> ACCEPTED | REJECTED | UNKNOWN -> ACCEPTED | NOT_SEEN

gates.py says whether orders may be placed, tickets.py drafts, confirms and repeats, sending.py sends,
lookups.py finds out what became of them. A page never sends: it confirms, and a worker is woken.
"""
