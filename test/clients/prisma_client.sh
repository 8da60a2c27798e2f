# npm: prisma@7 @prisma/client@7 @prisma/adapter-pg@7
cat >schema.prisma <<'END'
// docs/clients.md: Prisma
END
# "prisma generate" downloads this program unless it is set, but does not use it.
PRISMA_SCHEMA_ENGINE_BINARY=/bin/true npx prisma generate --schema schema.prisma

cat >program.mjs <<'END'
import { report } from '../../../../test/clients/report.mjs';

// docs/clients.md: Prisma

report('@prisma/client', { id, order, many, recent, ids });
await prisma.$disconnect();
END
DATABASE_URL="postgresql://$PGUSER@localhost/$PGDATABASE?host=$PGHOST" node program.mjs
