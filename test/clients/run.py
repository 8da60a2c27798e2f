# Runs recipes of docs/clients.md, each in a database of its own, and prints "ok" or "not ok" for each check.
#
# In a program in this folder, the line "docs/clients.md: HEADING" stands for the next code block of that section.
# The program prints what the recipe has read, which must be what the database contains, and "ok …" for each further
# check that has passed.

import os
import re
import socket
import subprocess
import sys
import threading

# What the environment of a program adds to the server's address
FOLDER = "build/node/clients"  # below node_modules
COMMANDS = {
    "c": "cc -Wall -Wextra -Werror -I/usr/include/postgresql main.c -o main -lpq && ./main",
    "py": "PYTHONPATH=$OLDPWD/test/clients /usr/bin/python3 main.py",
    "sh": "sh -e main.sh",
    "mjs": "node main.mjs",
    "java": "java -cp /usr/share/java/postgresql.jar main.java",
    "rb": "/usr/bin/ruby main.rb",
    "php": "/usr/bin/php main.php",
    "go": "GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$PWD/cache /usr/bin/go run main.go",
}
OLD = "01ARZ3NDEKTSV4RRFFQ69G5FAV"  # of 2016
FACTS = f"""
SELECT 'id ' || id FROM orders WHERE body = 'hello';
SELECT 'one hello';
SELECT 'many old,hello';
SELECT 'recent hello';
SELECT 'ids ' || string_agg(id::text, ',' ORDER BY id) FROM orders;
"""
COLUMN = """SELECT format_type(atttypid, NULL), attnotnull, pg_get_expr(adbin, adrelid), EXISTS (
    SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND indkey::text = attnum::text)
FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid = 'orders'::regclass AND attname = 'id'"""


def main():
    page = open("docs/clients.md").read()
    sections = {}
    for section in page.split("\n## ")[1:]:
        sections[section.split("\n", 1)[0]] = re.findall(r"^```\w+\n(.*?)^```$", section, re.M | re.S)
    tested = dict(re.findall(r"^\| \[(.*?)\]\(#.*?\) \| ([\d.]+) \|", page, re.M))
    psql("CREATE DATABASE clients")
    psql("CREATE EXTENSION snowdrift", "clients")
    psql("SET check_function_bodies = off; CREATE FUNCTION seed() RETURNS void LANGUAGE sql "
         f"AS $$ INSERT INTO orders (id, body) VALUES ('{OLD}', 'old') $$", "clients")
    for path in sys.argv[1:]:
        run(path, sections, tested)
    if len(sys.argv) > 2:
        check("every client that the page calls tested has a program", not tested, ", ".join(tested))


def run(path, sections, tested):
    name = os.path.basename(path).split("_client.")[0]
    extension = path.rsplit(".", 1)[1]
    program, heading = insert_recipe(open(path).read(), sections)
    version = tested.pop(heading, "?")
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "main." + extension), "w") as file:
        file.write(program)
    database = "test_" + name
    psql(f"CREATE DATABASE {database} TEMPLATE clients")
    if "seed()" not in program:  # the recipe does not create the table
        psql(sections["The table"][0], database)
        psql("SELECT seed()", database)
    done = subprocess.run(COMMANDS[extension], shell=True, cwd=folder, env=dict(os.environ, PGDATABASE=database, JDBC_URL=jdbc_url(database)),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.splitlines()
    if not check(f"{name}: the program succeeds", done.returncode == 0, done.stdout):
        return
    check(f"{name}: the table's key", psql(COLUMN, database) == ["ulid|t|next_ulid()|t"], psql(COLUMN, database))
    check(f"{name}: version {version}", any((line + ".").startswith(f"version {version}.") for line in lines), done.stdout)
    for fact in psql(FACTS, database):
        check(f"{name}: {fact}", fact in lines, done.stdout)
    for line in lines:
        if line.startswith("ok "):
            check(f"{name}: {line[3:]}", True)


# insert_recipe PROGRAM: the program with all code blocks of its section, and the section's heading
def insert_recipe(program, sections):
    heading = re.search(r"docs/clients\.md: (.*)", program)[1]
    blocks = iter(sections[heading])
    program = re.sub(r"^.*docs/clients\.md: .*\n", lambda marker: next(blocks), program, flags=re.M)
    assert next(blocks, None) is None, f"{heading}: a code block is not tested"
    return program, heading


# jdbc_url DATABASE: an address for JDBC, which cannot connect to a Unix socket. A thread relays the connections.
def jdbc_url(database):
    port = relay.getsockname()[1]
    return f"jdbc:postgresql://localhost:{port}/{database}?user={os.environ['PGUSER']}"


def accept():
    while True:
        client, _ = relay.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(os.path.join(os.environ["PGHOST"], ".s.PGSQL." + os.environ["PGPORT"]))
        for pair in (client, server), (server, client):
            threading.Thread(target=copy, args=pair, daemon=True).start()


def copy(source, sink):
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


failed = []
relay = socket.create_server(("localhost", 0))
threading.Thread(target=accept, daemon=True).start()
main()
sys.exit(bool(failed))
