from .accounts import Account, Credential
from .orders import BadRecord, OrderRevision, TrackingOrder
from .people import DataKey, Invitation, User
from .settings import CopySymbols, SettingsChange, SettingsVersion
from .sync import SyncJob, SyncRun
from .traders import Trader, TraderDay

__all__ = [
    "Account",
    "BadRecord",
    "CopySymbols",
    "Credential",
    "DataKey",
    "Invitation",
    "OrderRevision",
    "SettingsChange",
    "SettingsVersion",
    "SyncJob",
    "SyncRun",
    "TrackingOrder",
    "Trader",
    "TraderDay",
    "User",
]
