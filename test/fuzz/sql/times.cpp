// Boundaries, casts from times, and time predicates.
#include "fuzz/layout_texts.hpp"
#include "fuzz/sql/targets.hpp"
#include "fuzz/sql/time_model.hpp"

namespace snowdrift::fuzz {
namespace {

/// The times that satisfy a predicate: first .. last, in microseconds since 1970. Empty if `last`
/// is before `first`.
struct Times {
    Wide first;
    Wide last;

    std::string contains(int64_t unix_ms) const {
        const Wide time = Wide{unix_ms} * 1000;
        return first <= time && time <= last ? "t" : "f";
    }
};

Times times_of(const std::string& predicate, Wide time) {
    if (predicate == "before") return {-infinity, time - 1};
    if (predicate == "until") return {-infinity, time};
    if (predicate == "after") return {time + 1, infinity};
    return {time, infinity};  // since
}

/// A tstzrange, as the parameters of a call of tstzrange().
struct Range {
    std::vector<Parameter> parameters;
    Times times;
};

Range any_range(Input& input, int64_t first_ms, int64_t last_ms) {
    Time lower = any_time(input, first_ms, last_ms);
    Time upper = any_time(input, first_ms, last_ms);
    if (input.below(4) == 0 && lower.is_finite())
        upper = {std::min(lower.wire + input.between(0, 8000), max_wire)};
    if (upper.wire < lower.wire) std::swap(lower, upper);
    const bool has_lower = input.below(8) != 0;
    const bool has_upper = input.below(8) != 0;
    const bool is_lower_in = input.flag();
    const bool is_upper_in = input.flag();
    return {{has_lower ? lower.parameter() : Parameter{},
             has_upper ? upper.parameter() : Parameter{},
             {std::string{is_lower_in ? "[" : "("} + (is_upper_in ? "]" : ")")}},
            {has_lower ? lower.micros() + (is_lower_in ? 0 : 1) : -infinity,
             has_upper ? upper.micros() - (is_upper_in ? 0 : 1) : infinity}};
}

/// A kind of ID: the model's ID with a timestamp in units and all other bits set to `rest`, as
/// text.
struct Kind {
    uint64_t count;  ///< of timestamps
    int64_t epoch, unit;

    uint64_t first_unit(Wide micros) const {
        return model::first_unit(count, Wide{epoch} * 1000, Wide{unit} * 1000, micros);
    }
    int64_t unix_ms(uint64_t units) const { return epoch + unit * static_cast<int64_t>(units); }
    int64_t last_ms() const { return unix_ms(count - 1); }

    /// The unit of an ID near `time`.
    uint64_t near(Input& input, Wide time) const {
        const uint64_t unit = std::min(first_unit(time) + input.below(3), count);
        return unit > 0 ? unit - 1 : 0;
    }
};

/// Checks columns that contain the first and the last ID of some times. `less`: compares the
/// strings of two IDs.
template <typename Of, typename Less>
bool has_bounds(const Kind& kind, const Times& times, Of of, Less less, const std::string& first,
                const std::string& last) {
    const uint64_t begin = kind.first_unit(times.first);
    const uint64_t end = kind.first_unit(times.last + 1);
    if (begin >= end) return less(last, first);
    return first == of(begin, '0') && last == of(end - 1, '1');
}

/// The types ulid and sno.
template <typename Format>
void check_type(Session& session, Input& input, const std::string& name) {
    const auto of = [](uint64_t units, char rest) { return Format::text(Format::of(units, rest)); };
    const Kind kind{uint64_t{1} << Format::timestamp_width, Format::epoch, Format::unit};
    const Time time = any_time(input, kind.epoch, kind.last_ms());
    const Range range = any_range(input, kind.epoch, kind.last_ms());
    const uint64_t unit = kind.near(input, input.flag() ? time.micros() : range.times.first);
    const std::string id = of(unit, input.flag() ? '1' : '0');

    std::vector<Parameter> parameters{{id}, time.parameter()};
    parameters.insert(parameters.end(), range.parameters.begin(), range.parameters.end());
    const std::string tstzrange = "tstzrange($3, $4, $5)";
    std::string statement = "SELECT " + name + "_within($1, " + tstzrange + "), snowdrift.first_" +
                            name + "_within(" + tstzrange + "), snowdrift.last_" + name +
                            "_within(" + tstzrange + ")";
    constexpr struct {
        const char *name, *sign, *reverse;
    } predicates[] = {
        {"before", "<", ">"}, {"until", "<=", ">="}, {"after", ">", "<"}, {"since", ">=", "<="}};
    for (const auto& [predicate, sign, reverse] : predicates) {
        const std::string function = name + "_" + predicate;
        statement += ", " + function + "($1, $2), snowdrift." + function + "($2, $1), $1::" + name +
                     " " + sign + " $2::timestamptz, $2::timestamptz " + reverse + " $1::" + name +
                     ", snowdrift.first_" + function + "($2), snowdrift.last_" + function + "($2)";
    }
    const Outcome outcome = session.run(statement, parameters);
    const Values values = outcome.first();
    if (values.size() != 27) disagree(statement, parameters, outcome, "27 values");
    const int64_t ms = kind.unix_ms(unit);
    bool agrees = values[0] == range.times.contains(ms) &&
                  has_bounds(kind, range.times, of, std::less<>{}, values[1], values[2]);
    size_t at = 3;
    for (const auto& predicate : predicates) {
        const Times times = times_of(predicate.name, time.micros());
        for (int i = 0; i < 4; ++i) agrees &= values[at++] == times.contains(ms);
        agrees &= has_bounds(kind, times, of, std::less<>{}, values[at], values[at + 1]);
        at += 2;
    }
    if (!agrees) disagree(statement, parameters, outcome, "other values");
}

/// Boundaries of times that the format has; else 22008.
template <typename Format>
void check_boundary(Session& session, Input& input, const std::string& name) {
    const auto last_ms = model::unix_ms<Format>(Format::of(UINT64_MAX, '1'));
    const Time time = any_time(input, Format::epoch, last_ms);
    Values statements{"SELECT " + name + "_boundary($1)::text"};
    if (name != "uuidv7") {
        statements.push_back("SELECT ($1::timestamptz)::" + name);
        statements.push_back("SELECT ($1::timestamp)::" + name);
    }
    const Wide ms = ceil_ms(time.micros());
    for (const std::string& statement : statements) {
        if (ms < Format::epoch || ms > last_ms) {
            expect_error(session, statement, {time.parameter()}, {"22008"});
            continue;
        }
        const uint64_t units = model::first_unit(uint64_t{1} << Format::timestamp_width,
                                                 Format::epoch, Format::unit, ms);
        expect(session, statement, {time.parameter()}, {Format::text(Format::of(units, '0'))});
    }
}

void check_uuidv7(Session& session, Input& input) {
    const auto of = [](uint64_t units, char rest) {
        return model::Uuidv7::text(model::Uuidv7::of(units, rest));
    };
    const Kind kind{uint64_t{1} << 48, 0, 1};
    const Range range = any_range(input, 0, kind.last_ms());
    const uint64_t unit = kind.near(input, range.times.first);
    Bits bits = model::Uuidv7::of(unit, input.flag() ? '1' : '0');
    if (input.below(4) == 0) {
        const size_t at = input.flag() ? 48 : 64;
        bits.replace(at, 2, input.flag() ? "00" : "11");
    }
    const bool is_version_7 = model::Uuidv7::is_version_7(bits);

    std::vector<Parameter> parameters{{bytes_of(bits), true}};
    parameters.insert(parameters.end(), range.parameters.begin(), range.parameters.end());
    const std::string tstzrange = "tstzrange($2, $3, $4)";
    const std::string statement = "SELECT uuidv7_within($1, " + tstzrange +
                                  "), snowdrift.first_uuidv7_within(" + tstzrange +
                                  "), snowdrift.last_uuidv7_within(" + tstzrange + ")";
    const Outcome outcome = session.run(statement, parameters);
    const Values values = outcome.first();
    const std::string within = is_version_7 ? range.times.contains(kind.unix_ms(unit)) : "f";
    if (values.size() != 3 || values[0] != within ||
        !has_bounds(kind, range.times, of, std::less<>{}, values[1], values[2]))
        disagree(statement, parameters, outcome, "other values");
    expect(session, "SELECT snowdrift.uuidv7_within_pruned($1, " + tstzrange + ")", parameters,
           {within});
}

void check_snowflake(Session& session, Input& input) {
    std::string text = layout_text(input);
    if (text.find('\0') != text.npos || model::parse_layout(text).fault != model::LayoutFault::none)
        text = input.pick(model::presets()).first;
    const model::Layout layout = model::parse_layout(text).layout;
    const auto of = [&](uint64_t units, char rest) {
        return std::to_string(layout.of(units, rest));
    };
    const Kind kind{layout.unit_count(), layout.epoch, layout.unit};
    const Range range = any_range(input, kind.epoch, kind.last_ms());
    const uint64_t unit = kind.near(input, range.times.first);
    int64_t id = layout.of(unit, input.flag() ? '1' : '0');
    if (input.below(8) == 0) id = static_cast<int64_t>(input.number());

    std::vector<Parameter> parameters{binary(id)};
    parameters.insert(parameters.end(), range.parameters.begin(), range.parameters.end());
    parameters.push_back({text});
    const std::string arguments = "tstzrange($2, $3, $4), $5::snowflake_layout)";
    const std::string statement = "SELECT snowflake_within($1, " + arguments +
                                  ", snowdrift.first_snowflake_within(" + arguments +
                                  ", snowdrift.last_snowflake_within(" + arguments;
    const Outcome outcome = session.run(statement, parameters);
    const Values values = outcome.first();
    const auto less = [](const std::string& a, const std::string& b) {
        return std::stoll(a) < std::stoll(b);
    };
    if (values.size() != 3 ||
        values[0] != (layout.has_id(id) ? range.times.contains(layout.unix_ms(id)) : "f") ||
        !has_bounds(kind, range.times, of, less, values[1], values[2]))
        disagree(statement, parameters, outcome, "other values");
}

}  // namespace

void check_times(Session& session, Input& input) {
    switch (input.below(5)) {
        case 0:
            check_type<model::Ulid>(session, input, "ulid");
            break;
        case 1:
            check_type<model::Sno>(session, input, "sno");
            break;
        case 2:
            check_uuidv7(session, input);
            break;
        case 3:
            check_snowflake(session, input);
            break;
        default:
            check_boundary<model::Ulid>(session, input, "ulid");
            check_boundary<model::Sno>(session, input, "sno");
            check_boundary<model::Uuidv7>(session, input, "uuidv7");
    }
}

}  // namespace snowdrift::fuzz
