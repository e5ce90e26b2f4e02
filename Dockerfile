# Copydesk for production: one image for web, worker and tick (docker-compose.yml says which). No development tools, no
# embedded servers, no sandbox.

FROM python:3.11-slim AS packages
COPY requirements/production.txt /tmp/production.txt
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --no-deps --require-hashes --requirement /tmp/production.txt

FROM python:3.11-slim
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=dashboard.settings \
    COPYDESK_ENV=production
RUN useradd --system --uid 10001 --no-create-home --home-dir /tmp copydesk
WORKDIR /app
COPY --from=packages /venv /venv
COPY manage.py ./
COPY copytrade copytrade
COPY dashboard dashboard
COPY templates templates
COPY static static
USER copydesk
EXPOSE 8000
CMD ["python", "-m", "granian", "--interface=wsgi", "--host=0.0.0.0", "--port=8000", "--workers=2", \
     "--blocking-threads=4", "--no-ws", "--respawn-failed-workers", "dashboard.wsgi:application"]
