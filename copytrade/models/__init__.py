from .accounts import Account, Credential
from .alerts import Alert
from .audit import AuditEntry, DeskPolicy
from .orders import BadRecord, OrderRevision, TrackingOrder
from .people import DataKey, Invitation, User
from .settings import ChangeGroup, CopySymbols, SettingsChange, SettingsTemplate, SettingsVersion
from .sync import SyncJob, SyncRun
from .traders import Trader, TraderDay

__all__ = [
    "Account",
    "Alert",
    "AuditEntry",
    "BadRecord",
    "ChangeGroup",
    "CopySymbols",
    "Credential",
    "DataKey",
    "DeskPolicy",
    "Invitation",
    "OrderRevision",
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
