// npm: postgres@3
import assert from 'node:assert';
import { report } from '../../../../test/clients/report.mjs';

// docs/clients.md: postgres.js

report('postgres', { id, order, many, recent, ids });

await assert.rejects(sql`INSERT INTO orders (id) VALUES (${anHourAgo})`);
console.log('ok a Date is not an ID');
await sql.end();
