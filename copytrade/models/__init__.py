from .accounts import Account, Credential
from .alerts import Alert
from .audit import AuditEntry, DeskPolicy
from .orders import BadRecord, OrderRevision, TrackingOrder
from .people import DataKey, Invitation, User
from .rollups import DayResult, PeriodSummary
from .settings import ChangeGroup, CopySymbols, SettingsChange, SettingsTemplate, SettingsVersion
from .sync import Chore, CoverageGap, DataIssue, SyncJob, SyncRun
from .traders import Trader, TraderDay

__all__ = [
    "Account",
    "Alert",
    "AuditEntry",
    "BadRecord",
    "ChangeGroup",
    "Chore",
    "CopySymbols",
    "CoverageGap",
    "Credential",
    "DataIssue",
    "DataKey",
    "DayResult",
    "DeskPolicy",
    "Invitation",
    "OrderRevision",
    "PeriodSummary",
    "SettingsChange",
    "SettingsTemplate",
    "SettingsVersion",
    "SyncJob",
    "SyncRun",
    "TrackingOrder",
    "Trader",
    "TraderDay",
    "User",
]
