// npm: drizzle-orm@0.45 drizzle-kit@0.31 drizzle-seed@0.3 pg@8
import assert from 'node:assert';

import { report, reportSnowflakes } from '../../../../test/clients/report.mjs';
import { generateDrizzleJson, generateMigration, pushSchema } from 'drizzle-kit/api';
import { arrayContains, arrayOverlaps, relations } from 'drizzle-orm';
import { integer, serial, uuid } from 'drizzle-orm/pg-core';
import { seed } from 'drizzle-seed';

// docs/clients.md: Drizzle
const migration = await generateMigration(generateDrizzleJson({}), generateDrizzleJson({ orders }));
for (const statement of migration) await pool.query(statement);
await pool.query('SELECT seed()');

// docs/clients.md: Drizzle

report('drizzle-orm', { id, order, many, recent, ids });

// docs/clients.md: Drizzle
const step = await generateMigration(generateDrizzleJson({ orders }), generateDrizzleJson({ orders, invoices }));
for (const statement of step) await pool.query(statement);
await pool.query('SELECT seed_invoices()');

// docs/clients.md: Drizzle

reportSnowflakes({ invoiceId, invoice, manyInvoices, recentInvoices, json });

const rounded = Number(invoiceId);
for (const [key, read] of [[integer('id'), rounded], [bigint('id', { mode: 'number' }), rounded],
  [serial('id'), String(invoiceId)]]) {
  const [row] = await db.select().from(pgTable('invoices', { id: key })).where(sql`id = ${invoiceId}`);
  assert.strictEqual(row.id, read);
}
console.log('ok integer and the mode number round IDs, and serial returns strings');
await pool.end();

// A purchase has lines, and an array of the type
const purchases = pgTable('purchases', {
  id: ulid('id').primaryKey().default(sql`next_ulid()`),
  related: ulid('related').array(),
});
const lines = pgTable('lines', {
  id: ulid('id').primaryKey().default(sql`next_ulid()`),
  purchaseId: ulid('purchase_id').references(() => purchases.id),
});
const own = pgTable('own', { id: uuid('id').primaryKey() });
const schema = { orders, invoices, purchases, lines, own,
  purchasesRelations: relations(purchases, ({ many }) => ({ lines: many(lines) })),
  linesRelations: relations(lines, ({ one }) => ({
    purchase: one(purchases, { fields: [lines.purchaseId], references: [purchases.id] }) })) };

const newPool = new pg.Pool({ database: process.env.NEW_DATABASE });
const newDb = drizzle(newPool, { schema });
await newPool.query('CREATE EXTENSION snowdrift');
await (await pushSchema(schema, newDb)).apply();
assert.deepStrictEqual((await pushSchema(schema, newDb)).statementsToExecute, []);
console.log('ok a push creates a new database, and another one changes nothing');

const related = [id, '01ARZ3NDEKTSV4RRFFQ69G5FAV'];
const [purchase] = await newDb.insert(purchases).values({ related }).returning();
assert.deepStrictEqual(purchase.related, related);
for (const condition of [arrayContains(purchases.related, [id]), arrayOverlaps(purchases.related, [id])]) {
  assert.deepStrictEqual(await newDb.select().from(purchases).where(condition), [purchase]);
}
console.log('ok arrays of IDs are written, found and read');
const [line] = await newDb.insert(lines).values([{ purchaseId: purchase.id }, {}]).returning();
assert.deepStrictEqual(await newDb.query.lines.findFirst({ with: { purchase: true }, where: eq(lines.id, line.id) }),
  { ...line, purchase });
assert.deepStrictEqual(await newDb.query.purchases.findMany({ with: { lines: true } }), [{ ...purchase, lines: [line] }]);
console.log('ok relations are looked up by the ID');
for (const table of [purchases, own]) {
  await assert.rejects(newDb.select().from(table).where(eq(table.id, 'garbage')), ({ cause }) => cause.code === '22P02');
}
console.log('ok a malformed ID raises 22P02, as for a uuid');

await seed(newDb, { orders }, { count: 3 });
assert.strictEqual((await newDb.select().from(orders).where(sql`ulid_since(id, ${anHourAgo})`)).length, 3);
await seed(newDb, { purchases, lines }, { count: 3 }).refine((f) => ({
  purchases: { columns: { related: f.default({ defaultValue: related }) } },
  lines: { columns: { purchaseId: f.default({ defaultValue: purchase.id }) } } }));
assert.strictEqual((await newDb.select().from(purchases).where(arrayContains(purchases.related, related))).length, 4);
assert.strictEqual((await newDb.select().from(lines).where(eq(lines.purchaseId, purchase.id))).length, 4);
console.log('ok drizzle-seed leaves keys to the default, and is given the values of other columns');
await newPool.end();
