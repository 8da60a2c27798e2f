# ./dev demo faults: writers insert rows on throwaway servers while faults happen. Prints a line for each event, and a
# table of the IDs that the writers have received. The exit status is 1 if an ID of Snowdrift was repeated or out of
# order.
import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time

import psycopg2

from demo_generators import EXTENSIONS, GENERATORS, ClockMovedBackwards, SnowflakeLibrary
from demo_servers import Clock, Server
from demo_tally import LEGEND, Tally, conclusion, table

WRITERS = 8
ROWS = 20            # per statement
ROUND_SECONDS = 0.04  # a writer's statements, one for each generator, take at least this long
STEP_SECONDS = 120   # the clock is set back by two minutes


class Application:
    """Writers that insert rows in all tables, on the server that the application knows."""

    def __init__(self, tallies, clock):
        self.tallies = tallies
        self.clock = clock
        self.server = None  # None while there is none
        self.restarts = 0
        self.is_ending = False
        self.failure = None
        self.has_failed = threading.Event()
        self.threads = [threading.Thread(target=self.run_writer, args=(number,), daemon=True)
                        for number in range(WRITERS)]

    def start(self, server):
        self.server = server
        for thread in self.threads:
            thread.start()

    def end(self):
        self.is_ending = True
        for thread in self.threads:
            thread.join()

    def run_writer(self, number):
        try:
            while not self.is_ending:
                self.run_process(number)
        except Exception as error:
            self.failure = error
            self.has_failed.set()

    def run_process(self, number):
        """What a process of the application does until the application restarts."""
        restarts = self.restarts
        library = SnowflakeLibrary(number, self.clock.now)
        while not self.is_ending and self.restarts == restarts:
            try:
                if self.server:
                    with contextlib.closing(self.server.connect()) as connection, connection.cursor() as cursor:
                        while not self.is_ending and self.restarts == restarts:
                            self.insert_everywhere(cursor, library)
            except psycopg2.Error as error:
                # The server has ended, or is starting
                if error.pgcode and not error.pgcode.startswith("57"):
                    raise
            time.sleep(ROUND_SECONDS)

    def insert_everywhere(self, cursor, library):
        began = time.monotonic()
        for tally in self.tallies:
            try:
                self.insert(cursor, library, tally)
            except ClockMovedBackwards:
                tally.refuse()
            except psycopg2.errors.ObjectNotInPrerequisiteState as error:
                if "clock moved backwards" not in str(error):
                    raise
                tally.refuse()
        time.sleep(max(0, began + ROUND_SECONDS - time.monotonic()))

    def insert(self, cursor, library, tally):
        highest = tally.begin()
        if tally.generator.expression:
            cursor.execute(f"INSERT INTO {tally.table} (x) SELECT generate_series(1, {ROWS}) RETURNING id")
        else:
            ids = [library.next_id() for _ in range(ROWS)]
            cursor.execute(f"INSERT INTO {tally.table} (id) SELECT unnest(%s) RETURNING id", (ids,))
        tally.receive(highest, [id for id, in cursor.fetchall()])


class Demo:
    def __init__(self, options, folder):
        self.scale = options.seconds / 60
        self.clock = Clock(folder / "clock")
        environment = dict(os.environ, LD_PRELOAD=str(options.clock), CHAOS_CLOCK=str(folder / "clock"), TZ="UTC")
        self.primary, self.standby, self.restored = self.servers = [
            Server(options, folder, name, environment) for name in ("primary", "standby", "restored")]
        self.dump = folder / "dump"

    def say(self, *lines):
        """Prints an event, and when it happens."""
        print(f"{time.monotonic() - self.began:6.1f} s  " + "\n          ".join(lines), flush=True)

    def wait(self, seconds):
        """Waits while the application runs. In a demo of 60 s, the waits take this number of seconds."""
        self.application.has_failed.wait(seconds * self.scale)
        self.check_writers()

    def wait_for_ids(self):
        """Waits until the writers have received more IDs of each of Snowdrift's generators."""
        ours = [tally for tally in self.tallies if tally.generator.is_ours]
        before = [tally.received for tally in ours]
        deadline = time.monotonic() + 60
        while any(tally.received == count for tally, count in zip(ours, before)):
            if time.monotonic() > deadline:
                sys.exit("Snowdrift has issued no IDs for a minute")
            self.application.has_failed.wait(0.02)
            self.check_writers()

    def check_writers(self):
        if self.application.failure:
            sys.exit(f"a writer failed: {self.application.failure}")

    def create_servers(self):
        self.primary.create()
        self.primary.start()
        self.primary.execute("CREATE EXTENSION snowdrift")
        version = self.primary.execute("SHOW server_version_num")
        generators = [each for each in GENERATORS if each.minimum_version <= int(version) // 10000]
        for each in generators:
            if each.setup:
                self.primary.execute(each.setup)
        for each in EXTENSIONS:
            with contextlib.suppress(psycopg2.Error):  # it is not installed
                self.primary.execute(each.setup)
                generators.append(each)
        self.tallies = [Tally(each, f"rows_{number}") for number, each in enumerate(generators)]
        for tally in self.tallies:
            default = f"DEFAULT {tally.generator.expression}" if tally.generator.expression else ""
            # Without a unique index, a repeated ID is counted, and is no error.
            self.primary.execute(f"CREATE TABLE {tally.table} (id {tally.generator.type} {default}, x int)")
        self.standby.create_standby_of(self.primary)
        self.standby.start()
        self.restored.create()
        self.restored.start()

    def run(self):
        self.application = Application(self.tallies, self.clock)
        self.began = time.monotonic()
        self.say(f"{WRITERS} writers insert rows with IDs of {len(self.tallies)} generators, {ROWS} rows per statement")
        self.application.start(self.primary)
        self.wait(10)
        self.crash()
        self.wait(12)
        self.fail_over()
        self.wait(8)
        self.take_dump()
        self.wait(6)
        self.restore_dump()
        self.wait(8)
        self.set_clock_back()
        self.application.end()
        self.check_writers()

    def crash(self):
        self.say("kill -9 of all processes of the server")
        self.primary.kill()
        self.primary.start()
        self.wait_for_ids()
        self.say("the server has recovered, and the writers continue")

    def fail_over(self):
        self.say("the standby loses its connection to the primary; replication is asynchronous")
        self.standby.execute("ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
        self.standby.wait_until("SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
        time.sleep(0.5)
        position = self.primary.execute("SELECT pg_current_wal_flush_lsn()")
        self.application.server = None
        self.primary.kill()
        lost = self.standby.execute(f"SELECT '{position}' - pg_last_wal_receive_lsn()")
        self.standby.run("pg_ctl", "-D", self.standby.data, "-w", "promote")
        self.application.server = self.standby
        self.wait_for_ids()
        self.say("half a second later, the primary is killed with kill -9, and the standby is promoted;",
                 f"it lacks the last {lost / 1024:,.0f} kB of the WAL")

    def take_dump(self):
        self.dump_time = time.monotonic()
        self.standby.run("pg_dump", "-d", self.standby.conninfo, "-f", self.dump)
        self.say("pg_dump of the new primary")

    def restore_dump(self):
        self.application.server = None
        self.standby.kill()
        age = time.monotonic() - self.dump_time
        self.say("kill -9 of the new primary; the dump is restored on a new server")
        self.restored.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.restored.conninfo, "-f", self.dump)
        self.application.server = self.restored
        self.wait_for_ids()
        self.say(f"the writers continue there, without the rows of the last {age:.1f} s;",
                 "Snowdrift needs no further step, because the old server is gone")

    def set_clock_back(self):
        self.say("the clock is set back by two minutes, for the server and for the application")
        self.clock.set_lead(-STEP_SECONDS)
        self.wait(3)
        self.restored.execute("LOAD 'snowdrift'", "ALTER SYSTEM SET snowdrift.max_clock_lead = '5min'",
                              "SELECT pg_reload_conf()")
        self.wait_for_ids()
        self.say("Snowdrift refuses: its last ID is ahead of the clock by more than max_clock_lead, 60 s;",
                 "the setting is raised to 5min, and Snowdrift continues after its last ID")
        self.wait(4)
        self.restored.kill()
        self.application.restarts += 1
        self.restored.start()
        self.wait_for_ids()
        self.say("kill -9 of the server and of the application: all states in memory are lost, also that of",
                 "the Snowflake library, which has refused, too; the writers continue")
        self.wait(2)
        # The first seconds of the demo again
        self.clock.set_lead(self.began - time.monotonic() + self.scale)
        self.say("the clock is set ahead to the times of the first IDs, instead of waiting "
                 f"{self.clock.lead + STEP_SECONDS:.0f} s")
        self.wait(7)

    def stop_servers(self):
        for server in self.servers:
            server.stop()


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--bindir", type=pathlib.Path, required=True, help="the folder of PostgreSQL's programs")
    parser.add_argument("--conf", type=pathlib.Path, required=True, help="the lines with which servers find Snowdrift")
    parser.add_argument("--clock", type=pathlib.Path, required=True, help="the library of the clock, for LD_PRELOAD")
    return parser.parse_args()


def main():
    options = parse_options()
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]  # the settings of the caller's clients
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="faults."))
    demo = None
    try:
        demo = Demo(options, folder)
        demo.create_servers()
        demo.run()
    finally:
        if demo:
            demo.stop_servers()
        shutil.rmtree(folder)
    print(LEGEND)
    print(*table(demo.tallies), sep="\n")
    sentence, passed, failed = conclusion(demo.tallies)
    print(f"\n{sentence}\n{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
