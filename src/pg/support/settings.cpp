#include "pg/support/settings.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <optional>
#include <string_view>

namespace snowdrift::settings {

Node node{};
GucSource rejected_node_source = PGC_S_DEFAULT;
uint64_t node_version = 1;
int max_clock_lead = 0;

namespace {

using Source = Node::Source;

char* node_text = nullptr;

std::optional<uint32_t> parse_number(std::string_view text) {
    uint32_t number;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (rest != end || error != std::errc{} || number > max_node_number) return std::nullopt;
    return number;
}

/// Parses `prefix`, or `prefix+NUMBER`.
std::optional<Node> parse_source(std::string_view text, std::string_view prefix, Source source) {
    if (!text.starts_with(prefix)) return std::nullopt;
    text.remove_prefix(prefix.size());
    if (text.empty()) return Node{source, 0};
    if (text.front() != '+') return std::nullopt;
    const auto offset = parse_number(text.substr(1));
    if (!offset) return std::nullopt;
    return Node{source, *offset};
}

std::optional<Node> parse_node(std::string_view text) {
    if (text == "auto") return Node{Source::automatic, 0};
    if (const auto number = parse_number(text)) return Node{Source::number, *number};
    if (const auto citus = parse_source(text, "citus", Source::citus)) return citus;
    return parse_source(text, "hostname", Source::hostname);
}

bool check_node(char** text, void** extra, GucSource source) {
    const auto parsed = parse_node(*text);
    if (!parsed) {
        // that of a database or a role, when the session begins
        if (source >= PGC_S_GLOBAL && source <= PGC_S_DATABASE_USER)
            rejected_node_source = std::max(rejected_node_source, source);
        GUC_check_errdetail(
            "Valid values are \"auto\", a number from 0 to %u, \"citus\" and \"hostname\", the "
            "last two optionally with an offset such as \"hostname+100\".",
            max_node_number);
        return false;
    }
    void* const memory = guc_malloc(LOG, sizeof(Node));
    if (memory == nullptr) return false;
    *extra = new (memory) Node{*parsed};
    return true;
}

void assign_node(const char*, void* extra) {
    node = *static_cast<const Node*>(extra);
    ++node_version;
}

/// The source of snowdrift.node in the configuration of the server, the database, the role or the
/// connection. Precondition: there is a parameter, or a placeholder, of that name.
GucSource configured_node_source() { return setting_record("snowdrift.node").reset_source; }

}  // namespace

GucSource node_source() { return setting_record("snowdrift.node").source; }

void define() {
    // A value that was set before the library is loaded is that of a placeholder. It is dropped if
    // it is invalid, or if the role may not set it. A value from SET does not count: without it,
    // the session has the server's number.
    const bool has_placeholder = GetConfigOption("snowdrift.node", true, false) != nullptr;
    const GucSource source = has_placeholder ? configured_node_source() : PGC_S_DEFAULT;
    DefineCustomStringVariable(
        "snowdrift.node",
        "Sets the server's number, which is part of its Snowflake and sno IDs, or its source.",
        "Servers whose IDs must not collide need different numbers. \"auto\" is the group id in a "
        "Citus cluster, and 0 otherwise. In the default Snowflake layout, the number is "
        "datacenter * 32 + worker.",
        &node_text, "auto", PGC_SUSET, 0, check_node, assign_node, nullptr);
    if (configured_node_source() == PGC_S_DEFAULT) rejected_node_source = source;
    DefineCustomIntVariable(
        "snowdrift.max_clock_lead", "Sets the maximum lead of the last ID over the server's clock.",
        "After the clock is set back, generation continues at the last ID's time up to this lead. "
        "Beyond it, calls wait up to one second or raise an error.",
        &max_clock_lead, 60 * 1000, 0, INT_MAX, PGC_SUSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
    MarkGUCPrefixReserved("snowdrift");
}

}  // namespace snowdrift::settings
