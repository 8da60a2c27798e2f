// npm: knex@3 pg@8
import { report } from '../../../../test/clients/report.mjs';

// docs/clients.md: Knex
await db.raw('SELECT seed()');

// docs/clients.md: Knex

report('knex', { id, order, many, recent, ids });
await db.destroy();
