# requires: python3-psycopg2
from report import report

# docs/clients.md: psycopg 2
report(psycopg2.__version__, id, order, many, recent, ids)

connection.commit()
try:
    cursor.execute("INSERT INTO orders (id) VALUES (%s)", [an_hour_ago])
except psycopg2.errors.DatatypeMismatch:
    print("ok a datetime is not an ID")
else:
    raise AssertionError("a datetime was stored as an ID")
