# Prints what a recipe in Python has read.

import json


def report(version, id, order, many, recent, ids):
    print("version", version)
    print("id", id)
    print("one", body(order))
    print("many", ",".join(map(body, many)))
    print("recent", ",".join(map(body, recent)))
    assert isinstance(ids, list)
    print("ids", ",".join(ids))


def report_snowflakes(id, invoice, many, recent, document):
    print("invoice", id)
    print("one invoice", body(invoice))
    print("many invoices", ",".join(map(body, many)))
    print("recent invoices", ",".join(map(body, recent)))
    print("json", json.loads(document, parse_int=float)["id"])  # a number is read as JavaScript reads it


def body(row):
    return row[1] if isinstance(row, tuple) else row["body"] if hasattr(row, "keys") else row.body
