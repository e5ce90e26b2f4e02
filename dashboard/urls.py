"""Every address of the desk. A name of a page is also the name of its view, its templates and its tests."""

from django.urls import include, path

from .views import (
    account,
    activity,
    affiliate,
    alert_rules,
    alerts,
    audit,
    bills,
    changes,
    channels,
    compare,
    connections,
    copy_settings,
    exports,
    failures,
    first_reading,
    history,
    issues,
    lead,
    leaving,
    look,
    metrics,
    orders,
    overview,
    people,
    presets,
    security,
    spot,
    spot_tickets,
    timeline,
    trader,
    traders,
)

copying = [
    path("", overview.overview, name="overview"),
    path("traders/", traders.traders, name="traders"),
    path("traders/compare/", compare.compare, name="compare"),
    path("traders/export.<slug:form>", exports.traders, name="traders_export"),
    path("traders/<int:pk>/", trader.trader, name="trader"),
    path("traders/<int:pk>/notes/", trader.note_add, name="trader_note_add"),
    path("traders/<int:pk>/notes/<int:note>/", trader.note_edit, name="trader_note_edit"),
    path("traders/<int:pk>/notes/<int:note>/delete/", trader.note_delete, name="trader_note_delete"),
    path("traders/<int:pk>/base/", trader.capital, name="trader_capital"),
    path("traders/<int:pk>/export/<slug:what>.<slug:form>", exports.trader, name="trader_export"),
    path("traders/<int:pk>/settings/", copy_settings.copy_settings, name="copy_settings"),
    path("traders/<int:pk>/settings/check/", copy_settings.check, name="copy_settings_check"),
    path("traders/<int:pk>/settings/review/", copy_settings.review, name="copy_settings_review"),
    path("traders/<int:pk>/settings/timeline/", timeline.timeline, name="copy_settings_timeline"),
    path("traders/<int:pk>/settings/restore/<int:version>/", timeline.restore, name="copy_settings_restore"),
    path("traders/<int:pk>/settings/change/<uuid:key>/", changes.change, name="copy_settings_change"),
    path(
        "traders/<int:pk>/settings/change/<uuid:key>/resolve/", changes.resolve, name="copy_settings_resolve"
    ),
    path("traders/<int:pk>/settings/change/<uuid:key>/again/", changes.again, name="copy_settings_again"),
    path("orders/open/", orders.open_orders, name="open_orders"),
    path("orders/<int:pk>/", orders.order, name="order"),
    path("first-reading/", first_reading.first_reading, name="first_reading"),
    path("orders/history/", history.history, name="history"),
    path("orders/history/export.<slug:form>", exports.history, name="history_export"),
    path("orders/open/export.<slug:form>", exports.open_orders, name="open_orders_export"),
]

templates = [
    path("templates/", presets.templates, name="templates"),
    path("templates/save/", presets.save, name="template_save"),
    path("templates/apply/", presets.apply, name="template_apply"),
    path("templates/import/", presets.import_file, name="template_import"),
    path("templates/changes/<uuid:key>/", presets.change_group, name="change_group"),
    path("templates/traders/<int:pk>/export/", presets.export_trader, name="settings_export"),
    path("templates/<int:pk>/", presets.template, name="template"),
    path("templates/<int:pk>/rename/", presets.rename, name="template_rename"),
    path("templates/<int:pk>/delete/", presets.delete, name="template_delete"),
    path("templates/<int:pk>/export/", presets.export, name="template_export"),
]

desk = [
    path("connections/", connections.connections, name="connections"),
    path("connections/add/", connections.add, name="connection_add"),
    path("connections/<int:pk>/", connections.connection, name="connection"),
    path("connections/<int:pk>/test/", connections.test, name="connection_test"),
    path("connections/<int:pk>/rotate/", connections.rotate, name="connection_rotate"),
    path("connections/<int:pk>/writes/", connections.writes, name="connection_writes"),
    path("connections/<int:pk>/remove/", connections.remove, name="connection_remove"),
    path("activity/", activity.activity, name="activity"),
    path("activity/retry/<int:pk>/", activity.retry, name="reading_retry"),
    path("issues/", issues.issues, name="issues"),
    path("issues/<int:pk>/retry/", issues.retry, name="issue_retry"),
    path("issues/<int:pk>/dismiss/", issues.dismiss, name="issue_dismiss"),
    path("alerts/", alerts.alerts, name="alerts"),
    path("alerts/read/", alerts.read_all, name="alerts_read"),
    path("alerts/<int:pk>/", alerts.alert, name="alert"),
    path("alerts/<int:pk>/read/", alerts.read, name="alert_read"),
    path("alerts/rules/", alert_rules.alert_rules, name="alert_rules"),
    path("alerts/rules/traders/", alert_rules.override, name="alert_override"),
    path("alerts/rules/traders/<int:pk>/remove/", alert_rules.drop, name="alert_override_remove"),
    path("alerts/rules/quiet/", alert_rules.quiet, name="quiet_hours"),
    path("security/audit/", audit.audit, name="audit"),
    path("security/audit/export.<slug:form>", audit.export, name="audit_export"),
    path("security/sending/", audit.policy, name="sending_policy"),
    path("security/", security.security, name="security"),
    path("security/delete/", leaving.delete_everything, name="delete_everything"),
    path("security/zone/", security.zone, name="zone"),
    path("security/invitations/", security.invitations, name="invitations"),
    path("security/invitations/<int:pk>/withdraw/", security.withdraw, name="invitation_withdraw"),
    path("help/keys/", look.keys, name="keys"),
    path("look/", look.look, name="look"),
]

own = [
    path("account/", account.first, name="my_account"),
    path("account/bills/", account.first, {"to": "bills"}, name="my_bills"),
    path(
        "account/funding-bills/",
        account.first,
        {"to": "bills", "query": "?wallet=funding"},
        name="my_funding_bills",
    ),
    path("account/<int:pk>/", account.account, name="exchange_account"),
    path("account/<int:pk>/balances/export.<slug:form>", account.export, name="balances_export"),
    path("account/<int:pk>/bills/", bills.bills, name="bills"),
    path("account/<int:pk>/bills/export.<slug:form>", bills.export, name="bills_export"),
    path("lead/", account.first, {"to": "lead"}, name="my_lead"),
    path("lead/<int:pk>/", lead.lead, name="lead"),
    path("lead/<int:pk>/export.<slug:form>", lead.export, name="lead_export"),
]

affiliates = [
    path("affiliate/", affiliate.affiliate, name="affiliate"),
    path("affiliate/<int:pk>/standing/", affiliate.standing, name="affiliate_standing"),
    path("affiliate/<int:pk>/<slug:kind>/", affiliate.reports, name="affiliate_reports"),
    path("affiliate/<int:pk>/<slug:kind>/ask/", affiliate.ask, name="affiliate_ask"),
    path("affiliate/<int:pk>/<slug:kind>/export.<slug:form>", affiliate.export, name="affiliate_export"),
]

spot_orders = [
    path("spot/", spot.spot, name="spot"),
    path("spot/<int:pk>/", spot.ticket_form, name="spot_account"),
    path("spot/<int:pk>/batch/", spot.batch, name="spot_batch"),
    path("spot/<int:pk>/check/", spot.check, name="spot_check"),
    path("spot/<int:pk>/look-up/", spot.look_up, name="spot_look_up"),
    path("spot/<int:pk>/tickets/<uuid:key>/", spot_tickets.ticket, name="spot_ticket"),
    path("spot/<int:pk>/tickets/<uuid:key>/again/", spot_tickets.again, name="spot_again"),
    path("connections/<int:pk>/spot/", spot_tickets.account_switch, name="connection_spot"),
    path("security/spot/", spot_tickets.desk_switch, name="spot_policy"),
]

entrance = [
    path("demo/", people.demo, name="demo"),
    path("setup/", people.setup, name="setup"),
    path("join/<str:token>/", people.join, name="join"),
    path("gone/<uuid:key>/", leaving.gone, name="gone"),
    path("healthz", failures.healthz, name="healthz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/sessions/", include("allauth.usersessions.urls")),
]

telling = [
    path("alerts/channels/", channels.channels, name="channels"),
    path("alerts/channels/add/<slug:kind>/", channels.add, name="channel_add"),
    path("alerts/channels/<int:pk>/", channels.channel, name="channel"),
    path("alerts/channels/<int:pk>/test/", channels.test, name="channel_test"),
    path("alerts/channels/<int:pk>/switch/", channels.switch, name="channel_switch"),
    path("alerts/channels/<int:pk>/secret/", channels.secret, name="channel_secret"),
    path("alerts/channels/<int:pk>/remove/", channels.remove, name="channel_remove"),
    path("alerts/digest/", channels.digest, name="digest_plan"),
]

urlpatterns = telling + copying + templates + desk + own + affiliates + spot_orders + entrance

handler400 = "dashboard.views.failures.bad_request"
handler403 = "dashboard.views.failures.forbidden"
handler404 = "dashboard.views.failures.not_found"
handler500 = "dashboard.views.failures.broken"
