# requires: python3-sqlalchemy python3-psycopg2 python3-psycopg
# deb: python3-sqlalchemy/trixie python3-typing-extensions/trixie
from report import report, report_snowflakes

import sqlalchemy

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
