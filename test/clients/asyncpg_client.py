# requires: python3-asyncpg
import asyncio

from report import report

# docs/clients.md: asyncpg
    report(asyncpg.__version__, id, order, many, recent, ids)

    try:
        await connection.execute("INSERT INTO orders (id) VALUES ($1)", an_hour_ago)
    except asyncpg.exceptions.DataError:
        print("ok a datetime is not an ID")
    else:
        raise AssertionError("a datetime was stored as an ID")

# docs/clients.md: asyncpg
    copied = await connection.fetchrow("DELETE FROM orders WHERE body = 'copied' RETURNING id, id::uuid AS bytes")
    assert copied["id"] == copied["bytes"]
    print("ok COPY sends IDs")


asyncio.run(main())
