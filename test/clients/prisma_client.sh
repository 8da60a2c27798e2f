# npm: prisma@7 @prisma/client@7 @prisma/adapter-pg@7
cat >schema.prisma <<'SCHEMA'
// docs/clients.md: Prisma
SCHEMA
cat >program.mjs <<'PROGRAM'
import assert from 'node:assert';

import { report, reportSnowflakes } from '../../../../test/clients/report.mjs';

// docs/clients.md: Prisma

report('@prisma/client', { id, order, many, recent, ids });

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
psql -q -v ON_ERROR_STOP=1 -o /dev/null <<'SQL'
-- docs/clients.md: Prisma
SQL
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
