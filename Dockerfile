# Two images from one file:
#   docker build --target web    -t touchstone-web .      web server and lexical metrics
#   docker build --target worker -t touchstone-worker .   the same with torch, for neural metrics
FROM python:3.11-slim AS web
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 TOUCHSTONE_VAR=/var/lib/touchstone \
    TOUCHSTONE_STATIC=/srv/touchstone/staticfiles
RUN useradd --system --create-home touchstone && install -d -o touchstone /var/lib/touchstone
# Pango and fonts of every script, for reports as PDF; pg_dump for `touchstone backup`
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends libpango-1.0-0 \
    postgresql-client libpangoft2-1.0-0 libharfbuzz-subset0 fonts-noto-core fonts-noto-cjk \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/touchstone
COPY requirements requirements
RUN pip install --no-cache-dir -r requirements/web.txt
COPY . .
RUN SECRET_KEY=build TOUCHSTONE_VAR=/tmp/build python manage.py collectstatic --noinput -v0
USER touchstone
VOLUME /var/lib/touchstone
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import os; from urllib.request import Request, urlopen; host = os.environ.get('ALLOWED_HOSTS', 'localhost').split(',')[0]; urlopen(Request('http://localhost:8000/healthz', headers={'Host': host}))"]
CMD ["python", "-m", "touchstone", "serve", "--host", "0.0.0.0"]

FROM web AS worker
USER root
RUN pip install --no-cache-dir torch==2.13.0 -c requirements/constraints.txt \
 && pip install --no-cache-dir -r requirements.txt
USER touchstone
ENV HF_HUB_OFFLINE=1
HEALTHCHECK NONE
CMD ["python", "-m", "touchstone", "worker"]
