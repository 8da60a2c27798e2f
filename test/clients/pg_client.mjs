// npm: pg@8
import assert from 'node:assert';
import { report } from '../../../../test/clients/report.mjs';

// docs/clients.md: node-postgres

report('pg', { id, order, many, recent, ids });

await assert.rejects(client.query('INSERT INTO orders (id) VALUES ($1)', [anHourAgo]), { code: '22P02' });
console.log('ok a Date is not an ID');
await client.end();
