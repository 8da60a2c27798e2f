// npm: sequelize@6 pg@8
import { report } from '../../../../test/clients/report.mjs';

// docs/clients.md: Sequelize
await sequelize.query('SELECT seed()');

// docs/clients.md: Sequelize

report('sequelize', { id, order, many, recent, ids });
await sequelize.close();
