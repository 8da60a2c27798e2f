// npm: knex@3 pg@8
import { report, reportSnowflakes } from '../../../../test/clients/report.mjs';

// docs/clients.md: Knex
await db.raw('SELECT seed()');

// docs/clients.md: Knex

report('knex', { id, order, many, recent, ids });

// docs/clients.md: Knex
await db.raw('SELECT seed_invoices()');

// docs/clients.md: Knex

reportSnowflakes({ invoiceId, invoice, manyInvoices, recentInvoices, json });
await db.destroy();
