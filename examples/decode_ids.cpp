// g++ -std=c++20 -I include examples/decode_ids.cpp -o decode_ids
// ./decode_ids 01KDVDNA00041061050R3GG28A
//
// Prints the kind, the time and the fields of each ID in the arguments.
#include <chrono>
#include <iostream>
#include <snowdrift/sno.hpp>
#include <snowdrift/snowflake_id.hpp>
#include <snowdrift/ulid.hpp>
#include <snowdrift/utc.hpp>
#include <snowdrift/uuidv7.hpp>
#include <string>
#include <string_view>

using snowdrift::Sno;
using snowdrift::Snowflake;
using snowdrift::Ulid;
using snowdrift::Uuidv7;

std::string utc(snowdrift::Time time) {
    char text[snowdrift::max_utc_text_size];
    return {text, snowdrift::format_utc(time.time_since_epoch().count(), text)};
}

void print_fields(const Ulid&) {}
void print_fields(const Uuidv7&) {}
void print_fields(const Sno& id) {
    std::cout << ", partition " << id.partition() << ", sequence " << id.sequence();
}
void print_fields(const Snowflake& id) {
    std::cout << ", datacenter " << id.datacenter() << ", worker " << id.worker() << ", sequence "
              << id.sequence();
}

/// Returns false if the text is not an ID of this type.
template <typename Id>
bool print(std::string_view text) {
    Id id;
    if (Id::parse(text, id)) return false;  // parse() returns the error, if there is one
    std::cout << Id::name << ' ' << id << ": " << utc(id.time());
    print_fields(id);
    std::cout << '\n';
    return true;
}

int main(int argc, char** argv) {
    int status = 0;
    for (int i = 1; i < argc; ++i) {
        const std::string_view text = argv[i];
        // A text of 16 digits can also be a sno, if it has no 0 and no 1.
        const bool is_known =
            print<Ulid>(text) || print<Uuidv7>(text) || print<Snowflake>(text) || print<Sno>(text);
        if (is_known) continue;
        std::cerr << "not an ID: " << text << '\n';
        status = 1;
    }
    return status;
}
