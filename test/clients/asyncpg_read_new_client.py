# requires: python3-asyncpg
import asyncio
import os

import asyncpg

TYPES = {"numbers": "bigint", "snowflakes": "bigint", "ulids": "ulid", "uuids": "uuid"}


# read FETCH: three pages of at most two rows, each after the last row of the previous one
async def read(fetch):
    pages, last = [], None
    for _ in range(3):
        rows = await fetch(last)
        pages.append(",".join(row["body"] for row in rows))
        if rows:
            last = rows[-1]["id"]
    return "|".join(pages)


async def main():
    connection = await asyncpg.connect()
    for table in os.environ["TABLES"].split():
        query = f"SELECT id, body FROM snowdrift.read_new(NULL::{table}, after => $1::{TYPES[table]}, max => 2)"
        for way in "not prepared", "prepared":
            try:
                fetch = (await connection.prepare(query)).fetch if way == "prepared" else (
                    lambda last: connection.fetch(query, last))
                pages = await read(fetch)
            except asyncpg.PostgresError as error:
                pages = error.sqlstate
            print(f"{table}, {way}: {pages}")
    # Without a cast, PostgreSQL infers text.
    try:
        await connection.fetch("SELECT * FROM snowdrift.read_new(NULL::numbers, $1)", 1)
    except asyncpg.exceptions.DataError:
        pass
    else:
        raise AssertionError("a number was sent as text")
    await connection.close()


asyncio.run(main())
