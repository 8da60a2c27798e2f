// npm: typeorm@1 pg@8
import assert from 'node:assert';

import { report, reportSnowflakes } from '../../../../test/clients/report.mjs';

const connection = { host: process.env.PGHOST, username: process.env.PGUSER, database: process.env.PGDATABASE };
// docs/clients.md: TypeORM
await dataSource.query('SELECT seed()');

// docs/clients.md: TypeORM

report('typeorm', { id, order, many, recent, ids });

// docs/clients.md: TypeORM
await invoicesSource.query('SELECT seed_invoices()');

// docs/clients.md: TypeORM

reportSnowflakes({ invoiceId, invoice, manyInvoices, recentInvoices, json });

// The entity Converted in the state before the conversion. Number is the type of @PrimaryGeneratedColumn().
async function openConverted(options) {
  const entity = new EntitySchema({ name: 'Converted', tableName: 'converted', columns: {
    id: { type: Number, primary: true, generated: true }, body: { type: 'text', nullable: true } } });
  const source = new DataSource({ type: 'postgres', ...connection, entities: [entity], ...options });
  return source.initialize();
}
const idsOfConverted = async () =>
  (await dataSource.query('SELECT id::text FROM converted ORDER BY id')).map((row) => row.id);

await dataSource.query('CREATE TABLE converted (id serial PRIMARY KEY, body text)');
await dataSource.query("SELECT snowdrift.convert_column('converted', 'id')");
await dataSource.query("INSERT INTO converted SELECT make_snowflake('2026-01-01Z', 0, 0, 1)");
const [exact] = await idsOfConverted();
const before = await openConverted();
const [{ id: rounded }] = await before.getRepository('Converted').find();
await before.destroy();
assert.strictEqual(rounded, Number(exact));
assert.notStrictEqual(BigInt(rounded), BigInt(exact));
console.log('ok @PrimaryGeneratedColumn() rounds IDs after a conversion');

await (await openConverted({ synchronize: true })).destroy();
assert.deepStrictEqual(await idsOfConverted(), ['1']);
console.log('ok synchronize replaces the IDs with numbers from a sequence if the entity is unchanged');

await dataSource.destroy();
await invoicesSource.destroy();
