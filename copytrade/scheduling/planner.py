"""The planner."""


def replan() -> int:
    return 0
