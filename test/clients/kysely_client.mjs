// npm: kysely@0.28 pg@8
import assert from 'node:assert';

import { Migrator } from 'kysely';
import { parseArrays, report, reportSnowflakes } from '../../../../test/clients/report.mjs';

// docs/clients.md: Kysely
await sql`SELECT seed()`.execute(db);

// docs/clients.md: Kysely

report('kysely', { id, order, many, recent, ids });

// docs/clients.md: Kysely
await sql`SELECT seed_invoices()`.execute(db);

// docs/clients.md: Kysely

reportSnowflakes({ invoiceId, invoice, manyInvoices, recentInvoices, json });
await db.destroy();

// A purchase has lines, and an array of the type
const migration = {
  async up(db) {
    await sql`CREATE EXTENSION IF NOT EXISTS snowdrift`.execute(db);
    for (const name of ['purchases', 'lines']) {
      await db.schema.createTable(name)
        .addColumn('id', sql`ulid`, (column) => column.primaryKey().defaultTo(sql`next_ulid()`))
        .addColumn('related', sql`ulid[]`)
        .addColumn('purchase_id', sql`ulid`, (column) => column.references('purchases.id'))
        .execute();
    }
    await db.schema.createTable('own').addColumn('id', 'uuid', (column) => column.primaryKey()).execute();
  },
};
const newDb = new Kysely({ dialect: new PostgresDialect({
  pool: new pg.Pool({ database: process.env.NEW_DATABASE }) }) });
const migrator = new Migrator({ db: newDb, provider: { getMigrations: async () => ({ first: migration }) } });
assert.strictEqual((await migrator.migrateToLatest()).results[0].status, 'Success');
console.log('ok a migration creates a new database');

await parseArrays(pg);
const related = [id, '01ARZ3NDEKTSV4RRFFQ69G5FAV'];
const purchase = await newDb.insertInto('purchases').values({ related }).returningAll().executeTakeFirstOrThrow();
assert.deepStrictEqual(purchase.related, related);
assert.deepStrictEqual(await newDb.selectFrom('purchases').selectAll()
  .where(sql`${id} = ANY (related)`).execute(), [purchase]);
console.log('ok arrays of IDs are written, found and read');
await newDb.insertInto('lines').values({ purchase_id: purchase.id }).execute();
assert.deepStrictEqual(await newDb.selectFrom('lines').innerJoin('purchases', 'lines.purchase_id', 'purchases.id')
  .select('purchases.id').execute(), [{ id: purchase.id }]);
console.log('ok a relation is looked up by the ID');
for (const table of ['purchases', 'own']) {
  await assert.rejects(newDb.selectFrom(table).selectAll().where('id', '=', 'garbage').execute(), { code: '22P02' });
}
console.log('ok a malformed ID raises 22P02, as for a uuid');
await newDb.destroy();
