# requires: python3-django python3-psycopg2
# deb: python3-django/trixie-backports python3-psycopg/trixie python3-typing-extensions/trixie
#
# Creates the application "shop" from the recipes, in a project of its own, and runs Django's own commands on it.
from report import report, report_snowflakes

import json
import os
import sys
import tempfile
import textwrap

import django
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import IntegrityError, OperationalError, connection, migrations, transaction
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

FIELDS = r'''
# docs/clients.md: Django
'''
ORDER = r'''
# docs/clients.md: Django
'''
ORDERS = r'''
# docs/clients.md: Django
'''
SNOWFLAKE = r'''
# docs/clients.md: Django
'''
INVOICE = r'''
# docs/clients.md: Django
'''
CONFIG = r'''
# docs/clients.md: Django
'''
CONVERSION = r'''
# docs/clients.md: Django
'''
INVOICES = r'''
# docs/clients.md: Django
'''
RECEIPT = r'''
# docs/clients.md: Django
'''
MORE_MODELS = '''
from django.contrib.postgres.fields import ArrayField

class Item(models.Model):
    id = UlidField(primary_key=True)
    order = models.ForeignKey(Order, models.CASCADE)
    replaces = UlidField(null=True, blank=True)
    related = ArrayField(UlidField(null=True), blank=True, default=list)

class Visit(models.Model):  # has the key of the application's configuration
    orders = models.ManyToManyField(Order)
'''
SERIAL_KEYS = '''
from django.db import migrations, models

class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel("Invoice", [
            ("id", models.AutoField(primary_key=True, serialize=False)), ("body", models.TextField())],
            {"db_table": "invoices"}),
        migrations.CreateModel("Payment", [
            ("id", models.AutoField(primary_key=True, serialize=False)),
            ("invoice", models.ForeignKey("shop.Invoice", models.CASCADE))], {"db_table": "payments"})]
'''

project = tempfile.TemporaryDirectory()
sys.path.insert(0, project.name)


def write(path, *parts):
    path = os.path.join(project.name, "shop", path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.writelines(map(textwrap.dedent, parts))


# Whether a model finds a new row, and can save it again. Deletes the row.
def works(model):
    row = model.objects.create(body="works")
    try:
        row.save()
        saved = True
    except IntegrityError:
        saved = False
    found = model.objects.filter(pk=row.pk).exists()
    row.delete()
    return found, saved


def migrate(name):
    call_command("migrate", "shop", name, verbosity=0)


def state_of(name):
    return MigrationLoader(connection).project_state(("shop", name))


# The operations that makemigrations writes for invoices and payments
def detected(state):
    loader = MigrationLoader(connection)
    changes = MigrationAutodetector(state, ProjectState.from_apps(apps)).changes(loader.graph)
    operations = [operation for migration in changes.get("shop", []) for operation in migration.operations]
    return [operation for operation in operations if getattr(operation, "model_name", "") in ("invoice", "payment")]


newer = django.VERSION >= (5, 0)
write("__init__.py")
write("fields.py", FIELDS, SNOWFLAKE)
write("models.py", ORDER, INVOICE, MORE_MODELS, "from django.db.models import Func\n" + RECEIPT if newer else "")
write("apps.py", CONFIG)
write("migrations/__init__.py")
write("migrations/0001_initial.py", SERIAL_KEYS)
write("migrations/0002_snowflakes.py", CONVERSION)
settings.configure(
    USE_TZ=True, INSTALLED_APPS=["shop"], DEFAULT_AUTO_FIELD="django.db.models.AutoField", ROOT_URLCONF="django_urls",
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"],
                           "OPTIONS": {"options": "-c statement_timeout=20s"}}})  # if the recipe lacks a lock timeout
django.setup()
from shop.fields import SnowflakeField
from shop.models import *

migrate("0001")
serial = state_of("0001_initial")
assert works(Invoice) == (True, True)
print("ok the new model works before the conversion")
with connection.cursor() as cursor:
    cursor.execute("SELECT seed_invoices()")

written = detected(serial)
assert [(type(operation), operation.model_name) for operation in written] == [
    (migrations.AlterField, "invoice"), (migrations.AlterField, "payment")]
unedited = migrations.Migration("0002_unedited", "shop")
unedited.operations = [migrations.AlterField(operation.model_name, operation.name, operation.field.clone())
                       for operation in written]
with transaction.atomic():
    with connection.schema_editor() as editor:
        unedited.apply(serial.clone(), editor)
    try:
        with transaction.atomic():
            result = "a key from the sequence" if Invoice.objects.create(body="hello").id < 100 else "a Snowflake"
    except IntegrityError:
        result = "no key"
    transaction.set_rollback(True)
assert result == ("a key from the sequence" if django.VERSION >= (4, 1) else "no key")
print("ok after the migration that makemigrations writes, a new row gets", result)

report_connection = connection.copy()
report_connection.set_autocommit(False)
report_connection.cursor().execute("SELECT count(*) FROM payments")
try:
    migrate("0002")
    raise AssertionError("no error")
except OperationalError as error:
    assert "canceling statement due to lock timeout" in str(error), error
assert works(serial.apps.get_model("shop", "Invoice")) == (True, True)
print("ok while a report reads a table, the lock timeout ends the conversion, and nothing is changed")
report_connection.close()
migrate("0002")
print("ok after the report, the conversion succeeds")

converted = state_of("0002_snowflakes")
assert detected(converted) == []
print("ok makemigrations finds no further changes")
try:
    migrate("0001")
    raise AssertionError("no error")
except IrreversibleError:
    print("ok the migration is irreversible")
assert Payment.objects.create(invoice=Invoice.objects.get(id=1)).id > 2**53
print("ok all models are converted")

call_command("makemigrations", "shop", name="others", verbosity=0)
migrate("0003")
call_command("makemigrations", "shop", check_changes=True, verbosity=0)
print("ok makemigrations creates the tables with ULIDs")
with connection.cursor() as cursor:
    cursor.execute("SELECT seed()")
exec(ORDERS)
report(django.__version__, id, order, many, recent, ids)
exec(INVOICES)
report_snowflakes(id, invoice, many, recent, document)

assert works(serial.apps.get_model("shop", "Invoice")) == (not newer, not newer)
assert works(converted.apps.get_model("shop", "Invoice")) == (True, True)
assert works(Invoice) == (True, True)
print("ok after the conversion, AutoField", "does not find new rows" if newer else "finds new rows, before Django 5.0")
if newer:
    assert works(Receipt) == (True, True)
    assert Receipt.objects.create(body="hello").id > 2**53
    print("ok a field has a default in the database")

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
write("fixtures/orders.json", json.dumps([
    {"model": "shop.order", "pk": ULID, "fields": {"body": "a fixture"}},
    {"model": "shop.order", "fields": {"body": "a fixture without an ID"}},
    {"model": "shop.item", "pk": ULID.lower(), "fields": {"order": ULID.lower(), "related": json.dumps([ULID, None])}},
    {"model": "shop.invoice", "pk": 1, "fields": {"body": "a fixture"}},
    {"model": "shop.visit", "pk": 1, "fields": {"orders": [ULID]}}]))
write("fixtures/malformed.json", json.dumps([{"model": "shop.order", "pk": "garbage", "fields": {"body": ""}}]))
connection.close()
call_command("test", "django_tests", interactive=False, verbosity=0)  # creates a database, as manage.py test does
print("ok Django creates a test database, in which django_tests.py passes")
