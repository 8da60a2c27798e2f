# Prints what a recipe in Python has read.


def report(version, id, order, many, recent, ids):
    print("version", version)
    print("id", id)
    print("one", body(order))
    print("many", ",".join(map(body, many)))
    print("recent", ",".join(map(body, recent)))
    assert isinstance(ids, list)
    print("ids", ",".join(ids))


def body(row):
    return row[1] if isinstance(row, tuple) else row["body"] if hasattr(row, "keys") else row.body
