// npm: sequelize@6 pg@8
import { report, reportSnowflakes } from '../../../../test/clients/report.mjs';

const connection = { host: process.env.PGHOST, username: process.env.PGUSER, database: process.env.PGDATABASE,
  logging: false };
// docs/clients.md: Sequelize
await sequelize.query('SELECT seed()');

// docs/clients.md: Sequelize

report('sequelize', { id, order, many, recent, ids });

// docs/clients.md: Sequelize
await sequelize.query('SELECT seed_invoices()');

// docs/clients.md: Sequelize

reportSnowflakes({ invoiceId, invoice, manyInvoices, recentInvoices, json });
await sequelize.close();
