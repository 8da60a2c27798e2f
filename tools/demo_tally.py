# What ./dev demo faults counts: the IDs of a generator that the writers receive. And the table of the results.
import threading


class Tally:
    """The IDs of one generator. A writer calls begin() before its statement, and receive() when it has the IDs."""

    def __init__(self, generator, table):
        self.generator = generator
        self.table = table
        self.received = self.repeated = self.out_of_order = self.refused = 0
        self._seen = set()
        self._highest = None
        self._lock = threading.Lock()

    def begin(self):
        """Returns the highest ID that any writer has received."""
        with self._lock:
            return self._highest

    def receive(self, highest_before, ids):
        with self._lock:
            for id in ids:
                self.received += 1
                if id in self._seen:
                    self.repeated += 1
                self._seen.add(id)
                if highest_before is not None and id < highest_before:
                    self.out_of_order += 1
                if self._highest is None or id > self._highest:
                    self._highest = id

    def refuse(self):
        with self._lock:
            self.refused += 1


LEGEND = """
IDs received     every ID that a writer received, including IDs whose rows were lost in the failover
                 or the restore
repeated         IDs that a writer had already received from the same generator
out of order     IDs smaller than one of the same generator that a writer had received before the
                 statement was sent
inserts refused  inserts that failed because the clock was too far behind the last ID; failures to
                 reach a server are not counted
"""


def table(tallies):
    """The lines of the table."""
    yield f"{'generator':<32}{'IDs received':>14}{'repeated':>12}{'out of order':>15}{'inserts refused':>17}"
    for tally in tallies:
        yield (f"{tally.generator.name:<32}{tally.received:>14,}{tally.repeated:>12,}"
               f"{tally.out_of_order:>15,}{tally.refused:>17,}")


def conclusion(tallies):
    """The sentence that states the result for Snowdrift's generators, and how many checks passed and failed: each has
    issued IDs, none of which was repeated, and none out of order."""
    ours = [tally for tally in tallies if tally.generator.is_ours]
    received, repeated, out_of_order = (
        sum(getattr(tally, name) for tally in ours) for name in ("received", "repeated", "out_of_order"))
    sentence = f"Snowdrift: {received:,} IDs received, {repeated:,} repeated, {out_of_order:,} out of order."
    silent = [tally.generator.name for tally in ours if not tally.received]
    if silent:
        sentence += f" The writers received none from {', '.join(silent)}."
    failed = len(silent) + sum(bool(tally.repeated) + bool(tally.out_of_order) for tally in ours)
    return sentence, 3 * len(ours) - failed, failed
