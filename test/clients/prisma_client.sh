# npm: prisma@7 @prisma/client@7 @prisma/adapter-pg@7 pg@8
cat >schema.prisma <<'SCHEMA'
// docs/clients.md: Prisma

model Own {
  id String @id @db.Uuid

  @@map("own")
}
SCHEMA
psql -q -v ON_ERROR_STOP=1 -o /dev/null <<'SQL'
-- docs/clients.md: Prisma
SELECT seed();
CREATE TABLE own (id uuid PRIMARY KEY);
SQL
cat >program.mjs <<'PROGRAM'
import assert from 'node:assert';

import { report, reportSnowflakes } from '../../../../test/clients/report.mjs';

// docs/clients.md: Prisma

report('@prisma/client', { id, order, many, recent, ids });

const replaced = { id: '01ARZ3NDEKTSV4RRFFQ69G5FA0', body: 'replaced', related: [] };
const first = await prisma.order.create({ data: { body: 'first', related: [id, order.id], replaces: { create: replaced } } });
assert.deepStrictEqual(first.related, [id, order.id]);
const found = await prisma.order.findFirst({ where: { replaces: { body: 'replaced' }, related: { has: id } },
  include: { replaces: true } });
assert.deepStrictEqual(found, { ...first, replaces: { ...replaced, replacesId: null } });
console.log('ok relations and arrays of IDs are written, found and read');
await prisma.order.update({ where: { id: first.id }, data: { related: { push: replaced.id } } });
assert.deepStrictEqual((await prisma.order.findMany({ where: { related: { hasEvery: [id, replaced.id] } } }))[0].related,
  [id, order.id, replaced.id]);
await prisma.order.update({ where: { id: first.id }, data: { related: [] } });
await pool.query('UPDATE orders SET related = NULL WHERE id = $1', [replaced.id]);
assert.deepStrictEqual((await prisma.order.findMany({ where: { id: { in: [first.id, replaced.id] } } }))
  .map(({ related }) => related), [[], []]);
console.log('ok arrays of IDs grow, and can be empty or null');
for (const model of [prisma.order, prisma.own]) {
  await assert.rejects(model.findUnique({ where: { id: 'garbage' } }), { code: 'P2007' });
}
console.log('ok a malformed ID raises P2007, as for a uuid');
const withoutParser = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
await assert.rejects(withoutParser.order.create({ data: { body: 'unparsed', related: [id] } }), /e\.map is not a function/);
await withoutParser.$disconnect();
const { rowCount: deleted } = await pool.query("DELETE FROM orders WHERE body = 'unparsed'");
assert.strictEqual(deleted, 1);
console.log('ok without the parser, create() rejects after it has inserted the row');
await prisma.order.createMany({ data: [{ body: 'seed' }, { ...replaced, id: '01ARZ3NDEKTSV4RRFFQ69G5FA1', body: 'seed' }] });
await prisma.$transaction([prisma.order.create({ data: { body: 'seed' } }),
  prisma.order.upsert({ where: { id: '01ARZ3NDEKTSV4RRFFQ69G5FA2' }, create: { body: 'seed' }, update: {} })]);
assert.strictEqual((await prisma.order.deleteMany({ where: { body: 'seed' } })).count, 4);
console.log('ok a seed inserts rows with and without IDs');
await prisma.order.delete({ where: { id: first.id } });
await prisma.order.delete({ where: { id: replaced.id } });

await prisma.$executeRaw`CREATE TABLE invoices (id bigint PRIMARY KEY DEFAULT next_snowflake(), body text)`;
await prisma.$queryRaw`SELECT seed_invoices()::text`;
assert.throws(() => JSON.stringify({ id: 1n }), new TypeError('Do not know how to serialize a BigInt'));
console.log('ok JSON.stringify() raises an error for a BigInt');

PROGRAM
cat >>schema.prisma <<'SCHEMA'

// docs/clients.md: Prisma

model Converted {
  id   Int     @id @default(autoincrement())
  body String?

  @@map("converted")
}
SCHEMA
cat >>program.mjs <<'PROGRAM'
// docs/clients.md: Prisma

reportSnowflakes({ invoiceId, invoice, manyInvoices, recentInvoices, json });

await prisma.$executeRaw`CREATE TABLE converted (id serial PRIMARY KEY, body text)`;
await prisma.$queryRaw`SELECT snowdrift.convert_column('converted', 'id')`;
await assert.rejects(prisma.converted.create({ data: { body: 'hello' } }), { code: 'P2023' });
assert.strictEqual((await prisma.$queryRaw`SELECT FROM converted`).length, 1);
console.log('ok after a conversion, Int raises an error, and create() has inserted the row');
PROGRAM
psql -q -v ON_ERROR_STOP=1 <<'SQL'
CREATE TABLE "User" ("id" SERIAL NOT NULL, CONSTRAINT "User_pkey" PRIMARY KEY ("id"));
CREATE TABLE "Post" ("id" SERIAL NOT NULL, "authorId" INTEGER NOT NULL, CONSTRAINT "Post_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "Post_authorId_fkey" FOREIGN KEY ("authorId") REFERENCES "User" ("id") ON UPDATE CASCADE ON DELETE RESTRICT);
INSERT INTO "User" DEFAULT VALUES;
INSERT INTO "Post" ("authorId") VALUES (1);
SQL
cat >>schema.prisma <<'SCHEMA'

// docs/clients.md: Prisma
SCHEMA
cat >convert.sql <<'SQL'
-- docs/clients.md: Prisma
SQL
rm -f report    # of a run that was interrupted
mkfifo report
psql -qAt <report >report.out &
exec 3>report
echo "BEGIN; LOCK TABLE \"User\" IN ACCESS SHARE MODE; SELECT 'locked';" >&3
until grep -q locked report.out; do sleep 0.1; done
psql -q -v ON_ERROR_STOP=1 -v VERBOSITY=sqlstate -o /dev/null -f convert.sql 2>&1 | grep -q 55P03
echo 'ok while a report reads a table, the conversion gives up'
exec 3>&-
wait
psql -q -v ON_ERROR_STOP=1 -o /dev/null -f convert.sql
cat >>program.mjs <<'PROGRAM'

const post = await prisma.post.create({ data: { author: { create: {} } } });
assert.ok(post.id > 2n ** 53n && post.authorId > 2n ** 53n);
assert.strictEqual((await prisma.post.findUnique({ where: { id: 1n } })).authorId, 1n);
console.log('ok converted models find old rows, and new rows get Snowflakes');
await prisma.$disconnect();
PROGRAM
# "prisma generate" downloads this program unless it is set, but does not use it.
PRISMA_SCHEMA_ENGINE_BINARY=/bin/true npx prisma generate --schema schema.prisma
DATABASE_URL="postgresql://$PGUSER@localhost/$PGDATABASE?host=$PGHOST" node program.mjs
