# The generators that ./dev demo faults compares: Snowdrift's, PostgreSQL's own, what people write themselves, and other
# extensions where they are installed.
import time
from dataclasses import dataclass

# The function of Instagram's article "Sharding & IDs at Instagram", with its names, epoch and shard
INSTAGRAM = """
CREATE SCHEMA insta5;
CREATE SEQUENCE insta5.table_id_seq;
CREATE FUNCTION insta5.next_id(OUT result bigint) AS $$
DECLARE
    our_epoch bigint := 1314220021721;
    seq_id bigint;
    now_millis bigint;
    shard_id int := 5;
BEGIN
    SELECT nextval('insta5.table_id_seq') % 1024 INTO seq_id;
    SELECT FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) INTO now_millis;
    result := (now_millis - our_epoch) << 23;
    result := result | (shard_id << 10);
    result := result | (seq_id);
END;
$$ LANGUAGE PLPGSQL;
"""


@dataclass(frozen=True)
class Generator:
    name: str
    expression: str = ""  # the default of the key; without one, the application generates the IDs
    type: str = "bigint"
    setup: str = ""
    is_ours: bool = False
    minimum_version: int = 0


GENERATORS = (
    Generator("next_snowflake()", "next_snowflake()", is_ours=True),
    Generator("next_ulid()", "next_ulid()", "ulid", is_ours=True),
    Generator("next_uuidv7()", "next_uuidv7()", "uuid", is_ours=True),
    Generator("uuidv7() of PostgreSQL 18", "uuidv7()", "uuid", minimum_version=18),
    Generator("nextval() of a sequence", "nextval('numbers')", setup="CREATE SEQUENCE numbers"),
    Generator("Instagram's PL/pgSQL function", "insta5.next_id()", setup=INSTAGRAM),
    Generator("a Snowflake library"),
)

# The table shows an extension only if its setup succeeds. Each is in a schema of its own, because names and types of
# some are equal to Snowdrift's. pgEdge's needs the setting snowflake.node, which the servers have.
EXTENSIONS = (
    Generator("gen_ulid() of pgx_ulid", "peer_pgx_ulid.gen_ulid()", "peer_pgx_ulid.ulid",
              "CREATE SCHEMA peer_pgx_ulid; CREATE EXTENSION pgx_ulid SCHEMA peer_pgx_ulid"),
    Generator("gen_ulid() of pg-ulid", "peer_ulid.gen_ulid()", "peer_ulid.ulid",
              "CREATE SCHEMA peer_ulid; CREATE EXTENSION ulid SCHEMA peer_ulid"),
    Generator("uuid_generate_v7() of pg_uuidv7", "peer_uuidv7.uuid_generate_v7()", "uuid",
              "CREATE SCHEMA peer_uuidv7; CREATE EXTENSION pg_uuidv7 SCHEMA peer_uuidv7"),
    Generator("pgEdge snowflake", "snowflake.nextval('pgedge_numbers')", "bigint",
              "CREATE SCHEMA snowflake; CREATE EXTENSION snowflake SCHEMA snowflake; CREATE SEQUENCE pgedge_numbers"),
)


class ClockMovedBackwards(Exception):
    pass


class SnowflakeLibrary:
    """A Snowflake generator in a process of an application, with a worker number that no other process has.

    It does what IdWorker of Twitter's Snowflake does, the model of most libraries: its state is in memory, and it
    raises an error while the clock is behind its last ID."""

    EPOCH_MS = 1288834974657  # Twitter's

    def __init__(self, worker, clock):
        self.worker = worker
        self.clock = clock  # the time in seconds
        self.last_ms = -1
        self.sequence = 0

    def next_id(self):
        now_ms = self.now_ms()
        if now_ms < self.last_ms:
            raise ClockMovedBackwards
        if now_ms == self.last_ms:
            self.sequence = (self.sequence + 1) & 4095
            if self.sequence == 0:
                now_ms = self.wait_for_next_ms()
        else:
            self.sequence = 0
        self.last_ms = now_ms
        return (now_ms - self.EPOCH_MS) << 22 | self.worker << 12 | self.sequence

    def now_ms(self):
        return int(self.clock() * 1000)

    def wait_for_next_ms(self):
        while (now_ms := self.now_ms()) <= self.last_ms:
            time.sleep(0.0001)
        return now_ms
