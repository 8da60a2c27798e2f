# requires: python3-psycopg
import os

import psycopg


# read CONNECTION, TABLE, PREPARE: three pages of at most two rows, each after the last row of the previous one
def read(connection, table, prepare):
    pages, last = [], None
    for _ in range(3):
        rows = connection.execute(f"SELECT id, body FROM snowdrift.read_new(NULL::{table}, after => %s, max => 2)",
                                  [last], prepare=prepare).fetchall()
        pages.append(",".join(body for _, body in rows))
        if rows:
            last = rows[-1][0]
    return "|".join(pages)


with psycopg.connect(autocommit=True) as connection:
    for table in os.environ["TABLES"].split():
        for way, prepare in ("not prepared", False), ("prepared", True):
            for _ in range(4):  # also with a generic plan
                try:
                    pages = read(connection, table, prepare)
                except psycopg.Error as error:
                    pages = error.sqlstate
            print(f"{table}, {way}: {pages}")
        generic, = connection.execute("SELECT sum(generic_plans) > 0 FROM pg_prepared_statements"
                                      " WHERE position(%s::text IN statement) > 0", [f"NULL::{table},"]).fetchone()
        assert generic or pages == "55000", generic
