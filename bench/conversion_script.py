#!/usr/bin/env python3
"""Measures conversion_script with a table of ROWS rows and three referring tables, without clients and while 8 clients
write.

    bench/conversion_script.py ROWS RUNS

Connects as psql does (PGHOST, PGUSER), and creates and drops the database conversion_bench. Needs the extension and
about 1 GB per million rows. Each run converts the tables three times: with convert_keys, with the script without
clients (duty 1), and with the script under load (the default duty), where a transaction of 20 s begins every 50 s.
Prints the medians of the runs.

The longest wait is that of a client for a lock that the script holds or requests. pg_locks is read every 50 ms.
"""
import os, re, statistics, subprocess, sys, tempfile, threading, time

rows, runs = int(sys.argv[1]), int(sys.argv[2])
folder = tempfile.mkdtemp()
database = 'conversion_bench'
environment = dict(os.environ, PGDATABASE=database)

SETUP = '''
CREATE EXTENSION snowdrift;
CREATE TABLE users (id serial PRIMARY KEY, tag uuid NOT NULL DEFAULT gen_random_uuid(), name text NOT NULL DEFAULT 'x', note text, invited_by integer REFERENCES users ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(), CONSTRAINT positive CHECK (id > 0));
CREATE TABLE orders (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer NOT NULL REFERENCES users ON DELETE CASCADE, user_tag uuid, total integer DEFAULT 0);
CREATE TABLE posts (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id integer REFERENCES users ON DELETE SET NULL, user_tag uuid, body text);
CREATE TABLE members (org integer, user_id integer REFERENCES users ON DELETE CASCADE, role text DEFAULT 'r', PRIMARY KEY (org, user_id));
INSERT INTO users (invited_by) SELECT CASE WHEN n % 3 = 0 THEN 1 + n / 2 END FROM generate_series(1, :rows) AS n;
UPDATE users SET note = 'invited' WHERE invited_by IS NOT NULL;
INSERT INTO orders (user_id, user_tag, total) SELECT id, tag, id % 100 FROM users WHERE id % 3 <> 0;
INSERT INTO posts (user_id, user_tag, body) SELECT id, tag, 'body' FROM users WHERE id % 2 = 0;
INSERT INTO members (org, user_id) SELECT id % 1000, id FROM users WHERE id % 3 = 0;
CREATE INDEX ON users (created_at);
CREATE INDEX ON users (invited_by) WHERE invited_by IS NOT NULL;
CREATE INDEX ON users (name, id DESC);
CREATE INDEX ON orders (user_id);
CREATE INDEX ON posts (user_id);
CREATE INDEX ON members (user_id);
VACUUM ANALYZE;
CHECKPOINT;
'''
LOAD = '''
\\set a random(1, :rows)
\\set b random(1, :rows / 2)
\\set c random(1, 100)
SELECT id, name, invited_by FROM users WHERE id = :a;
SELECT count(*) FROM orders WHERE user_id = :b;
UPDATE users SET note = 'n' || :c WHERE id = :a;
BEGIN;
INSERT INTO users (invited_by) VALUES (:b) RETURNING id AS u \\gset
INSERT INTO orders (user_id, total) VALUES (:u, :c) RETURNING id AS o \\gset
INSERT INTO posts (user_id) VALUES (:u);
INSERT INTO members (org, user_id) VALUES (:c, :u);
COMMIT;
UPDATE orders SET user_id = :b WHERE id = :o;
\\if :c > 70
DELETE FROM users WHERE id = :u;
\\endif
'''
SCRIPT = "SELECT snowdrift.conversion_script('{users,orders}'%s) \\gexec\n"


def psql(statements, *options, **keywords):
    return subprocess.run(['psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-v', f'rows={rows}', *options], input=statements, text=True,
                          check=True, env=environment, capture_output=True, **keywords)


def value(query):
    return float(psql(query).stdout)


def fill():
    for statement in f'DROP DATABASE IF EXISTS {database}', f'CREATE DATABASE {database}':
        subprocess.run(['psql', '-X', '-q', '-d', 'postgres', '-c', statement], check=True, stderr=subprocess.DEVNULL)
    psql(SETUP)


def size():
    return value("SELECT sum(pg_total_relation_size(t)) FROM unnest('{users,orders,posts,members}'::regclass[]) AS t")


def measure(statements):
    """The duration in seconds, the bytes of WAL, and the growth of the tables"""
    before, start = size(), psql('SELECT pg_current_wal_lsn()').stdout.strip()
    began = time.time()
    psql(statements)
    return time.time() - began, value(f"SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '{start}')"), size() / before - 1


def under_load():
    """Throughput of each phase as a share of that before, the longest wait, the attempts of the swap, and the duration"""
    with open(f'{folder}/load.sql', 'w') as file:
        file.write(LOAD)
    progress = open(f'{folder}/progress', 'w+')    # a line per second
    clients = subprocess.Popen(['pgbench', '-n', '-c', '8', '-T', '36000', '-D', f'rows={rows}', '-P', '1', '--progress-timestamp',
                                '-f', f'{folder}/load.sql'], env=environment, stdout=subprocess.DEVNULL, stderr=progress)
    done, waits, phases = threading.Event(), [(0.0, '')], []

    def watch():
        session = subprocess.Popen(['psql', '-X', '-q', '-A', '-t'], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        while not done.wait(0.05):
            session.stdin.write("SELECT coalesce(extract(epoch FROM max(clock_timestamp() - waitstart)), 0), "
                                "(SELECT left(translate(query, E'\\n', ' '), 90) FROM pg_stat_activity WHERE application_name = 'script') "
                                "FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid) "
                                "WHERE NOT granted AND application_name = 'pgbench' AND EXISTS (SELECT FROM unnest(pg_blocking_pids(pid)) AS b "
                                "JOIN pg_stat_activity AS s ON s.pid = b WHERE s.application_name = 'script');\n")
            session.stdin.flush()
            seconds, statement = session.stdout.readline().rstrip().split('|', 1)
            waits.append((float(seconds), statement))
        session.stdin.close()

    def hold():
        while not done.wait(30):
            psql('BEGIN; UPDATE users SET note = note WHERE id = 7; SELECT count(*) FROM (SELECT FROM orders LIMIT 10) AS o; SELECT pg_sleep(20); COMMIT')

    threads = [threading.Thread(target=f) for f in (watch, hold)]
    for thread in threads:
        thread.start()
    time.sleep(70)
    began = time.time()
    script = subprocess.Popen(['psql', '-X', '-v', 'ON_ERROR_STOP=1', '-e', '-c', 'SET client_min_messages = debug1', '-f', '-'],
                              env=dict(environment, PGAPPNAME='script'), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    script.stdin.write(SCRIPT % '')
    script.stdin.close()
    attempts = 0
    for line in script.stdout:
        for phase, pattern in (('columns', '^CALL snowdrift.change_briefly.*ADD COLUMN'), ('copy', '^CALL snowdrift.copy'), ('vacuum', '^VACUUM'),
                               ('validate', '^ALTER TABLE.*VALIDATE'), ('indexes', '^CREATE.*INDEX'), ('foreign keys', '^CALL.*FOREIGN KEY'),
                               ('swap', '^CALL snowdrift.swap'), ('after', '^ANALYZE')):
            if re.search(pattern, line):
                phases.append((time.time(), phase))
        if 'locked in attempt' in line and phases[-1][1] == 'swap':
            attempts = int(re.search(r'attempt (\d+)', line)[1])
        if 'ERROR' in line:
            print(line)
    ended = time.time()
    time.sleep(20)
    done.set()
    for thread in threads:
        thread.join()
    clients.terminate()
    clients.wait()
    progress.seek(0)
    lines = progress.read()
    assert script.wait() == 0 and 'ERROR' not in lines, lines
    seconds = {int(float(at)): float(tps) for at, tps in re.findall(r'progress: ([0-9.]+) s, ([0-9.]+) tps', lines)}

    def throughput(spans):
        counts = [seconds[s] for first, last in spans for s in range(int(first) + 1, int(last) + 1) if s in seconds]
        return statistics.mean(counts) if counts else None

    before = throughput([(began - 60, began)])
    spans = {}
    for (first, phase), (last, _) in zip(phases, phases[1:] + [(ended + 20, '')]):
        spans.setdefault(phase, []).append((first, last))
    shares = {phase: t / before for phase, s in spans.items() if (t := throughput(s)) is not None}
    print(max(waits), flush=True)
    return shares, max(waits)[0], attempts, ended - began


results = []
for run in range(runs):
    fill()
    table = measure("SELECT snowdrift.convert_keys('{users,orders}')")
    fill()
    script = measure(SCRIPT % ', duty => 1')
    fill()
    results.append((table, script, *under_load()))
    print(run, results[-1], flush=True)
median = lambda f: statistics.median(f(r) for r in results)
print(f'{rows} rows, median of {runs} runs')
for name, n in ('convert_keys', 0), ('conversion_script', 1):
    print(f'{name}: {median(lambda r: r[n][0]):.0f} s, {median(lambda r: r[n][1]) / 1e6:.0f} MB of WAL, size {median(lambda r: r[n][2]):+.1%}')
print(f'ratios: time {median(lambda r: r[1][0] / r[0][0]):.1f}, WAL {median(lambda r: r[1][1] / r[0][1]):.1f}')
print(f'under load: {median(lambda r: r[5]):.0f} s, longest wait {median(lambda r: r[3]) * 1000:.0f} ms, swap in attempt {median(lambda r: r[4]):.0f}')
for phase in results[0][2]:
    print(f'throughput, {phase}: {statistics.median(r[2][phase] for r in results if phase in r[2]):.2f} of before')
