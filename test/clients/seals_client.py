# requires: python3-sqlalchemy python3-psycopg2 python3-django
# The models of docs/sealed-ids.md, which have the sealed ID as a computed property
import uuid

import psycopg2
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

connection = psycopg2.connect("")
connection.autocommit = True
cursor = connection.cursor()
cursor.execute("""
    CREATE EXTENSION IF NOT EXISTS snowdrift; SELECT snowdrift.create_seal('orders');
    CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text);
    INSERT INTO orders (body) VALUES ('hello');
    SELECT id, snowflake_seal(id, 'orders') FROM orders""")
id, sealed = cursor.fetchone()
other = str(uuid.uuid4())

# docs/sealed-ids.md: ORMs
session = Session(create_engine("postgresql+psycopg2://"))
for value in sealed, uuid.UUID(sealed):
    order = session.scalars(with_sealed(str(value))).one()
    assert (order.id, order.body, str(order.sealed)) == (id, "hello", sealed), order
assert session.scalars(with_sealed(other)).all() == []
created = Order(body="new")
session.add(created)
session.commit()
assert session.scalars(with_sealed(str(created.sealed))).one() is created
print("ok SQLAlchemy reads the sealed ID of a row, and the row of a sealed ID")

import django
from django.conf import settings

settings.configure(INSTALLED_APPS=["__main__"], DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": cursor.connection.info.dbname,
                                                            "HOST": cursor.connection.info.host, "PORT": cursor.connection.info.port}})
django.setup()

# docs/clients.md has this field; django_client.py tests it.
import sys
import types

from django.db import models

fields = sys.modules["shop.fields"] = types.ModuleType("shop.fields")
fields.SnowflakeField = type("SnowflakeField", (models.BigAutoField,), {"db_type": lambda self, connection: "bigint", "__module__": "shop.fields"})
sys.modules["shop"] = types.ModuleType("shop")

# docs/sealed-ids.md: ORMs


class Item(models.Model):
    order = models.ForeignKey(Order, models.CASCADE, primary_key=True, db_column="id")

    class Meta:
        db_table = "orders"


for value in sealed, uuid.UUID(sealed):
    order = Order.objects.with_sealed(value)
    assert (order.id, order.body, str(order.sealed)) == (id, "hello", sealed), order
assert str(Item.objects.get(pk=id).order.sealed) == sealed
assert str(Item.objects.select_related("order").get(pk=id).order.sealed) == sealed
created = Order.objects.create(body="new")
assert created.id > id
assert Order.objects.with_sealed(created.sealed) == created
try:
    Order.objects.with_sealed(other)
    raise AssertionError
except Order.DoesNotExist:
    print("ok Django reads the sealed ID of a row, and the row of a sealed ID")
