// npm: pg@8
import assert from 'node:assert';
import pg from 'pg';

const client = new pg.Client();
await client.connect();

// read TABLE, NAME: three pages of at most two rows, each after the last row of the previous one
async function read(table, name) {
  const text = `SELECT id, body FROM snowdrift.read_new(NULL::${table}, after => $1, max => 2)`;
  const pages = [];
  let last = null;
  for (let i = 0; i < 3; i++) {
    const { rows } = await client.query({ name, text, values: [last] });
    pages.push(rows.map((row) => row.body).join(','));
    if (rows.length > 0) last = rows.at(-1).id;
  }
  return pages.join('|');
}

for (const table of process.env.TABLES.split(' ')) {
  for (const [way, name] of [['not prepared'], ['prepared', `new_${table}`]]) {
    let pages;
    for (let i = 0; i < 4; i++) pages = await read(table, name).catch((error) => error.code);    // also with a generic plan
    console.log(`${table}, ${way}: ${pages}`);
    if (!name || pages === '55000') continue;
    const { rows: [statement] } = await client.query(
      'SELECT generic_plans > 0 AS is_generic FROM pg_prepared_statements WHERE name = $1', [name]);
    assert(statement.is_generic);
  }
}
await client.end();
