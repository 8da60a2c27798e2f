# requires: python3-psycopg
from report import report

# docs/clients.md: psycopg 3
report(psycopg.__version__, id, order, many, recent, ids)

connection.commit()
try:
    connection.execute("INSERT INTO orders (id) VALUES (%s)", [an_hour_ago])
except psycopg.errors.DatatypeMismatch:
    print("ok a datetime is not an ID")
else:
    raise AssertionError("a datetime was stored as an ID")
