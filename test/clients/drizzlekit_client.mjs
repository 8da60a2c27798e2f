// npm: drizzle-orm@0.45 drizzle-kit@0.31 pg@8
// With the filter in docs/clients.md, drizzle-kit plans to drop nothing of either edition. With all schemas, it drops the
// tables of the SQL edition, and the file restores them. There is no recipe.
import assert from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const root = '../../../..';
const [, filter] = readFileSync(`${root}/docs/clients.md`, 'utf8').match(/`schemaFilter: (\[.*?\])`/);
const { PGHOST, PGPORT, PGUSER, PGDATABASE } = process.env;
const edition = `${PGDATABASE}_edition`;
const psql = (database, ...options) => execFileSync('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', database, ...options],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
const install = () => psql(edition, '-o', '/dev/null', '-f', `${root}/sql-edition/snowdrift.sql`);
psql(PGDATABASE, '-c', `CREATE DATABASE ${edition}`);
install();

writeFileSync('schema.mjs', `import { pgTable, bigint } from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';
export const posts = pgTable('posts', { id: bigint('id', { mode: 'bigint' }).primaryKey().default(sql\`next_snowflake()\`) });`);

// push DATABASE, FILTER: what drizzle-kit prints
function push(database, schemaFilter) {
  writeFileSync('config.mjs', `export default { dialect: 'postgresql', schema: './schema.mjs', schemaFilter: ${schemaFilter},
    dbCredentials: { host: '${PGHOST}', port: ${PGPORT}, user: '${PGUSER}', database: '${database}', ssl: false } };`);
  return spawnSync('node', ['../../node_modules/drizzle-kit/bin.cjs', 'push', '--force', '--verbose', '--config', 'config.mjs'],
    { encoding: 'utf8' }).stdout;
}

for (const [name, database] of [['extension', PGDATABASE], ['SQL edition', edition]]) {
  psql(database, '-c', 'CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT next_snowflake())', '-c', 'INSERT INTO posts DEFAULT VALUES');
  assert.match(push(database, filter), /No changes detected/);
  console.log(`ok the filter hides the tables of the ${name}`);
}
assert.match(push(edition, "['public', 'snowdrift', 'snowdrift_tables']"), /DROP SEQUENCE "snowdrift_tables"."state"/);
assert.throws(() => psql(edition, '-c', 'INSERT INTO posts DEFAULT VALUES'));
install();
assert.strictEqual(psql(edition, '-c', 'INSERT INTO posts DEFAULT VALUES RETURNING id > (SELECT max(id) FROM posts)'), 't');
console.log('ok after drizzle-kit has dropped the tables of the SQL edition, the file restores them');
