// npm: typeorm@1 pg@8
import { report } from '../../../../test/clients/report.mjs';

const connection = { host: process.env.PGHOST, username: process.env.PGUSER, database: process.env.PGDATABASE };
// docs/clients.md: TypeORM
await dataSource.query('SELECT seed()');

// docs/clients.md: TypeORM

report('typeorm', { id, order, many, recent, ids });
await dataSource.destroy();
