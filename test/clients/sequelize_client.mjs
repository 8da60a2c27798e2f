// npm: sequelize@6 pg@8
import { report } from '../../../../test/clients/report.mjs';

const connection = { host: process.env.PGHOST, username: process.env.PGUSER, database: process.env.PGDATABASE,
  logging: false };
// docs/clients.md: Sequelize
await sequelize.query('SELECT seed()');

// docs/clients.md: Sequelize

report('sequelize', { id, order, many, recent, ids });
await sequelize.close();
