# Runs recipes of docs/clients.md, each in a database of its own, and prints "ok" or "not ok" for each check.
#
# In a program in this folder, the line "docs/clients.md: HEADING" stands for the next code block of that section.
# The program prints the client's version and what the recipe has read, which is compared with the database, and
# "ok …" for each further check that has passed.

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading

FOLDER = "build/node/clients"  # beside node_modules
COMMANDS = {
    "c": "cc -Wall -Wextra -Werror -I/usr/include/postgresql main.c -o main -lpq && ./main",
    "go": "GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$PWD/cache /usr/bin/go run main.go",
    "java": "java -cp /usr/share/java/postgresql.jar main.java",
    "mjs": "node main.mjs",
    "php": "/usr/bin/php main.php",
    "py": "/usr/bin/python3 -B main.py",
    "rb": "/usr/bin/ruby main.rb",
    "sh": "sh -e main.sh",
}
SEED = """
SET check_function_bodies = off;
CREATE FUNCTION seed() RETURNS void LANGUAGE sql  -- inserts the row that the recipe finds, of the year 2016
    AS $$ INSERT INTO orders (id, body) VALUES ('01ARZ3NDEKTSV4RRFFQ69G5FAV', 'old') $$;
"""
FACTS = """
SELECT 'id ' || id FROM orders WHERE body = 'hello';
SELECT 'one hello';
SELECT 'many old,hello';
SELECT 'recent hello';
SELECT 'ids ' || string_agg(id::text, ',' ORDER BY id) FROM orders;
"""
KEY = """
SELECT format_type(atttypid, NULL), pg_get_expr(adbin, adrelid), EXISTS (
    SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND indkey::text = attnum::text)
FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid = 'orders'::regclass AND attname = 'id';
"""

failed = []


def main(paths):
    with open("docs/clients.md") as file:
        page = file.read()
    sections = {}
    for section in page.split("\n## ")[1:]:
        sections[section.split("\n", 1)[0]] = re.findall(r"^```\w+\n(.*?)^```$", section, re.M | re.S)
    versions = dict(re.findall(r"^\| \[(.*?)\]\(#.*?\) \| ([\d.]+) \|", page, re.M))
    psql("CREATE DATABASE clients")
    psql("CREATE EXTENSION snowdrift;" + SEED, "clients")
    relay = socket.create_server(("localhost", 0))
    threading.Thread(target=accept, args=[relay], daemon=True).start()
    for path in paths:
        run(path, sections, versions, relay.getsockname()[1])
    if len(paths) > 1:
        check("every client that the page calls tested has a program", not versions, ", ".join(versions))


def run(path, sections, versions, port):
    name, extension = os.path.basename(path).split("_client.")
    program, heading = insert_recipe(path, sections)
    version = versions.pop(heading, "?")
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "main." + extension), "w") as file:
        file.write(program)

    database = "test_" + name
    psql(f"CREATE DATABASE {database} TEMPLATE clients")
    if "seed()" not in program:  # the recipe does not create the table
        psql(sections["The table"][0] + "SELECT seed();", database)
    environment = dict(os.environ, PGDATABASE=database, PYTHONPATH=os.path.abspath("test/clients"), TZ="Asia/Tokyo",
                       JDBC_URL=f"jdbc:postgresql://localhost:{port}/{database}?user={os.environ['PGUSER']}")
    done = subprocess.run(COMMANDS[extension], shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    if not check(f"{name}: the program succeeds", done.returncode == 0, done.stdout):
        return
    lines = done.stdout.splitlines()
    key = psql(KEY, database)
    check(f"{name}: the key is a ulid with a default", key == ["ulid|next_ulid()|t"], key)
    for fact in psql(FACTS, database):
        check(f"{name}: {fact}", fact in lines, done.stdout)
    same_version = any(f"{line}.".startswith(f"version {version}.") for line in lines)
    check(f"{name}: version {version}", same_version, done.stdout)
    for line in lines:
        if line.startswith("ok "):
            check(f"{name}: {line[3:]}", True)


# insert_recipe PATH: returns the program with all code blocks of its section, and the section's heading
def insert_recipe(path, sections):
    with open(path) as file:
        program = file.read()
    heading = re.search(r"docs/clients\.md: (.*)", program)[1]
    blocks = iter(sections[heading])
    program = re.sub(r"^.*docs/clients\.md: .*\n", lambda marker: next(blocks), program, flags=re.M)
    check(f"{heading}: the program contains all code blocks", next(blocks, None) is None)
    return program, heading


# Relays connections to the server's Unix socket, because JDBC cannot connect to it.
def accept(relay):
    while True:
        client, _ = relay.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(os.path.join(os.environ["PGHOST"], ".s.PGSQL." + os.environ["PGPORT"]))
        for pair in (client, server), (server, client):
            threading.Thread(target=copy, args=pair, daemon=True).start()


def copy(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


def psql(sql, database="postgres"):
    return subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database], input=sql, check=True,
                          stdout=subprocess.PIPE, text=True).stdout.splitlines()


def check(name, passed, details=""):
    print("ok" if passed else "not ok", name, flush=True)
    if not passed:
        failed.append(name)
        print("#", str(details).replace("\n", "\n# "), flush=True)
    return passed


main(sys.argv[1:])
sys.exit(bool(failed))
