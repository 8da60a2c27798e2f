// npm: sequelize@6 pg@8
import assert from 'node:assert';

import pg from 'pg';
import { parseArrays, report, reportSnowflakes } from '../../../../test/clients/report.mjs';

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

// A purchase has lines, and an array of the type
const newSequelize = new Sequelize({ dialect: 'postgres', ...connection, database: process.env.NEW_DATABASE });
const options = { timestamps: false };
const key = { type: 'ulid', primaryKey: true, defaultValue: literal('next_ulid()') };
const Purchase = newSequelize.define('purchase', { id: key, related: 'ulid[]' }, options);
const Line = newSequelize.define('line', { id: key, purchaseId: 'ulid' }, options);
const Own = newSequelize.define('own', { id: { type: DataTypes.UUID, primaryKey: true } }, options);
Purchase.hasMany(Line);
Line.belongsTo(Purchase);
await newSequelize.query('CREATE EXTENSION snowdrift');
await newSequelize.sync();
await newSequelize.sync({ alter: true });
console.log('ok sync() creates a new database, and alters it');

await parseArrays(pg);
const related = [id, '01ARZ3NDEKTSV4RRFFQ69G5FAV'];
const seed = { id: '01ARZ3NDEKTSV4RRFFQ69G5FA0', related };
await newSequelize.getQueryInterface().bulkInsert('purchases', [{ ...seed, related: `{${related}}` }]);
await Purchase.bulkCreate([{}, {}]);
const nested = await Purchase.create({ lines: [{}, {}] }, { include: Line });
assert.strictEqual(new Set((await Purchase.findAll()).map((row) => row.id)).size, 4);
const [found] = await Purchase.findAll({ where: { '$lines.id$': nested.lines[0].id }, include: Line });
assert.strictEqual(found.id, nested.id);
assert.strictEqual((await Line.findByPk(nested.lines[1].id, { include: Purchase })).purchase.id, nested.id);
console.log('ok seeds and nested rows are inserted, and relations are looked up');
const [one] = await Purchase.findAll({ where: literal(':id = ANY (related)'), replacements: { id } });
assert.deepStrictEqual(one.get(), seed);
await assert.rejects(Purchase.findAll({ where: { related: { [Op.contains]: [id] } } }),
  ({ parent }) => parent.code === '42883');
await one.update({ related: related.toReversed() });
assert.deepStrictEqual((await one.reload()).related, related.toReversed());
console.log('ok arrays of IDs are written, found and read');
for (const model of [Purchase, Own]) {
  await assert.rejects(model.findByPk('garbage'), ({ parent }) => parent.code === '22P02');
}
console.log('ok a malformed ID raises 22P02, as for a uuid');
await newSequelize.close();
