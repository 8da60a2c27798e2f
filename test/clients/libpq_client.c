// requires: gcc libpq-dev
#include <stdio.h>
#include <time.h>

#include <libpq-fe.h>

static void print_bodies(const char *label, const PGresult *rows) {
    printf("%s ", label);
    for (int row = 0; row < PQntuples(rows); row++) printf("%s%s", row ? "," : "", PQgetvalue(rows, row, 1));
    printf("\n");
}

int main(void) {
// docs/clients.md: libpq
    printf("version %d\n", PQlibVersion() / 10000);
    printf("id %s\n", id);
    print_bodies("one", order);
    print_bodies("many", many);
    print_bodies("recent", recent);
    const char *ids = PQgetvalue(array, 0, 0);
    printf("ids %.*s\n", PQgetlength(array, 0, 0) - 2, ids + 1);
    PQfinish(connection);
}
