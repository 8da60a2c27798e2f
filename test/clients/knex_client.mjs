// npm: knex@3 pg@8
import assert from 'node:assert';

import pg from 'pg';
import { parseArrays, report, reportSnowflakes } from '../../../../test/clients/report.mjs';

// docs/clients.md: Knex
await db.raw('SELECT seed()');

// docs/clients.md: Knex

report('knex', { id, order, many, recent, ids });

// docs/clients.md: Knex
await db.raw('SELECT seed_invoices()');

// docs/clients.md: Knex

reportSnowflakes({ invoiceId, invoice, manyInvoices, recentInvoices, json });
await db.destroy();

// A purchase has lines, and an array of the type
const migration = {
  async up(db) {
    await db.raw('CREATE EXTENSION IF NOT EXISTS snowdrift');
    for (const name of ['purchases', 'lines']) {
      await db.schema.createTable(name, (table) => {
        table.specificType('id', 'ulid').primary().defaultTo(db.raw('next_ulid()'));
        table.specificType('related', 'ulid[]');
        table.specificType('purchase_id', 'ulid').references('purchases.id');
      });
    }
    await db.schema.createTable('own', (table) => table.uuid('id').primary());
  },
  async down() {},
};
const newDb = knex({ client: 'pg', connection: { database: process.env.NEW_DATABASE } });
await newDb.migrate.latest({ migrationSource: {
  getMigrations: async () => ['first'], getMigrationName: (name) => name, getMigration: async () => migration } });
console.log('ok a migration creates a new database');

await parseArrays(pg);
const related = [id, '01ARZ3NDEKTSV4RRFFQ69G5FAV'];
const [purchase] = await newDb('purchases').insert([{ related }, {}]).returning('*');
assert.deepStrictEqual(purchase.related, related);
assert.deepStrictEqual(await newDb('purchases').whereRaw('? = ANY (related)', [id]), [purchase]);
console.log('ok arrays of IDs are written, found and read');
await newDb('lines').insert({ purchase_id: purchase.id });
assert.deepStrictEqual(await newDb('lines').join('purchases', 'lines.purchase_id', 'purchases.id').select('purchases.id'),
  [{ id: purchase.id }]);
console.log('ok a relation is looked up by the ID');
for (const table of ['purchases', 'own']) {
  await assert.rejects(newDb(table).where({ id: 'garbage' }), { code: '22P02' });
}
console.log('ok a malformed ID raises 22P02, as for a uuid');
await newDb.destroy();
