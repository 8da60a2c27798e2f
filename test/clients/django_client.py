# requires: python3-django python3-psycopg2
# deb: python3-django/trixie-backports python3-psycopg/trixie python3-typing-extensions/trixie
from report import report, report_snowflakes

import os

import django
from django.conf import settings
from django.db import IntegrityError, connection
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
# docs/clients.md: Django
class Initial(migrations.Migration):
    operations = [migrations.CreateModel("Invoice", [
        ("id", models.AutoField(primary_key=True)), ("body", models.TextField())], {"db_table": "invoices"})]


with connection.schema_editor() as editor:
    serial = Initial("0001_initial", "shop").apply(ProjectState(), editor)
assert works(Invoice) == (True, True)
print("ok the new model works before the conversion")
execute("SELECT seed_invoices()")
with connection.schema_editor() as editor:
    converted = Migration("0002_snowflake", "shop").apply(serial.clone(), editor)

# docs/clients.md: Django
report_snowflakes(id, invoice, many, recent, document)


silent = django.VERSION >= (5, 0)
assert works(serial.apps.get_model("shop", "Invoice")) == (not silent, not silent)
assert works(converted.apps.get_model("shop", "Invoice")) == (True, True)
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
