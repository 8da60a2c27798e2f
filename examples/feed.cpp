// g++ -std=c++20 -I include examples/feed.cpp $(pkg-config --cflags --libs libpqxx) -o feed
// ./feed
//
// Reads new rows below the watermark, with libpqxx, so that a row that is committed late is not
// missed: docs/feeds.md explains it. `./dev psql` starts a server, and prints how this program
// connects to it.
#include <snowdrift/pqxx.hpp>

#include <exception>
#include <iostream>
#include <pqxx/pqxx>
#include <string>

using snowdrift::Ulid;

/// Executes a statement with parameters, as the version of libpqxx requires.
template <typename... Parameters>
pqxx::result execute(pqxx::work& work, const std::string& statement, const Parameters&... values) {
#if PQXX_VERSION_MAJOR >= 7
    return work.exec(statement, pqxx::params{values...});
#else
    return work.exec_params(statement, values...);
#endif
}

/// Prints the rows after `last` that are below the watermark, and moves `last` to the last of them.
/// Returns their number.
int read_new_rows(pqxx::connection& connection, Ulid& last) {
    pqxx::work work{connection};
    const auto rows = execute(work,
                              "SELECT id, body FROM example_events "
                              "WHERE id > $1 AND id < ulid_watermark() ORDER BY id LIMIT 1000",
                              last);
    for (const auto& row : rows) {
        last = row[0].as<Ulid>();
        std::cout << "read " << row[1].c_str() << '\n';
    }
    work.commit();  // a program stores `last` in this transaction: see docs/feeds.md
    return static_cast<int>(rows.size());
}

int main() try {
    pqxx::connection first, second, reader;  // to the server in PGHOST
    {
        pqxx::work work{reader};
        work.exec("DROP TABLE IF EXISTS example_events");
        work.exec(
            "CREATE TABLE example_events (id ulid PRIMARY KEY DEFAULT next_ulid(), body text)");
        work.commit();
    }

    // The first transaction draws its ID first, and commits last.
    pqxx::work early{first};
    early.exec("INSERT INTO example_events (body) VALUES ('drawn first, committed last')");
    pqxx::work late{second};
    late.exec("INSERT INTO example_events (body) VALUES ('drawn last, committed first')");
    late.commit();

    Ulid last{};
    const int before = read_new_rows(reader, last);
    std::cout << before << " rows while the first transaction is open\n";
    early.commit();
    int after = 0;
    while (after < 2) after += read_new_rows(reader, last);

    pqxx::work work{reader};
    work.exec("DROP TABLE example_events");
    work.commit();
    return before == 0 ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
