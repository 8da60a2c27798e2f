# Runs recipes of docs/clients.md and docs/feeds.md, each in a database of its own, and prints "ok" or "not ok" for each
# check.
#
# In a program in this folder, the line "docs/PAGE.md: HEADING" stands for the next code block of that section.
# A program for docs/clients.md prints the client's version and what the recipe has read, which is compared with the
# database, and "ok …" for each further check that has passed. If the page's table has two versions, the program runs a
# second time, with the packages in build/debs. feeds.py runs the programs for docs/feeds.md. A program without such a
# line, or with blocks of another page, is a test of its own, and prints "ok …" for each check that has passed. The
# programs NAME_read_new read the tables of read_new.sql in both editions, and print what they have read.
#
# reader.sql makes the INSERT of a recipe for docs/clients.md fail if a reader below the watermark could miss its row.

import contextlib
import glob
import os
import re
import socket
import subprocess
import sys
import threading

import feeds

FOLDER = "build/node/clients"  # beside node_modules
DEBS = os.path.abspath("build/debs/usr")
NEWER = dict(PYTHONPATH=f"{DEBS}/lib/python3/dist-packages",
             RUBYLIB=":".join(glob.glob(f"{DEBS}/share/rubygems-integration/all/gems/*/lib")))
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
CREATE FUNCTION seed_invoices() RETURNS void LANGUAGE sql  -- a row with a serial key
    AS $$ INSERT INTO invoices (id, body) VALUES (1, 'old') $$;
"""
FACTS = """
SELECT 'id ' || id FROM orders WHERE body = 'hello';
SELECT 'one hello';
SELECT 'many old,hello';
SELECT 'recent hello';
SELECT 'ids ' || string_agg(id::text, ',' ORDER BY id) FROM orders;
"""
SNOWFLAKE_FACTS = """
SELECT 'invoice ' || id FROM invoices WHERE body = 'hello';
SELECT 'one invoice hello';
SELECT 'many invoices old,hello';
SELECT 'recent invoices hello';
SELECT 'json ' || id FROM invoices WHERE body = 'hello';
"""
KEY = """
SELECT format_type(atttypid, NULL), pg_get_expr(adbin, adrelid), EXISTS (
    SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND indkey::text = attnum::text)
FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
WHERE attrelid = :'table'::regclass AND attname = 'id';
"""

# Rows whose IDs are drawn by the default, in the same transaction, and in an earlier one
READ = """
INSERT INTO orders (body) VALUES ('default');
BEGIN;
SELECT next_ulid() AS id \\gset
INSERT INTO orders VALUES (:'id', 'same');
COMMIT;
SELECT set_config('test.id', next_ulid()::text, false) \\gset
DO $$ BEGIN
    INSERT INTO orders VALUES (current_setting('test.id')::ulid, 'earlier');
EXCEPTION WHEN raise_exception THEN NULL; END $$;
SELECT body FROM orders ORDER BY id;
"""

# In both editions: how it is installed, and what snowdrift.read_new() returns of each table in pages of two rows, or its
# error
EDITIONS = {
    "extension": ("CREATE EXTENSION snowdrift", dict.fromkeys(("numbers", "snowflakes", "uuids", "ulids"), "a,b|c|")),
    "SQL edition": (r"\i sql-edition/snowdrift.sql", dict(numbers="a,b|c|", snowflakes="a,b|c|", uuids="55000")),
}

failed = []


def main(paths):
    with open("docs/clients.md") as file:
        versions = dict(re.findall(r"^\| \[(.*?)\]\(#.*?\) \| (\d[\d., ]*) \|", file.read(), re.M))
    psql("CREATE DATABASE clients")
    with open("test/clients/reader.sql") as file:
        psql("CREATE EXTENSION snowdrift;" + SEED + file.read(), "clients")
    check_reader()
    relay = socket.create_server(("localhost", 0))
    threading.Thread(target=accept, args=[relay], daemon=True).start()
    for path in paths:
        run(path, versions, relay.getsockname()[1])
    recipes = map(recipe_of, map(read, glob.glob("test/clients/*_client.*")))  # all, because Rust's needs --long
    untested = versions.keys() - {heading for page, heading in recipes if page == "clients"}
    check("every client that the page calls tested has a program", not untested, ", ".join(untested))


def check_reader():
    psql("CREATE DATABASE reader TEMPLATE clients")
    read = psql(sections("clients")["The table"][0] + READ, "reader")
    check("a row whose ID is drawn in an earlier transaction is refused", read == ["default", "same"], read)


def run(path, versions, port):
    name, extension = os.path.basename(path).split("_client.")
    program, page, heading = insert_recipe(path)
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "main." + extension), "w") as file:
        file.write(program)

    if name.endswith("_read_new"):
        run_read_new(name, COMMANDS[extension], folder, port)
        return
    if page not in ("clients", "feeds"):
        options = options_of("test_" + name, folder, port, {})
        run_test(name, COMMANDS[extension], options)
        return
    first, *newer = [None] if page == "feeds" else versions.get(heading, "?").split(", ")
    options = options_of("test_" + name, folder, port, {}, "template1" if page == "feeds" else "clients")
    if page == "feeds":
        create, deletion = sections(page)["A consumer"][0], sections(page)["Deleting what all consumers have read"][0]
        psql(create, "test_" + name)
        for result in feeds.run(name, COMMANDS[extension], options, options["env"], deletion):
            check(*result)
    else:
        run_client(name, program, COMMANDS[extension], options, first)
    for version in newer:
        options = options_of(f"test_{name}_newer", folder, port, NEWER)
        run_client(f"{name} {version}", program, COMMANDS[extension], options, version)


# options_of DATABASE, FOLDER, PORT, PATHS, TEMPLATE: creates the database, and an empty one, and returns the options for
# running a program
def options_of(database, folder, port, paths, template="clients"):
    psql(f"CREATE DATABASE {database} TEMPLATE {template}")
    psql(f"CREATE DATABASE {database}_new")
    environment = dict(os.environ, **paths, PGDATABASE=database, NEW_DATABASE=f"{database}_new", TZ="Asia/Tokyo",
                       JDBC_URL=f"jdbc:postgresql://localhost:{port}/{database}?user={os.environ['PGUSER']}")
    environment["PYTHONPATH"] = os.path.abspath("test/clients") + ":" + environment.get("PYTHONPATH", "")
    return dict(shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)


def run_client(name, program, command, options, version):
    database = options["env"]["PGDATABASE"]
    if "seed()" not in program:  # the recipe does not create the table
        psql(sections("clients")["The table"][0] + "SELECT seed();", database)
    done = subprocess.run(command, **options)

    if not check(f"{name}: the program succeeds", done.returncode == 0, done.stdout):
        return
    lines = done.stdout.splitlines()
    kinds = [("orders", "ulid|next_ulid()|t", FACTS)]
    if "seed_invoices()" in program:
        kinds.append(("invoices", "bigint|next_snowflake()|t", SNOWFLAKE_FACTS))
    for table, expected, facts in kinds:
        key = psql(f"\\set table {table}\n{KEY}", database)
        check(f"{name}: the key of {table} has the type and the default", key == [expected], key)
        for fact in psql(facts, database):
            check(f"{name}: {fact}", fact in lines, done.stdout)
    same_version = any(f"{line}.".startswith(f"version {version}.") for line in lines)
    check(f"{name}: version {version}", same_version, done.stdout)
    for line in lines:
        if line.startswith("ok "):
            check(f"{name}: {line[3:]}", True)


# sections PAGE: the code blocks of each section of the page
def sections(page):
    with open(f"docs/{page}.md") as file:
        parts = file.read().split("\n## ")[1:]
    return {part.split("\n", 1)[0]: re.findall(r"^```\w+\n(.*?)^```$", part, re.M | re.S) for part in parts}


def run_test(name, command, options):
    done = subprocess.run(command, **options)
    check(f"{name}: the program succeeds", done.returncode == 0, done.stdout)
    for line in done.stdout.splitlines():
        if line.startswith("ok "):
            check(f"{name}: {line[3:]}", True)


def run_read_new(name, command, folder, port):
    for number, (edition, (install, tables)) in enumerate(EDITIONS.items()):
        database = f"test_{name}_{number}"
        options = options_of(database, folder, port, {}, "template1")
        psql(f"\\o /dev/null\n{install}\n;\\i test/clients/read_new.sql", database)
        options["env"]["TABLES"] = " ".join(tables)
        done = subprocess.run(command, **options)
        check(f"{name}, {edition}: the program succeeds", done.returncode == 0, done.stdout)
        lines = done.stdout.splitlines()
        for table, pages in tables.items():
            for way in "not prepared", "prepared":
                read = [line for line in lines if line.startswith(f"{table}, {way}")]
                check(f"{name}, {edition}: {table}, {way}", read and all(line.endswith(": " + pages) for line in read), read)


# insert_recipe PATH: returns the program with all code blocks of its section, and the result of recipe_of()
def insert_recipe(path):
    program = read(path)
    page, heading = recipe_of(program)
    if not page:
        return program, None, None
    blocks = iter(sections(page)[heading])
    program = re.sub(r"^.*docs/[\w-]+\.md: .*\n", lambda marker: next(blocks), program, flags=re.M)
    check(f"{heading}: the program contains all code blocks", next(blocks, None) is None)
    return program, page, heading


def read(path):
    with open(path) as file:
        return file.read()


# recipe_of PROGRAM: returns the page and the heading of its recipe, or twice None
def recipe_of(program):
    recipe = re.search(r"docs/([\w-]+)\.md: (.*)", program)
    return recipe.groups() if recipe else (None, None)


# Relays connections to the server's Unix socket, because JDBC cannot connect to it.
def accept(relay):
    while True:
        client, _ = relay.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(os.path.join(os.environ["PGHOST"], ".s.PGSQL." + os.environ["PGPORT"]))
        for pair in (client, server), (server, client):
            threading.Thread(target=copy, args=pair, daemon=True).start()


# Ends the sink's connection too if a killed client has reset its own. Otherwise, the session keeps the client's locks.
def copy(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
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
