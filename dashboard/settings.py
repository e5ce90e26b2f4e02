"""Copydesk's settings: one file, everything from the environment. Bad configuration stops the start.

COPYDESK_ENV says where this runs: `production` (the default, and strict), `local` (./run) or `test`.
"""

from __future__ import annotations

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from . import environment as env
from .logs import logging_config

BASE_DIR = Path(__file__).resolve().parent.parent

ENVIRONMENT = env.choice("COPYDESK_ENV", "production", ("production", "local", "test"))
PRODUCTION = ENVIRONMENT == "production"
DEBUG = env.boolean("COPYDESK_DEBUG", False)
DEMO = env.boolean("COPYDESK_DEMO", False)
SECRET_KEY = env.text("SECRET_KEY")
# Older keys still verify sessions and signatures made with them.
SECRET_KEY_FALLBACKS = env.names("SECRET_KEY_FALLBACKS", "")
# Key-encryption keys, "id:base64 of 32 bytes", comma separated: the first encrypts, all decrypt. Never SECRET_KEY.
VAULT_KEYS = env.text("VAULT_KEYS")
env.check_vault_keys(VAULT_KEYS)
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", "" if PRODUCTION else "localhost,127.0.0.1")
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS", "")

if PRODUCTION:
    faults = env.production_faults(
        {
            "SECRET_KEY": SECRET_KEY,
            "SECRET_KEY_FALLBACKS": SECRET_KEY_FALLBACKS,
            "VAULT_KEYS": VAULT_KEYS,
            "DEBUG": DEBUG,
            "DEMO": DEMO,
            "ALLOWED_HOSTS": ALLOWED_HOSTS,
            "CSRF_TRUSTED_ORIGINS": CSRF_TRUSTED_ORIGINS,
        }
    )
    if faults:
        raise ImproperlyConfigured(
            "Copydesk does not start in production like this:\n- " + "\n- ".join(faults)
        )

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "csp",
    "django_htmx",
    "template_partials",
    "copytrade",
    # Before allauth, so that our templates of the same name are found first.
    "dashboard",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "dashboard.assets.AssetMiddleware",
    "dashboard.middleware.CompressionMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "dashboard.sessions.IdentityMiddleware",
    "dashboard.middleware.SignInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "dashboard.middleware.SessionsMiddleware",
    "dashboard.middleware.VisitMiddleware",
    "dashboard.middleware.PersonMiddleware",
    "dashboard.middleware.ExchangeErrorMiddleware",
]
AUTH_USER_MODEL = "copytrade.User"
ROOT_URLCONF = "dashboard.urls"
WSGI_APPLICATION = "dashboard.wsgi.application"
# What every page knows beside what its view tells.
CONTEXT_PROCESSORS = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
    "dashboard.context.desk",
]
TEMPLATES = [
    {
        "BACKEND": "dashboard.page_templates.Pages",
        "NAME": "django",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": CONTEXT_PROCESSORS,
            "builtins": ["dashboard.templatetags.desk"],
        },
    },
    # The pages that are asked for most, and the long parts of the others (dashboard/jinja.py says why).
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "NAME": "jinja2",
        "DIRS": [BASE_DIR / "templates" / "jinja2"],
        "OPTIONS": {
            "environment": "dashboard.jinja.environment",
            # Django's pages have csrf of themselves: one token for all forms of a page, where Jinja made one for each.
            "context_processors": ["django.template.context_processors.csrf", *CONTEXT_PROCESSORS],
        },
    },
]
DATABASES = {"default": env.database(env.text("DATABASE_URL"))}
REDIS_URL = env.text("REDIS_URL")
# allauth counts its rate limits here: they must be shared by all web processes.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "web",
    },
    # What a process only keeps to spare itself work (middleware.py): no page waits for Redis because of it.
    "process": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
}
# Fields as Django has them, by its own templates for Jinja, which take half the time or less.
FORM_RENDERER = "django.forms.renderers.Jinja2"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"

# --- files -----------------------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # Everywhere the same: joined, hashed and compressed in memory at the start, never collected into a folder.
    "staticfiles": {"BACKEND": "dashboard.assets.AssetStorage"},
}

# --- policy ----------------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "img-src": ["'self'", "data:"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
PERMISSIONS_POLICY: dict[str, list[str]] = {
    **{
        name: []
        for name in (
            "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media",
            "fullscreen", "geolocation", "gyroscope", "magnetometer", "microphone", "midi", "payment",
            "picture-in-picture", "screen-wake-lock", "usb", "xr-spatial-tracking",
        )
    },
    "publickey-credentials-create": ["self"],
    "publickey-credentials-get": ["self"],
}  # fmt: skip
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_ENGINE = "dashboard.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "__Host-session" if PRODUCTION else "copydesk-session"
CSRF_COOKIE_NAME = "__Host-csrf" if PRODUCTION else "copydesk-csrf"
SESSION_COOKIE_AGE = env.integer("SESSION_HOURS", 24 * 14, lowest=1) * 3600
SECURE_SSL_REDIRECT = PRODUCTION
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = env.integer("HSTS_SECONDS", 31_536_000 if PRODUCTION else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = env.boolean("HSTS_SUBDOMAINS", False)
# Only behind a proxy that sets these headers itself and drops those of visitors.
TRUSTED_PROXIES = env.integer("TRUSTED_PROXIES", 0)
ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXIES
if TRUSTED_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Per-symbol copy settings are ten fields for each symbol: Django's own limit of 1,000 would end at 90 symbols.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
DATA_UPLOAD_MAX_MEMORY_SIZE = 512 * 1024
CSRF_FAILURE_VIEW = "dashboard.views.failures.csrf"
# HSTS for subdomains is the operator's choice (HSTS_SUBDOMAINS): they may serve other things without TLS.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# --- people ----------------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "dashboard.sessions.PersonBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "overview"
ACCOUNT_ADAPTER = "dashboard.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True
ACCOUNT_SESSION_REMEMBER = True
# A new address of mail can reset the password: it asks for the password, as the second factor and keys do.
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 15 * 60
ACCOUNT_USERNAME_BLACKLIST = ["demo"]
ACCOUNT_RATE_LIMITS = {"signup": "20/m/ip", "login_failed": "10/m/ip,5/5m/key", "setup_token": "10/m/ip"}
ACCOUNT_FORMS = {
    "login": "dashboard.forms.people.SignInForm",
    "signup": "dashboard.forms.people.SignUpForm",
    "reauthenticate": "dashboard.forms.people.AgainForm",
}
MFA_FORMS = {"add_webauthn": "dashboard.forms.people.PasskeyForm"}
MFA_ADAPTER = "dashboard.adapters.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_ISSUER = "Copydesk"
MFA_TOTP_TOLERANCE = 1
# Browsers hand passkeys to http://localhost; only there may the origin be without TLS.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not PRODUCTION
USERSESSIONS_TRACK_ACTIVITY = True
USERSESSIONS_ADAPTER = "dashboard.sign_ins.UserSessionsAdapter"
# Before settings are sent, a proof of who sits here must not be older than this (dashboard/stepup.py).
SEND_PROOF_SECONDS = env.integer("SEND_PROOF_SECONDS", 600, lowest=30)
# Who brings this as a bearer token may read /metrics; without one only the signed-in operator may.
METRICS_TOKEN = env.token("METRICS_TOKEN")

EMAIL_HOST = env.text("EMAIL_HOST", "")
EMAIL_PORT = env.integer("EMAIL_PORT", 587)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.boolean("EMAIL_USE_TLS", True)
EMAIL_TIMEOUT = 10
# What links in mail begin with: a task that writes one has no request to take it from.
SITE_URL = env.text(
    "SITE_URL", f"https://{ALLOWED_HOSTS[0]}" if PRODUCTION else "http://127.0.0.1:8000"
).rstrip("/")
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "copydesk@localhost")
# Without a mail server nothing is sent, and the pages say so; the desk itself needs none.
EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if EMAIL_HOST
    else f"django.core.mail.backends.{'dummy' if PRODUCTION else 'console'}.EmailBackend"
)

# Hosts of the operator's own network that webhooks may be sent to, by http too: "host:port", comma separated. All
# other private addresses are refused (copytrade/notices/posting.py).
WEBHOOK_INSIDE = frozenset(env.names("WEBHOOK_INSIDE", ""))

# --- exchanges -------------------------------------------------------------------------------------------
# The exchanges a connection may point to. Users choose a key of this table; they can never enter an address.
SANDBOX_URL = env.exchange_root("SANDBOX_URL", "http://127.0.0.1:9100")
VENUES = {
    "sandbox": {
        "label": "Sandbox exchange",
        "spot": SANDBOX_URL,
        "contract": SANDBOX_URL,
        "writes_by_default": True,
    },
    "weex": {
        "label": "WEEX",
        "spot": env.exchange_root("WEEX_SPOT_URL", "https://api-spot.weex.com"),
        "contract": env.exchange_root("WEEX_CONTRACT_URL", "https://api-contract.weex.com"),
        "writes_by_default": False,
    },
}
if PRODUCTION and not env.boolean("COPYDESK_SANDBOX", False):
    del VENUES["sandbox"]
# The addresses that calls leave from, by name; accounts are spread over them (copytrade/egress.py).
EGRESS = env.egress("COPYDESK_EGRESS")
# Seconds for one call, waiting included; and after how many a silent worker's job is given to another.
EXCHANGE_DEADLINE = env.integer("EXCHANGE_DEADLINE", 20, lowest=1)
# The longest time between two readings of an open list; 575 keeps lists under 600 s.
SYNC_OPEN_CAP_SECONDS = env.integer("SYNC_OPEN_CAP_SECONDS", 575, lowest=30)
SYNC_LEASE_SECONDS = env.integer("SYNC_LEASE_SECONDS", 60, lowest=2)

LOGGING = logging_config(
    json_lines=env.choice("LOG_FORMAT", "json" if PRODUCTION else "console", ("json", "console")) == "json",
    level=env.choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
)
LOGGING_CONFIG = "dashboard.logs.configure"
