// npm: drizzle-orm@0.45 drizzle-kit@0.31 pg@8
import assert from 'node:assert';

import { report, reportSnowflakes } from '../../../../test/clients/report.mjs';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { integer, serial } from 'drizzle-orm/pg-core';

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
