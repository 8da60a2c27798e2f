// npm: kysely@0.28 pg@8
import { report } from '../../../../test/clients/report.mjs';

// docs/clients.md: Kysely
await sql`SELECT seed()`.execute(db);

// docs/clients.md: Kysely

report('kysely', { id, order, many, recent, ids });
await db.destroy();
