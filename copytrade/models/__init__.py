from .accounts import Account, Credential
from .affiliate import AffiliateReport, AffiliateRow, AffiliateStanding
from .alerts import Alert, AlertRule, QuietHours
from .audit import AuditEntry, DeskPolicy
from .notices import Channel, Delivery, Digest, DigestPlan
from .orders import BadRecord, OrderRevision, TrackingOrder
from .own import AccountFacts, Balance, BalanceDay, Bill, LeadOrder
from .people import DataKey, Erasure, Invitation, User
from .rollups import AccountDay, DayResult, PeriodDetail, PeriodSummary, TraderResult
from .settings import ChangeGroup, CopySymbols, SettingsChange, SettingsTemplate, SettingsVersion
from .spot import SpotOrder, SpotTicket
from .sync import COPY_KINDS, OWN_KINDS, Chore, CoverageGap, DataIssue, SyncJob, SyncRun
from .traders import Trader, TraderDay, TraderNote

__all__ = [
    "COPY_KINDS",
    "OWN_KINDS",
    "Account",
    "AccountDay",
    "AccountFacts",
    "AffiliateReport",
    "AffiliateRow",
    "AffiliateStanding",
    "Alert",
    "AlertRule",
    "AuditEntry",
    "BadRecord",
    "Balance",
    "BalanceDay",
    "Bill",
    "ChangeGroup",
    "Channel",
    "Chore",
    "CopySymbols",
    "CoverageGap",
    "Credential",
    "DataIssue",
    "DataKey",
    "DayResult",
    "Delivery",
    "DeskPolicy",
    "Digest",
    "DigestPlan",
    "Erasure",
    "Invitation",
    "LeadOrder",
    "OrderRevision",
    "PeriodDetail",
    "PeriodSummary",
    "QuietHours",
    "SettingsChange",
    "SettingsTemplate",
    "SettingsVersion",
    "SpotOrder",
    "SpotTicket",
    "SyncJob",
    "SyncRun",
    "TrackingOrder",
    "Trader",
    "TraderDay",
    "TraderNote",
    "TraderResult",
    "User",
]
