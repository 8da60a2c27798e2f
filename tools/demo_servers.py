# The throwaway servers of ./dev demo faults, and their clock.
import contextlib
import mmap
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

import psycopg2


class Clock:
    """The clock of the servers and of the application: the true time and a lead, in a file that the servers map."""

    def __init__(self, path):
        path.write_bytes(bytes(8))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 8)
        self.lead = 0

    def set_lead(self, seconds):
        self.lead = seconds
        self.memory[:] = struct.pack("=q", round(seconds * 1e9))

    def now(self):
        return time.time() + self.lead


class Server:
    def __init__(self, options, folder, name, environment):
        self.bindir = options.bindir
        self.folder = folder / name
        self.data = self.folder / "data"
        self.conninfo = f"host={self.folder} port=5432 user=postgres dbname=postgres"
        self.environment = environment
        self.postmaster = None
        self.folder.mkdir()
        self.configuration = f"""
            listen_addresses = ''
            unix_socket_directories = '{self.folder}'
            log_line_prefix = '%m [%p] '
            snowflake.node = 1
            {options.conf.read_text()}"""

    def run(self, program, *arguments):
        result = subprocess.run([self.bindir / program, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            sys.exit(f"{program} failed: {result.stdout}")

    def create(self):
        self.run("initdb", "-D", self.data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-locale",
                 "--no-sync")
        with open(self.data / "postgresql.conf", "a") as file:
            file.write(self.configuration)

    def create_standby_of(self, primary):
        self.run("pg_basebackup", "-D", self.data, "-R", "-c", "fast", "--no-sync", "-d", primary.conninfo)
        with open(self.data / "postgresql.conf", "a") as file:
            file.write(self.configuration)

    def start(self):
        with open(self.folder / "log", "a") as log:
            self.postmaster = subprocess.Popen([self.bindir / "postgres", "-D", self.data], env=self.environment,
                                               stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                               start_new_session=True)
        deadline = time.monotonic() + 60
        while True:
            try:
                return self.connect().close()
            except psycopg2.OperationalError:
                if self.postmaster.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"a server did not start: {(self.folder / 'log').read_text()[-2000:]}")
                time.sleep(0.02)

    def stop(self):
        if self.postmaster and self.postmaster.poll() is None:
            self.postmaster.send_signal(signal.SIGQUIT)
            self.postmaster.send_signal(signal.SIGCONT)  # if kill() was interrupted
            self.postmaster.wait()

    def kill(self):
        """Kills all processes of the server with SIGKILL, and waits until they have ended."""
        self.postmaster.send_signal(signal.SIGSTOP)  # it starts no more processes
        children = children_of(self.postmaster.pid)
        self.postmaster.kill()
        self.postmaster.wait()
        for process in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        while any(parent_and_state(process)[1] not in "ZX" for process in children):
            time.sleep(0.005)

    def connect(self):
        connection = psycopg2.connect(self.conninfo)
        connection.autocommit = True
        return connection

    def execute(self, *statements):
        with contextlib.closing(self.connect()) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchone()[0] if cursor.description else None

    def wait_until(self, query):
        while not self.execute(query):
            time.sleep(0.02)


def parent_and_state(process):
    try:
        # After the name, which may contain spaces
        state, parent = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:2]
        return int(parent), state
    except (FileNotFoundError, ProcessLookupError):
        return 0, "X"


def children_of(parent):
    return [process for process in map(int, filter(str.isdigit, os.listdir("/proc")))
            if parent_and_state(process)[0] == parent]
