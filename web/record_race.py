#!/usr/bin/env python3
"""Records the race that web/race.js shows: eight writers, a reader with id > $1, and one with read_new.

Usage: record_race.py > race.js, with libpq's variables for a server that has the extension. Debian's
package python3-psycopg2 is required.
"""
import json
import random
import threading
import time

import psycopg2

WRITERS, SECONDS = 8, 10


def connect():
    connection = psycopg2.connect("")
    connection.autocommit = True
    return connection


setup = connect().cursor()
setup.execute("""
    CREATE EXTENSION IF NOT EXISTS snowdrift;
    DROP TABLE IF EXISTS race;
    CREATE TABLE race (id bigint PRIMARY KEY DEFAULT next_snowflake());
    SELECT snowdrift.watch('race')""")
stop = threading.Event()
committed = [0] * WRITERS


def write(n):
    cursor = connect().cursor()
    chance = random.Random(n)
    while not stop.is_set():
        cursor.execute("BEGIN; INSERT INTO race DEFAULT VALUES")
        time.sleep(chance.random() ** 4 * 0.7)  # most commit at once
        cursor.execute("COMMIT")
        committed[n] += 1


seen = {"by position": set(), "by watermark": set()}


def read(name, query):
    cursor = connect().cursor()
    last = None
    while not stop.is_set() or time.monotonic() < end:
        cursor.execute(query, {"last": last})
        for id, in cursor.fetchall():
            last = id
            seen[name].add(id)
        time.sleep(0.01)


threads = [threading.Thread(target=write, args=[n]) for n in range(WRITERS)]
threads.append(threading.Thread(target=read, args=["by position", "SELECT id FROM race WHERE id > coalesce(%(last)s, 0) ORDER BY id"]))
threads.append(threading.Thread(target=read, args=["by watermark", "SELECT id FROM snowdrift.read_new(NULL::race, %(last)s::bigint)"]))
begin = time.monotonic()
end = begin + SECONDS + 2
for thread in threads:
    thread.start()
rows = []
cursor = connect().cursor()
for second in range(1, SECONDS + 3):
    time.sleep(begin + second - time.monotonic())
    if second == SECONDS:
        stop.set()
    cursor.execute("SELECT id FROM race")
    present = {id for id, in cursor.fetchall()}
    position = max(seen["by position"], default=0)
    missed = {id for id in present if id < position} - seen["by position"]
    rows.append([second, len(present), len(seen["by position"]), len(missed), len(seen["by watermark"])])
for thread in threads:
    thread.join()
cursor.execute("SELECT id FROM race")
present = {id for id, in cursor.fetchall()}
assert len(present) == sum(committed)
assert seen["by watermark"] == present, "read_new has missed rows"
version = cursor.connection.server_version // 10000
text = (f"{WRITERS} sessions insert rows for {SECONDS} s, and commit after up to 0.7 s. A reader that continues at the greatest ID it has seen never "
        "returns to rows that are committed later. snowdrift.read_new() returns them all, once the transactions before them have ended.")
source = f"Recorded by web/record_race.py on PostgreSQL {version} on {time.strftime('%Y-%m-%d')}. After the writers have stopped, both readers run for 2 s."
print("'use strict';\n// Recorded by record_race.py. Each row: seconds, rows committed, read by id > $1, missed by it, read by read_new\n"
      f"const RACE = {{\n  text: {json.dumps(text)},\n  source: {json.dumps(source)},\n  rows: [\n"
      + "".join(f"    {json.dumps(row)},\n" for row in rows) + "  ],\n};")
