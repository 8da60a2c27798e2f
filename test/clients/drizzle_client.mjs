// npm: drizzle-orm@0.45 drizzle-kit@0.31 pg@8
import { report } from '../../../../test/clients/report.mjs';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';

// docs/clients.md: Drizzle
const migration = await generateMigration(generateDrizzleJson({}), generateDrizzleJson({ orders }));
for (const statement of migration) await pool.query(statement);
await pool.query('SELECT seed()');

// docs/clients.md: Drizzle

report('drizzle-orm', { id, order, many, recent, ids });
await pool.end();
