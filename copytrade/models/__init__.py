from .accounts import Account, Credential
from .alerts import Alert, AlertRule, QuietHours
from .audit import AuditEntry, DeskPolicy
from .orders import BadRecord, OrderRevision, TrackingOrder
from .people import DataKey, Erasure, Invitation, User
from .rollups import AccountDay, DayResult, PeriodDetail, PeriodSummary
from .settings import ChangeGroup, CopySymbols, SettingsChange, SettingsTemplate, SettingsVersion
from .sync import Chore, CoverageGap, DataIssue, SyncJob, SyncRun
from .traders import Trader, TraderDay, TraderNote

__all__ = [
    "Account",
    "AccountDay",
    "Alert",
    "AlertRule",
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
    "Erasure",
    "Invitation",
    "OrderRevision",
    "PeriodDetail",
    "PeriodSummary",
    "QuietHours",
    "SettingsChange",
    "SettingsTemplate",
    "SettingsVersion",
    "SyncJob",
    "SyncRun",
    "TrackingOrder",
    "Trader",
    "TraderDay",
    "TraderNote",
    "User",
]
