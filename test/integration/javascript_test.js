// Snowflakes in JavaScript, with Node.js and the npm package pg: Numbers represent Snowflake-SI IDs exactly,
// unlike IDs of other layouts, whose text forms are exact.
'use strict';

const assert = require('node:assert');
const { after, before, test } = require('node:test');
const pg = require('pg');

const { INT8 } = pg.types.builtins;
const asText = pg.types.getTypeParser(INT8);

let client;

before(async () => {
  client = new pg.Client();
  await client.connect();
  await client.query(`
    CREATE EXTENSION IF NOT EXISTS snowdrift;
    CREATE TEMP TABLE made (kind text, id bigint PRIMARY KEY, shown text GENERATED ALWAYS AS (id::text) STORED);
    SELECT snowdrift.create_generator('javascript', 'snowflake', 'si', worker => 31);
    INSERT INTO made SELECT 'si', next_snowflakes(1000, 'javascript');
    INSERT INTO made SELECT 'first', make_snowflake('2021-01-01Z', 0, 0, 0, 'si');
    INSERT INTO made SELECT 'last', (2::bigint ^ 53 - 1)::bigint;
    INSERT INTO made SELECT 'snowflake', make_snowflake(clock_timestamp(), 1, 1, n)
      FROM generate_series(0, 99) AS n;`);
});

after(async () => {
  await client.query("SELECT snowdrift.drop_generator('javascript')");
  await client.end();
});

// Runs `body` while the driver parses int8 with `parser`. docs/layouts.md sets it for a whole program.
async function reading(parser, body) {
  pg.types.setTypeParser(INT8, parser);
  try {
    await body();
  } finally {
    pg.types.setTypeParser(INT8, asText);
  }
}

async function idsOf(...kinds) {
  return (await client.query('SELECT id, shown FROM made WHERE kind = ANY ($1) ORDER BY id', [kinds])).rows;
}

test('the driver reads a bigint as a string, unless it is told otherwise', async () => {
  for (const { id, shown } of await idsOf('si', 'snowflake')) {
    assert.strictEqual(typeof id, 'string');
    assert.strictEqual(id, shown);
  }
});

test('IDs of the layout si are safe integers, and the same in both directions', async () => {
  await reading(Number, async () => {
    const rows = await idsOf('si', 'first', 'last');
    assert.strictEqual(rows.length, 1002);
    for (const { id, shown } of rows) {
      assert.ok(Number.isSafeInteger(id), `${id} is safe`);
      assert.strictEqual(String(id), shown);
      assert.strictEqual(JSON.stringify({ id }), `{"id":${shown}}`);
      const found = await client.query('SELECT id, shown FROM made WHERE id = $1', [id]);
      assert.deepStrictEqual(found.rows, [{ id, shown }]);
    }
    assert.strictEqual(new Set(rows.map((row) => row.id)).size, rows.length);
    assert.strictEqual(rows.at(-1).id, Number.MAX_SAFE_INTEGER);
  });
});

test('a JSON document carries them, too', async () => {
  const { rows } = await client.query("SELECT jsonb_agg(id ORDER BY id) AS ids FROM made WHERE kind = 'si'");
  assert.deepStrictEqual(rows[0].ids.map(String), (await idsOf('si')).map((row) => row.shown));
});

test('IDs of the default layout lose precision as Numbers', async () => {
  await reading(Number, async () => {
    const rows = await idsOf('snowflake');
    assert.ok(rows.every((row) => !Number.isSafeInteger(row.id)));
    assert.ok(rows.some((row) => BigInt(row.id) !== BigInt(row.shown)), 'some are other IDs');
    assert.ok(new Set(rows.map((row) => row.id)).size < rows.length, 'some have become equal');
  });
  await reading(BigInt, async () => {
    for (const { id, shown } of await idsOf('snowflake')) assert.strictEqual(String(id), shown);
  });
});

// The IDs of docs/snowflake.md: three of one millisecond, as a server generates under load
test('a client that reads a JSON number addresses another row', async () => {
  await client.query(`
    CREATE TEMP TABLE invoices AS SELECT make_snowflake('2026-01-01T12:00:00.021Z', 0, 0, n) AS id, 'row ' || n AS body
      FROM unnest('{1, 2, 16}'::int[]) AS n`);
  const { rows: sent } = await client.query("SELECT json_build_object('id', id)::text AS json FROM invoices ORDER BY id");
  assert.deepStrictEqual(sent.map(({ json }) => json),
    ['{"id" : 661901436606480385}', '{"id" : 661901436606480386}', '{"id" : 661901436606480400}']);
  for (const { json } of sent) {
    const answer = JSON.stringify(JSON.parse(json));
    assert.strictEqual(answer, '{"id":661901436606480400}');
    const found = await client.query("SELECT body FROM invoices WHERE id = ($1::jsonb ->> 'id')::bigint", [answer]);
    assert.deepStrictEqual(found.rows, [{ body: 'row 16' }]);
  }
});

test('JSON.stringify() writes a BigInt as a text only if it is told how', async () => {
  await reading(BigInt, async () => {
    const { rows: [{ id, shown }] } = await client.query("SELECT id, shown FROM made WHERE kind = 'snowflake' LIMIT 1");
    assert.throws(() => JSON.stringify({ id }), new TypeError('Do not know how to serialize a BigInt'));
    BigInt.prototype.toJSON = function () { return this.toString(); };
    try {
      assert.strictEqual(JSON.stringify({ id }), `{"id":"${shown}"}`);
    } finally {
      delete BigInt.prototype.toJSON;
    }
  });
});

test('the text forms of IDs are exact in a JSON document, and sort as the IDs do', async () => {
  const { rows } = await client.query(
    "SELECT jsonb_agg(snowflake_to_text(id) ORDER BY id) AS texts FROM made WHERE kind = 'snowflake'");
  const texts = JSON.parse(JSON.stringify(rows[0].texts));
  assert.deepStrictEqual([...texts].sort(), texts);
  const found = await client.query(
    'SELECT snowflake_from_text(text)::text AS shown FROM unnest($1::text[]) WITH ORDINALITY AS t(text, n) ORDER BY n',
    [texts]);
  assert.deepStrictEqual(found.rows.map((row) => row.shown), (await idsOf('snowflake')).map((row) => row.shown));
});
