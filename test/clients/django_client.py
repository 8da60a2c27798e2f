# requires: python3-django python3-psycopg2
# deb: python3-django/trixie-backports python3-psycopg/trixie python3-typing-extensions/trixie
from report import report, report_snowflakes

import os
import sys
import types

import django
from django.apps import apps
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.graph import MigrationGraph
from django.db.migrations.state import ProjectState

settings.configure(USE_TZ=True, INSTALLED_APPS=["__main__"], DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}})
django.setup()


def execute(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


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


# docs/clients.md: Django
with connection.schema_editor() as editor:
    editor.create_model(Order)
execute("SELECT seed()")

# docs/clients.md: Django
report(django.__version__, id, order, many, recent, ids)


# docs/clients.md: Django
sys.modules["shop"] = types.ModuleType("shop")
sys.modules["shop.fields"] = types.ModuleType("shop.fields")
sys.modules["shop.fields"].SnowflakeField = SnowflakeField
del SnowflakeField
# docs/clients.md: Django
class Initial(migrations.Migration):
    operations = [
        migrations.CreateModel("Invoice", [
            ("id", models.AutoField(primary_key=True, serialize=False)), ("body", models.TextField())],
            {"db_table": "invoices"}),
        migrations.CreateModel("Payment", [
            ("id", models.AutoField(primary_key=True, serialize=False)),
            ("invoice", models.ForeignKey("__main__.Invoice", models.CASCADE))], {"db_table": "payments"})]


# The operations that makemigrations writes for the models of the migrations
def detected(state):
    graph = MigrationGraph()
    graph.add_node(("__main__", "0001_initial"), None)
    changes = MigrationAutodetector(state, ProjectState.from_apps(apps)).changes(graph)
    operations = [operation for migration in changes.get("__main__", []) for operation in migration.operations]
    return [operation for operation in operations if getattr(operation, "name", "") != "Order"]


with connection.schema_editor() as editor:
    serial = Initial("0001_initial", "__main__").apply(ProjectState(), editor)
assert works(Invoice) == (True, True)
print("ok the new model works before the conversion")
execute("SELECT seed_invoices()")

written = detected(serial)
assert [(type(operation), operation.model_name) for operation in written] == [
    (migrations.AlterField, "invoice"), (migrations.AlterField, "payment")]
unedited = Migration("0002_unedited", "__main__")
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

with connection.schema_editor() as editor:
    converted = Migration("0002_snowflake", "__main__").apply(serial.clone(), editor)

assert detected(converted) == []
print("ok makemigrations finds no further changes")
try:
    Migration("0002_snowflake", "__main__").unapply(serial.clone(), None)
    raise AssertionError("no error")
except IrreversibleError:
    print("ok the migration is irreversible")
assert Payment.objects.create(invoice=Invoice.objects.get(id=1)).id > 2**53
print("ok all models are converted")

# docs/clients.md: Django
report_snowflakes(id, invoice, many, recent, document)


silent = django.VERSION >= (5, 0)
assert works(serial.apps.get_model("__main__", "Invoice")) == (not silent, not silent)
assert works(converted.apps.get_model("__main__", "Invoice")) == (True, True)
assert works(Invoice) == (True, True)
print("ok after the conversion, AutoField", "does not find new rows" if silent else "finds new rows, before Django 5.0")

RECEIPT = """
# docs/clients.md: Django
"""
if django.VERSION >= (5, 0):
    exec(RECEIPT)
    with connection.schema_editor() as editor:
        editor.create_model(Receipt)
    assert works(Receipt) == (True, True)
    assert Receipt.objects.create(body="hello").id > 2**53
    print("ok a field has a default in the database")
