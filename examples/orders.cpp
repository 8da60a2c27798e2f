// g++ -std=c++20 -I include examples/orders.cpp $(pkg-config --cflags --libs libpqxx) -o orders
// ./orders
//
// Inserts and reads rows whose key is a ULID, with libpqxx. `./dev psql` starts a server, and
// prints how this program connects to it.
#include <snowdrift/pqxx.hpp>

#include <chrono>
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

int main() try {
    pqxx::connection connection;  // to the server in PGHOST
    pqxx::work work{connection};
    work.exec(
        "CREATE TEMPORARY TABLE orders (id ulid PRIMARY KEY DEFAULT next_ulid(), total numeric)");

    const auto inserted =
        execute(work, "INSERT INTO orders (total) VALUES ($1), ($2) RETURNING id", 12, 30);
    const auto first = inserted[0][0].as<Ulid>();
    const auto second = inserted[1][0].as<Ulid>();

    const auto found = execute(work, "SELECT total FROM orders WHERE id = $1", second);
    std::cout << "order " << second << ": " << found[0][0].c_str() << '\n';

    // The orders of the last hour, by the primary key's index.
    const Ulid hour_ago = Ulid::boundary(first.time() - std::chrono::hours{1});
    const auto recent = execute(work, "SELECT id FROM orders WHERE id >= $1 ORDER BY id", hour_ago);
    std::cout << recent.size() << " orders of the last hour, the first: " << recent[0][0].as<Ulid>()
              << '\n';
    return recent[0][0].as<Ulid>() == first && first < second ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
