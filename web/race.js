'use strict';
// Recorded by record_race.py. Each row: seconds, rows committed, read by id > $1, missed by it, read by read_new
const RACE = {
  text: "8 sessions insert rows for 10 s, and commit after up to 0.7 s. A reader that continues at the greatest ID it has seen never returns to rows that are committed later. snowdrift.read_new() returns them all, once the transactions before them have ended.",
  source: "Recorded by web/record_race.py on PostgreSQL 15 on 2026-11-29. After the writers have stopped, both readers run for 2 s.",
  rows: [
    [1, 59, 36, 23, 41],
    [2, 105, 59, 46, 93],
    [3, 154, 84, 70, 138],
    [4, 230, 129, 101, 218],
    [5, 283, 157, 126, 258],
    [6, 318, 174, 144, 316],
    [7, 368, 201, 167, 347],
    [8, 419, 228, 191, 404],
    [9, 483, 264, 219, 450],
    [10, 542, 299, 243, 516],
    [11, 550, 301, 249, 550],
    [12, 550, 301, 249, 550],
  ],
};
