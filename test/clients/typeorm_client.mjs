// npm: typeorm@1 pg@8
import assert from 'node:assert';

import pg from 'pg';
import { parseArrays, report, reportSnowflakes } from '../../../../test/clients/report.mjs';

const connection = { host: process.env.PGHOST, username: process.env.PGUSER, database: process.env.PGDATABASE };
// docs/clients.md: TypeORM
const { ArrayContains } = typeorm;
await dataSource.query('SELECT seed()');

// docs/clients.md: TypeORM

report('typeorm', { id, order, many, recent, ids });

// docs/clients.md: TypeORM
await invoicesSource.query('SELECT seed_invoices()');

// docs/clients.md: TypeORM

reportSnowflakes({ invoiceId, invoice, manyInvoices, recentInvoices, json });

// A purchase has lines, and an array of the type
const key = { type: 'ulid', primary: true, default: () => 'next_ulid()' };
const Purchase = new EntitySchema({ name: 'Purchase', tableName: 'purchases',
  columns: { id: key, related: { type: 'ulid', array: true, nullable: true } },
  relations: { lines: { type: 'one-to-many', target: 'Line', inverseSide: 'purchase', cascade: true } } });
const Line = new EntitySchema({ name: 'Line', tableName: 'lines', columns: { id: key },
  relations: { purchase: { type: 'many-to-one', target: 'Purchase', inverseSide: 'lines' } } });
const Own = new EntitySchema({ name: 'Own', tableName: 'own', columns: { id: { type: 'uuid', primary: true } } });
const newSource = new DataSource({ type: 'postgres', ...connection, database: process.env.NEW_DATABASE,
  entities: [Order, Invoice, Purchase, Line, Own] });
newSource.driver.supportedDataTypes.push('ulid');
await newSource.initialize();
await newSource.query('CREATE EXTENSION snowdrift');
await newSource.synchronize();
assert.deepStrictEqual((await newSource.driver.createSchemaBuilder().log()).upQueries, []);
console.log('ok synchronize creates a new database, and changes nothing in it later');

await parseArrays(pg);
const purchases = newSource.getRepository(Purchase);
const related = [id, '01ARZ3NDEKTSV4RRFFQ69G5FAV'];
const saved = await purchases.save({ id: '01ARZ3NDEKTSV4RRFFQ69G5FA0', related, lines: [{}] });
const [line] = saved.lines;
assert.deepStrictEqual(await purchases.find({ where: { lines: { id: line.id }, related: ArrayContains([id]) },
  relations: { lines: true } }), [saved]);
assert.deepStrictEqual((await newSource.getRepository(Line).findOne({ where: { purchase: { id: saved.id } },
  relations: { purchase: true } })).purchase.related, related);
console.log('ok relations and arrays of IDs are written, found and read');
for (const entity of [Purchase, Own]) {
  await assert.rejects(newSource.getRepository(entity).findOneBy({ id: 'garbage' }), { code: '22P02' });
}
console.log('ok a malformed ID raises 22P02, as for a uuid');
await newSource.destroy();

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
