// npm: kysely@0.28 pg@8
import { report, reportSnowflakes } from '../../../../test/clients/report.mjs';

// docs/clients.md: Kysely
await sql`SELECT seed()`.execute(db);

// docs/clients.md: Kysely

report('kysely', { id, order, many, recent, ids });

// docs/clients.md: Kysely
await sql`SELECT seed_invoices()`.execute(db);

// docs/clients.md: Kysely

reportSnowflakes({ invoiceId, invoice, manyInvoices, recentInvoices, json });
await db.destroy();
