# requires: python3-django python3-psycopg2
from report import report

import os

import django
from django.conf import settings
from django.db import connection

settings.configure(USE_TZ=True, INSTALLED_APPS=["__main__"], DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}})
django.setup()

# docs/clients.md: Django
with connection.schema_editor() as editor:
    editor.create_model(Order)
with connection.cursor() as cursor:
    cursor.execute("SELECT seed()")

# docs/clients.md: Django
report(django.__version__, id, order, many, recent, ids)
