// npm: @electric-sql/pglite@0.5
// The SQL edition in PGlite, a PostgreSQL that loads no libraries. There is no recipe: this is a test of its own.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';

process.on('uncaughtException', (error) => {    // without PGlite's source, which is one long line
  console.log(error);
  process.exit(1);
});
const root = '../../../..';
const edition = readFileSync(`${root}/sql-edition/snowdrift.sql`, 'utf8');
const { version } = JSON.parse(readFileSync('../../node_modules/@electric-sql/pglite/package.json'));

const db = new PGlite();
const rows = async (sql, parameters) => (await db.query(sql, parameters, { rowMode: 'array' })).rows;
const value = async (sql, parameters) => (await rows(sql, parameters))[0][0];
const plan = async (sql) => (await rows(`EXPLAIN (COSTS off) ${sql}`)).map(([line]) => line.trim());

// vectors FILE: the lines of the file in test/vectors, as arrays of strings
const vectors = (file) => readFileSync(`${root}/test/vectors/${file}`, 'utf8')
  .split('\n').filter((line) => line && !line.startsWith('#')).map((line) => line.split('\t'));

// none WHAT, TABLE, SQL: SQL, which reads the vectors from a table of text columns c1, c2, …, returns those that differ
async function none(what, vectors, sql) {
  assert(vectors.length > 0);
  await db.exec(`DROP TABLE IF EXISTS v; CREATE TABLE v (${vectors[0].map((_, i) => `c${i + 1} text`)})`);
  await db.query(`INSERT INTO v SELECT ${vectors[0].map((_, i) => `r->>${i}`)}
    FROM jsonb_array_elements($1::jsonb) AS r`, [JSON.stringify(vectors)]);
  assert.deepStrictEqual(await rows(sql), []);
  console.log(`ok ${what}: all ${vectors.length}`);
}

// An ordinary role that owns the database installs the edition.
await db.exec('CREATE ROLE app; ALTER DATABASE postgres OWNER TO app; SET ROLE app');
await assert.rejects(db.transaction((tx) => tx.exec(`${edition}; SELECT 1 / 0`)), { code: '22012' });
assert.strictEqual(await value("SELECT count(*)::int FROM pg_namespace WHERE nspname LIKE 'snowdrift%'"), 0);
console.log('ok an installation that fails leaves nothing behind');
await db.transaction((tx) => tx.exec(edition));
assert.strictEqual(await value("SELECT current_setting('is_superuser')"), 'off');
console.log('ok an ordinary role installs the SQL edition in one transaction');
const [[last]] = await rows('SELECT next_snowflake()::text');
await db.exec(edition);
assert(BigInt(await value('SELECT next_snowflake()::text')) > BigInt(last));
console.log('ok a second installation continues the IDs');
const other = new PGlite();
await other.exec(edition);
assert((await other.query('SELECT next_snowflake() AS id')).rows[0].id > 0n);
await other.close();
console.log('ok several statements in one query install it too');

const fields = 'c1 layout, c2::bigint id, to_timestamp(0) + (c3 || \' ms\')::interval t, c4::int d, c5::int w, c6::int s';
const snowflakes = vectors('snowflake_ids.tsv');
await none('Snowflakes decoded', snowflakes, `
  SELECT v.*, p FROM (SELECT ${fields} FROM v) AS v, snowflake_parts(id, layout) AS p
  WHERE (p.timestamp, p.datacenter, p.worker, p.sequence) IS DISTINCT FROM (t, d, w, s)
     OR snowflake_timestamp(id, layout) <> t OR snowflake_datacenter(id, layout) <> d
     OR snowflake_worker(id, layout) <> w OR snowflake_sequence(id, layout) <> s`);
await none('Snowflakes composed', snowflakes, `
  SELECT * FROM (SELECT ${fields} FROM v) AS v WHERE make_snowflake(t, d, w, s, layout) <> id`);
await none('boundaries of Snowflakes', snowflakes, `
  SELECT v.*, b FROM (SELECT ${fields} FROM v) AS v, snowflake_boundary(t, layout) AS b
  WHERE NOT b <= id OR snowflake_timestamp(b, layout) <> t OR b > 0 AND snowflake_timestamp(b - 1, layout) >= t
     OR NOT snowflake_within(id, tstzrange(t, t, '[]'), layout)
     OR snowflake_within(id, tstzrange(NULL, t), layout) OR snowflake_within(id, tstzrange(t, NULL, '()'), layout)`);
await none('text forms of Snowflakes', snowflakes, `
  SELECT * FROM (SELECT ${fields} FROM v) AS v
  WHERE snowflake_from_text(snowflake_to_text(id)) <> id OR snowflake_from_text(lower(snowflake_to_text(id))) <> id
     OR ulid_to_text(lpad(to_hex(id), 32, '0')::uuid) <> lpad(snowflake_to_text(id), 26, '0')`);
await none('UUIDs of version 7', vectors('uuidv7_ids.tsv'), `
  SELECT * FROM (SELECT c1::uuid id, to_timestamp(0) + (c2 || ' ms')::interval t FROM v) AS v
  WHERE uuidv7_timestamp(id) IS DISTINCT FROM t OR uuidv7_boundary(t) > id OR uuidv7_timestamp(uuidv7_boundary(t)) <> t
     OR NOT uuidv7_within(id, tstzrange(t, t, '[]')) OR uuidv7_within(id, tstzrange(t, NULL, '()'))`);
await none('text forms of ULIDs', vectors('ulid_ids.tsv'), `
  SELECT * FROM v WHERE ulid_to_text(c1::uuid) <> c2 OR ulid_to_uuid(c2) <> c1::uuid`);
await none('TypeIDs', vectors('typeid_valid.tsv'), `
  SELECT * FROM v WHERE typeid_to_text(c3, c4::uuid) <> c2 OR typeid_to_uuid(c2) <> c4::uuid OR typeid_prefix(c2) <> c3`);
const seals = vectors('seals.tsv');
for (const key of new Set(seals.map((row) => row[0]))) {
  const ofKey = seals.filter((row) => row[0] === key);
  for (const name of new Set(ofKey.map((row) => row[1])))
    await db.query("SELECT snowdrift.create_seal($1, decode($2, 'hex'))", [name, key]);
  await none('seals of a key', ofKey, `
    SELECT * FROM v WHERE snowflake_seal(c3::bigint, c2) <> c4::uuid OR snowflake_unseal(c4::uuid, c2) <> c3::bigint`);
  await db.query('SELECT snowdrift.drop_seal(name) FROM (SELECT DISTINCT c2 FROM v) AS v(name)');
}
const invalid = vectors('typeid_invalid.tsv');
for (const [name, id] of invalid) {
  await assert.rejects(db.query('SELECT typeid_to_uuid($1)', [id]), { code: '22P02' }, name);
  await assert.rejects(db.query('SELECT typeid_prefix($1)', [id]), { code: '22P02' }, name);
}
console.log(`ok invalid TypeIDs are refused: all ${invalid.length}`);

await db.exec(`
  CREATE TABLE events (id bigint PRIMARY KEY DEFAULT next_snowflake(), uid uuid UNIQUE DEFAULT next_uuidv7(), day int);
  INSERT INTO events SELECT make_snowflake(t, 0, 0, 0), uuidv7_at(t), extract(day FROM t)
  FROM generate_series(timestamptz '2025-01-01Z', '2025-12-31Z', '1 hour') AS t;
  ANALYZE events`);
const [scan, condition] = await plan("SELECT id FROM events WHERE snowflake_within(id, '[2025-05-03Z,2025-05-04Z)')");
assert.match(scan, /^Index Only Scan using events_pkey/);
assert.match(condition, /^Index Cond: \(\(id >= '\d+'::bigint\) AND \(id <= '\d+'::bigint\)\)$/);
assert.strictEqual(await value("SELECT count(*)::int FROM events WHERE snowflake_within(id, '[2025-05-03Z,2025-05-04Z)')"), 24);
console.log('ok snowflake_within is a condition on the index');
const uuid = await plan("SELECT uid FROM events WHERE uuidv7_within(uid, '[2025-05-03Z,2025-05-04Z)')");
assert(uuid.some((line) => /^Index Cond: \(\(uid >= '[-\da-f]+'::uuid\) AND \(uid <= '[-\da-f]+'::uuid\)\)$/.test(line)), uuid);
assert.strictEqual(await value("SELECT count(*)::int FROM events WHERE uuidv7_within(uid, '[2025-05-03Z,2025-05-04Z)')"), 24);
console.log('ok uuidv7_within is a condition on the index');

const before = await value('SELECT clock_timestamp()');
const drawn = (await rows('SELECT next_snowflake()::text FROM generate_series(1, 10000)')).map(([id]) => BigInt(id));
assert(drawn.every((id, i) => i === 0 || id > drawn[i - 1]));
assert(await value('SELECT snowflake_timestamp($1) BETWEEN $2 AND clock_timestamp()', [drawn.at(-1), before]));
console.log('ok next_snowflake() ascends, and its times are those of the clock');
await db.query("SELECT snowdrift.create_generator('orders', 'snowflake', 'sonyflake', worker => 7)");
await assert.rejects(db.query("SELECT snowdrift.create_generator('orders', 'snowflake')"), { code: '42710' });
const named = (await rows("SELECT next_snowflakes(300, 'orders')::text")).map(([id]) => BigInt(id));
assert(named.every((id, i) => i === 0 || id > named[i - 1]));
assert.strictEqual(await value("SELECT snowflake_worker($1, snowdrift.generator_layout('orders'))", [named[0]]), 7);
console.log('ok a named generator has its layout and worker, and waits for the next unit of time');
const [first, second] = (await rows('SELECT next_uuidv7() FROM generate_series(1, 2)')).flat();
assert.notStrictEqual(first, second);
assert(await value('SELECT uuidv7_timestamp($1) = uuidv7_timestamp($2) AND uuidv7_timestamp($1) > $3', [first, second, before]));
console.log('ok next_uuidv7() has one time per statement');
const [row] = await rows('INSERT INTO events (day) VALUES (1) RETURNING id::text, uid');
assert(BigInt(row[0]) > drawn.at(-1) && row[1] > second);
console.log('ok defaults generate both keys');

// Three pages of at most two rows, each after the last row of the previous one
async function readNew(table) {
  const pages = [];
  let last = null;
  for (let i = 0; i < 3; i++) {
    const { rows } = await db.query(
      `SELECT id, body FROM snowdrift.read_new(NULL::${table}, after => $1, max => 2)`, [last]);
    pages.push(rows.map((row) => row.body).join(','));
    if (rows.length > 0) last = rows.at(-1).id;
  }
  return pages.join('|');
}
for (const [table, draw, key] of [
  ['serial', "nextval('serial_id_seq')", 'bigserial'],
  ['identity', "nextval('identity_id_seq')", 'bigint GENERATED ALWAYS AS IDENTITY'],
  ['flakes', 'next_snowflake()'], ['orders', "next_snowflake('orders')"],
]) {
  await db.exec(`CREATE TABLE ${table} (id ${key ?? `bigint DEFAULT ${draw}`} PRIMARY KEY, body text)`);
  await assert.rejects(readNew(table), { code: '55000' });
  await db.exec(`SELECT snowdrift.watch('${table}');
    INSERT INTO ${table} (body) VALUES ('a'), ('b'); INSERT INTO ${table} (body) VALUES ('c')`);
  assert.strictEqual(await readNew(table), 'a,b|c|');
  const insert = `INSERT INTO ${table} OVERRIDING SYSTEM VALUE VALUES`;
  await assert.rejects(db.exec(`${insert} (0, 'missed')`), { code: '55000' });
  await db.transaction(async (tx) => {
    await tx.exec(`SELECT snowdrift.hold('${table}')`);
    const { rows: [{ id }] } = await tx.query(`SELECT ${draw} AS id`);
    await tx.query(`${insert} ($1, 'd')`, [id]);
    const { rows: holders } = await tx.query('SELECT * FROM snowdrift.watermark_holders');
    assert.strictEqual(holders.length, 1);
    const { rows } = await tx.query(`SELECT body FROM snowdrift.read_new(NULL::${table})`);
    assert(rows.every(({ body }) => body !== 'd'));
  });
  assert.strictEqual(await readNew(table), 'a,b|c,d|');
  console.log(`ok new rows are read by ${draw}`);
}
assert.strictEqual(await value("SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'"), 0);
console.log('ok no lock is left');

console.log(`version ${version}`);
await db.close();
