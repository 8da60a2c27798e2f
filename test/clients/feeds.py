# Runs a consumer of docs/feeds.md while transactions commit late, out of order, or not at all. The consumer is killed and
# started again meanwhile. It must read each committed row once, in the order of IDs.

import os
import signal
import subprocess
import time

# A transaction that draws before it sleeps; every fourth one is rolled back.
WRITER = """
SELECT format('BEGIN; INSERT INTO outbox (body) VALUES (%L); SELECT pg_sleep(%s); %s', n, random() * 0.2,
              CASE WHEN n % 4 = 0 THEN 'ROLLBACK' ELSE 'COMMIT' END)
FROM generate_series(1, 40) AS n
\\gexec
"""
# Commits a row that the other transaction holds back. That one is rolled back, so it sends no notification.
LAST = """
SELECT pg_sleep(0.5);
INSERT INTO outbox (body) VALUES ('last');
"""
HELD_BACK = """
BEGIN;
INSERT INTO outbox (body) VALUES ('rolled back');
SELECT pg_sleep(1);
ROLLBACK;
"""
# The consumer's rows in the order in which it has stored them
ORDER = "ALTER TABLE search ADD number bigserial;"
DIFFERENCES = """
SELECT 'missed ' || id FROM outbox LEFT JOIN search ON event_id = id WHERE event_id IS NULL
UNION ALL SELECT 'not an event: ' || event_id FROM search LEFT JOIN outbox ON event_id = id WHERE id IS NULL
UNION ALL SELECT 'out of order: ' || event_id
    FROM (SELECT event_id, max(event_id) OVER (ORDER BY number) AS greatest FROM search) AS found
    WHERE event_id < greatest;
"""


# run NAME COMMAND OPTIONS ENVIRONMENT DELETION: yields (check's name, whether it has passed, details). DELETION deletes
# the rows that all consumers have read.
def run(name, command, options, environment, deletion):
    psql(ORDER, environment).wait()
    consumer = start(command, options)
    writers = [psql(WRITER, environment) for _ in range(4)]
    wait_until_read(40, environment)
    stop(consumer)
    consumer = start(command, options)
    for writer in writers:
        writer.wait()
    wait_until_read(120, environment)
    for writer in psql(HELD_BACK, environment), psql(LAST, environment):
        writer.wait()
    wait_until_read(121, environment)
    runs = consumer.poll() is None
    output = stop(consumer)
    yield f"{name}: the program runs until it is stopped", runs, output
    count = query("SELECT count(*) FROM outbox", environment)
    yield f"{name}: the writers commit 121 rows", count == ["121"], count
    differences = query(DIFFERENCES, environment)
    yield f"{name}: each row is read once, in order", not differences, "\n".join(differences) + output
    query("INSERT INTO consumers SELECT 'slow', id FROM outbox ORDER BY id LIMIT 1 OFFSET 9", environment)
    query(deletion, environment)
    left = query("SELECT count(*) FROM outbox", environment)
    query("DELETE FROM consumers WHERE name = 'slow'", environment)
    query(deletion, environment)
    left += query("SELECT count(*) FROM outbox", environment)
    yield f"{name}: the rows that all consumers have read are deleted", left == ["111", "0"], left


def start(command, options):
    return subprocess.Popen(command, start_new_session=True, **options)


def stop(process):
    os.killpg(process.pid, signal.SIGKILL)
    return process.communicate()[0]


def wait_until_read(count, environment):
    end = time.monotonic() + 20
    while int(query("SELECT count(*) FROM search", environment)[0]) < count and time.monotonic() < end:
        time.sleep(0.05)


def psql(sql, environment):
    process = subprocess.Popen(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1"], env=environment, stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)
    process.stdin.write(sql)
    process.stdin.close()
    return process


def query(sql, environment):
    return subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql], env=environment, check=True,
                          stdout=subprocess.PIPE, text=True).stdout.splitlines()
