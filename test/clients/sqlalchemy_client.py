# requires: python3-sqlalchemy python3-psycopg2 python3-psycopg python3-alembic
# deb: python3-sqlalchemy/trixie python3-alembic/trixie python3-typing-extensions/trixie
from report import report, report_snowflakes

import os
import tempfile

import alembic.command
import alembic.config
import sqlalchemy
from sqlalchemy import ForeignKey, insert
from sqlalchemy.exc import DBAPIError, OperationalError, StatementError
from sqlalchemy.orm import relationship

INITIAL = '''
from alembic import op

revision = "0001"
down_revision = None

def upgrade():
    op.execute("CREATE TABLE customers (id serial PRIMARY KEY, name text)")
    op.execute("CREATE TABLE visits (id serial PRIMARY KEY, customer_id integer REFERENCES customers)")
'''
ENVIRONMENT = '''
from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection)
with context.begin_transaction():
    context.run_migrations()
'''

# docs/clients.md: SQLAlchemy
with engine.begin() as connection:
    connection.execute(text("SELECT seed()"))

# docs/clients.md: SQLAlchemy
report(sqlalchemy.__version__, id, order, many, recent, ids)

reflected = sqlalchemy.Table("orders", sqlalchemy.MetaData(), autoload_with=engine)
assert isinstance(reflected.columns.id.type, Ulid)
print("ok reflection knows the type")

# docs/clients.md: SQLAlchemy
with engine.begin() as connection:
    connection.execute(text("SELECT seed_invoices()"))

# docs/clients.md: SQLAlchemy
report_snowflakes(id, invoice, many, recent, document)


# The class before the conversion, with drivers that send values within the statement, and as 32-bit parameters
class Converted(declarative_base()):
    __tablename__ = "converted"
    id = Column(sqlalchemy.Integer, primary_key=True)
    body = Column(String)


Converted.metadata.create_all(engine)
with engine.begin() as connection:
    connection.execute(text("SELECT snowdrift.convert_column('converted', 'id')"))
converted = Converted(body="hello")
session.add(converted)
session.commit()
assert session.get(Converted, converted.id, populate_existing=True).body == "hello"
if sqlalchemy.__version__.startswith("2."):
    try:
        Session(create_engine("postgresql+psycopg://")).get(Converted, converted.id)
        raise AssertionError
    except sqlalchemy.exc.DataError:
        print("ok after a conversion, Integer raises an error with psycopg 3")


class Item(Base):
    __tablename__ = "items"
    id = Column(Ulid, primary_key=True, server_default=text("next_ulid()"))
    order_id = Column(ForeignKey("orders.id"))
    related = Column(UlidArray)
    order = relationship(Order)


Base.metadata.create_all(engine)
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
session = Session(engine)
for malformed in "", "garbage", ULID[:-1], ULID + "\n", "8" + ULID[1:], "01ARZ3NDEKTſV4RRFFQ69G5FAV", 5:
    for statement in [select(Order).where(Order.id == malformed), select(Order).where(Order.id.in_([ULID, malformed])),
                      select(Item).where(Item.order.has(Order.id > malformed)),
                      select(Item).where(Item.related.contains([malformed])),
                      insert(Order).values(id=malformed), insert(Item).values(related=[malformed])]:
        try:
            session.execute(statement)
            raise AssertionError(statement)
        except StatementError as error:
            assert not isinstance(error, DBAPIError) and isinstance(error.orig, ValueError), error
assert session.get(Order, ULID.lower()).id == ULID  # the transaction is not aborted
print("ok a malformed ID raises an error before the statement is sent")

item = Item(order=Order(body="new"), related=[ULID.lower(), None])
session.add(item)
session.flush()
session.refresh(item)
assert item.related == [ULID, None], item.related
assert session.scalar(select(Item.related[1]).where(Item.id == item.id)) == ULID
for condition in [Item.order_id == item.order.id.lower(), Item.order.has(func.ulid_since(Order.id, an_hour_ago)),
                  Item.order == item.order, Item.related == [ULID, None], Item.related.contains([ULID]),
                  Item.related.overlap([ULID]), Item.related.any(ULID.lower())]:
    assert session.scalars(select(Item).where(condition)).all() == [item], condition
assert session.scalars(select(Item).join(Order).where(func.ulid_since(Order.id, an_hour_ago))).one() == item
session.execute(insert(Item), [{"related": []}, {"related": None}, {"related": [ULID]}])
assert session.scalars(select(Item.related).where(Item.order_id.is_(None)).order_by(Item.id)).all() == [[], None, [ULID]]
session.rollback()
print("ok lookups through relations, and an array column of the type")


def new_database(name):
    name = f"{os.environ['PGDATABASE']}_{name}"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    options = "-c statement_timeout=20s"  # if the recipe lacks a lock timeout
    return create_engine(f"postgresql+psycopg2:///{name}", connect_args={"options": options})


created = new_database("created")
Base.metadata.create_all(created)
with Session(created) as session:
    order, invoice = Order(), Invoice()
    session.add_all([order, invoice])
    session.flush()
    assert len(order.id) == 26 and invoice.id > 2**53
print("ok create_all creates the tables in a new database")

CONVERSION = r'''
# docs/clients.md: SQLAlchemy
'''
folder = tempfile.TemporaryDirectory()
os.mkdir(os.path.join(folder.name, "versions"))
for name, content in ("env.py", ENVIRONMENT), ("versions/1.py", INITIAL), ("versions/2.py", CONVERSION):
    with open(os.path.join(folder.name, name), "w") as file:
        file.write(content)


def upgrade(revision):
    config = alembic.config.Config()
    config.set_main_option("script_location", folder.name)
    with upgraded.connect() as config.attributes["connection"]:
        alembic.command.upgrade(config, revision)


def key():
    return str(sqlalchemy.inspect(upgraded).get_columns("visits")[0]["type"])


upgraded = new_database("upgraded")
upgrade("0001")
with upgraded.begin() as reader:
    reader.execute(text("SELECT count(*) FROM visits"))
    try:
        upgrade("head")
        raise AssertionError("no error")
    except OperationalError as error:
        assert "canceling statement due to lock timeout" in str(error), error
assert key() == "INTEGER"
print("ok while a report reads a table, the lock timeout ends the conversion, and nothing is changed")
upgrade("head")
assert key() == "BIGINT"
print("ok after the report, the conversion succeeds, in a new database")
