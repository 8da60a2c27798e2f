# requires: python3-sqlalchemy python3-psycopg2
from report import report

import sqlalchemy

# docs/clients.md: SQLAlchemy
with engine.begin() as connection:
    connection.execute(text("SELECT seed()"))

# docs/clients.md: SQLAlchemy
report(sqlalchemy.__version__, id, order, many, recent, ids)

reflected = sqlalchemy.Table("orders", sqlalchemy.MetaData(), autoload_with=engine)
assert isinstance(reflected.columns.id.type, Ulid)
print("ok reflection knows the type")
