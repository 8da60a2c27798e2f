# requires: python3-alembic python3-sqlalchemy python3-psycopg2
# With the filter in docs/clients.md, Alembic plans to drop nothing of either edition. There is no recipe.
import os
import re
import subprocess

from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from sqlalchemy import BigInteger, Column, MetaData, Table, create_engine, text

ROOT = "../../../.."
with open(f"{ROOT}/docs/clients.md") as page:
    source, = re.findall(r"`include_name=(lambda [^`]*)`", page.read())
include_name = eval(" ".join(source.split()))

database = os.environ["PGDATABASE"]
edition = f"{database}_edition"
subprocess.run(["psql", "-Xq", "-c", f"CREATE DATABASE {edition}"], check=True)
subprocess.run(["psql", "-Xq", "-o", "/dev/null", "-v", "ON_ERROR_STOP=1", "-d", edition,
                "-f", f"{ROOT}/sql-edition/snowdrift.sql"], check=True)

metadata = MetaData()
Table("posts", metadata, Column("id", BigInteger, primary_key=True, server_default=text("next_snowflake()")))
for name, database in ("extension", database), ("SQL edition", edition):
    engine = create_engine("postgresql+psycopg2://", connect_args={"dbname": database})
    metadata.create_all(engine)
    with engine.connect() as connection:
        def plan(**options):
            context = MigrationContext.configure(connection, opts={"include_schemas": True, **options})
            return [type(operation).__name__ for operation in produce_migrations(context, metadata).upgrade_ops.ops]

        assert "DropTableOp" in plan()
        assert plan(include_name=include_name) == [], plan(include_name=include_name)
    print("ok the filter hides the tables of the", name)
