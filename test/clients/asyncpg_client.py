# requires: python3-asyncpg
from report import report

import asyncio



# docs/clients.md: asyncpg
    report(asyncpg.__version__, id, order, many, recent, ids)

    try:
        await connection.execute("INSERT INTO orders (id) VALUES ($1)", an_hour_ago)
    except asyncpg.exceptions.DataError:
        print("ok a datetime is not an ID")
    else:
        raise AssertionError("a datetime was stored as an ID")


asyncio.run(main())
