# requires: gnumeric jq nodejs python3-pandas python3-psycopg2 r-base-core r-cran-rpostgresql
# npm: @duckdb/node-api@1.5.6-r.1
# The formulas of docs/snowflake.md for programs outside PostgreSQL return the times and bounds of Snowdrift's functions.
# Programs that hold integers as doubles round IDs, except with the page's remedies.

import csv
import io
import json
import subprocess
import warnings
from datetime import datetime, timedelta, timezone

import pandas
import psycopg2

SQL = """
docs/snowflake.md: IDs outside PostgreSQL
"""
DUCKDB = """
docs/snowflake.md: IDs outside PostgreSQL
"""
# docs/snowflake.md: IDs outside PostgreSQL
JAVASCRIPT = """
docs/snowflake.md: IDs outside PostgreSQL
"""
SPREADSHEET = """
docs/snowflake.md: IDs outside PostgreSQL
"""
PANDAS = """
docs/snowflake.md: IDs outside PostgreSQL
"""
R = """
docs/snowflake.md: IDs outside PostgreSQL
"""

# Times before and after the page's bound, neighboring IDs, and the largest fields. Each message replies to the previous
# one, so one column has a NULL.
MESSAGES = """
INSERT INTO messages
SELECT id, lag(id) OVER (ORDER BY id) FROM (
    SELECT make_snowflake('2026-09-30 23:59:59.9Z'::timestamptz + n / 4 * interval '37 ms', 0, 0, n % 4)
    FROM generate_series(0, 199) AS n
    UNION ALL SELECT make_snowflake('2026-11-21 12:00:00.119Z', 31, 31, 4095)
    UNION ALL SELECT make_snowflake('2090-09-07 15:47:35.551Z', 31, 31, 4095)
) AS ids (id)
"""
BOUND = datetime(2026, 10, 1, tzinfo=timezone.utc)

connection = psycopg2.connect("")
connection.autocommit = True
cursor = connection.cursor()


def query(sql, *parameters):
    cursor.execute(sql, parameters or None)
    return cursor.fetchall()


def run(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def check(what, got, expected):
    assert got == expected, f"{what}: {got}, not {expected}"
    print("ok", what)


def check_rounded(what, got):
    assert 0 < got < len(rows) / 2, f"{what}: {got} of {len(rows)}"
    print(f"ok {what} rounds IDs")


# Checks times in ms that contain the lower bits of the ID as a fraction. A date of a spreadsheet is exact to 1 µs.
def check_to_1_ms(what, got, expected):
    check(what, [pair for pair in zip(got, expected, strict=True) if not -0.002 < pair[0] - pair[1] < 1.002], [])


create, select, copy = SQL.split(";\n")[:3]
cursor.execute(create)
cursor.execute(MESSAGES)
rows = query("SELECT id, reply_to, (extract(epoch FROM snowflake_timestamp(id)) * 1000)::bigint FROM messages ORDER BY id")
ids, replies, times = zip(*rows)
recent = [row for row in rows if row[0] >= query("SELECT snowflake_boundary(%s)", BOUND)[0][0]]
assert len(rows) == 202 and 100 < len(recent) < 202

# PostgreSQL, and the export
check("SQL", query(f"SELECT id, reply_to, (extract(epoch FROM time) * 1000)::bigint FROM ({select}) AS shown "
                   "JOIN messages USING (id) ORDER BY id"), recent)
cursor.execute(f"SELECT min(id) FROM ({select.replace('2026-10-01Z', '2026-09-30 23:59:59.9001Z')}) AS shown")
check("SQL: a bound between milliseconds", cursor.fetchone()[0], ids[4])
with open("messages.csv", "w") as file:
    cursor.copy_expert(copy, file)

# DuckDB
with open("duckdb.mjs", "w") as file:
    file.write("import { DuckDBInstance } from '@duckdb/node-api';\n"
               "const connection = await (await DuckDBInstance.create()).connect();\n"
               "await connection.run(\"COPY (FROM 'messages.csv') TO 'messages.parquet'\");\n"
               f"const block = {json.dumps(DUCKDB)};\n"
               "for (const sql of [block, block.replace('csv', 'parquet')]) {\n"
               "  const ordered = `SELECT id, reply_to, epoch_ms(time) FROM (${sql}) ORDER BY id`;\n"
               "  console.log(JSON.stringify((await connection.runAndReadAll(ordered)).getRowsJson()));\n"
               "}\n")
for kind, line in zip(["CSV", "Parquet"], run(["node", "duckdb.mjs"]).splitlines()):
    check(f"DuckDB, {kind}", [tuple(map(int, row)) for row in json.loads(line)], recent)

# Python
check("Python: times", [time_of(id) for id in ids], [time for time, in query("SELECT snowflake_timestamp(id) FROM messages ORDER BY id")])
bounds = [BOUND + n * timedelta(microseconds=250) for n in range(-9, 9)]
check("Python: bounds", [first_id(time) for time in bounds], [query("SELECT snowflake_boundary(%s)", time)[0][0] for time in bounds])
check("Python: buckets", [bucket(id, 100) for id in ids], [bucket for bucket, in query(
    "SELECT ('x' || left(encode(sha256(id::text::bytea), 'hex'), 7))::bit(28)::integer %% 100 FROM messages WHERE id > %s ORDER BY id", 0)])

# JavaScript
with open("times.mjs", "w") as file:
    file.write(JAVASCRIPT + f"const ids = {json.dumps([str(id) for id in ids])};\n"
               f"const bound = new Date('{BOUND.isoformat()}');\n"
               "console.log(JSON.stringify([ids.map(id => timeOf(id).getTime()), String(firstId(bound))]));\n")
check("JavaScript", json.loads(run(["node", "times.mjs"])),
      [list(times), str(query("SELECT snowflake_boundary(%s)", BOUND)[0][0])])


# A spreadsheet, with IDs as numbers and as text. In its dates, 44197 is 2021-01-01.
with open("formulas.csv", "w") as file:
    csv.writer(file).writerows([["id", "time"]] + [
        [cell, SPREADSHEET.strip().replace("A2", f"A{n}")]
        for n, cell in enumerate([*ids, *(f'="{id}"' for id in ids)], start=2)])
run(["ssconvert", "-T", "Gnumeric_stf:stf_assistant", "-O", "format=raw", "formulas.csv", "times.txt"])
with open("times.txt") as file:
    shown = [float(time) for _, time in list(csv.reader(file))[1:]]
check_to_1_ms("a spreadsheet", [(time - 44197) * 86400000 + 1609459200000 for time in shown], times * 2)

# pandas
exec(PANDAS)
check("pandas: keys", messages["id"].tolist(), [str(id) for id in ids])
check("pandas: references", messages["reply_to"].dropna().tolist(), [str(id) for id in replies[1:]])
check("pandas: times", [round(time.timestamp() * 1000) for time in messages["time"]], list(times))
check_rounded("pandas.read_csv", pandas.read_csv("messages.csv")["reply_to"].nunique())
check_rounded("pandas.read_csv with Int64", pandas.read_csv("messages.csv", dtype="Int64")["reply_to"].nunique())
warnings.simplefilter("ignore")  # pandas prefers SQLAlchemy
check_rounded("pandas.read_sql", pandas.read_sql("SELECT reply_to FROM messages", connection)["reply_to"].nunique())
as_text = pandas.read_sql("SELECT reply_to::text FROM messages ORDER BY id", connection)
check("pandas.read_sql of text", as_text["reply_to"].dropna().tolist(), [str(id) for id in replies[1:]])

# R
shown = run(["Rscript", "-e", R + """
write.csv(data.frame(messages$id, messages$reply_to, sprintf("%.6f", as.numeric(messages$time) * 1000)), quote = FALSE, row.names = FALSE)
"""])
shown = list(csv.reader(io.StringIO(shown)))[1:]
check("R: keys and references", [row[:2] for row in shown], [[str(id), str(reply or "")] for id, reply, _ in rows])
check_to_1_ms("R: times", [float(row[2]) for row in shown], times)
doubles, sql_doubles, sql_text = run(["Rscript", "-e", """
suppressMessages(library(RPostgreSQL))
connection <- dbConnect(PostgreSQL(), host = Sys.getenv("PGHOST"), port = Sys.getenv("PGPORT"), user = Sys.getenv("PGUSER"),
                        dbname = Sys.getenv("PGDATABASE"))
distinct <- function(column) cat(length(unique(column)), "\\n")
distinct(read.csv("messages.csv")$id)
distinct(dbGetQuery(connection, "SELECT id FROM messages")$id)
distinct(dbGetQuery(connection, "SELECT id::text FROM messages")$id)
"""]).split()
check_rounded("read.csv of R", int(doubles))
check_rounded("RPostgreSQL", int(sql_doubles))
check("RPostgreSQL of text", int(sql_text), 202)

# jq
document = json.dumps(ids) + json.dumps([str(id) for id in ids])
numbers, strings = run(["jq", "-c", "unique | length"], input=document).split()
check_rounded("jq", int(numbers))
check("jq with strings", int(strings), 202)
