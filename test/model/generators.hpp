// The core's generators, with their states in words that the model can copy.
#pragma once

#include <cstring>
#include <optional>

#include "model/answer_of.hpp"
#include "model/mutation.hpp"
#include "model/server.hpp"
#include "protocol/generators.hpp"
#include "snowdrift/snowflake_presets.hpp"
#include "snowdrift/uint128.hpp"
#include "snowdrift/ulid.hpp"

namespace snowdrift::model {

/// A kind of generator. The functions run the core's code on the words of a state.
class Generator {
 public:
    virtual ~Generator() = default;

    /// Makes all further IDs of the state later than the Unix millisecond `unix_ms`.
    virtual void advance_past(uint64_t* words, int64_t unix_ms) const = 0;

    /// The time of the last ID, in Unix milliseconds, or a later one: see advance_fresh_floor().
    virtual int64_t last_ms(const uint64_t* words) const = 0;

    /// An ID at the wall clock's `unix_ms`; nothing if the session has to wait, or gets an error.
    virtual std::optional<Id> draw(uint64_t* words, int64_t unix_ms, int64_t max_lead_ms) const = 0;

    /// Whether a draw takes a block of IDs, for the whole transaction.
    virtual bool issues_blocks() const { return false; }

    /// The time unit, in milliseconds.
    virtual int64_t unit_ms() const { return 1; }
};

class Snowflakes : public Generator {
 public:
    explicit Snowflakes(const SnowflakeLayout& layout, SnowflakeGenerator::Start start)
        : core_{layout, 0, 0, layout.max_sequence(), start} {}

    void advance_past(uint64_t* words, int64_t unix_ms) const override {
        std::atomic<uint64_t> word{words[0]};
        core_.advance_past(word, unix_ms);
        words[0] = word;
    }

    int64_t last_ms(const uint64_t* words) const override { return core_.unix_ms_of(words[0]); }

    std::optional<Id> draw(uint64_t* words, int64_t unix_ms, int64_t max_lead_ms) const override {
        std::atomic<uint64_t> word{words[0]};
        int64_t id;
        if (!core_.try_next(word, unix_ms, id)) {
            Request request;
            const auto answer =
                answer_of([&] { return core_.next(word, unix_ms, max_lead_ms, request); });
            if (answer.verdict != Verdict::issued) return std::nullopt;
            id = answer.id;
        }
        words[0] = word;
        const SnowflakeParts parts = core_.layout().split(id);
        return Id{from_unix(unix_ms_of(parts.time)), static_cast<uint16_t>(parts.sequence), no_file,
                  0};
    }

    int64_t unit_ms() const override { return core_.layout().unit_ms; }

 private:
    SnowflakeGenerator core_;
};

class Snos : public Generator {
 public:
    explicit Snos(Mutation mutation) : mutation_{mutation} {}

    void advance_past(uint64_t* words, int64_t unix_ms) const override {
        SnoState state = load(words);
        SnoGenerator::advance_past(state, unix_ms);
        store(state, words);
    }

    int64_t last_ms(const uint64_t* words) const override {
        return SnoGenerator::highest_unix_ms(load(words));
    }

    std::optional<Id> draw(uint64_t* words, int64_t unix_ms, int64_t max_lead_ms) const override {
        SnoState state = load(words);
        if (mutation_ == Mutation::ignore_safe_mark) state.safe[0] = state.safe[1] = 0;
        Sno id;
        if (!core_.try_next(state, unix_ms, 0, id)) {
            Request request;
            const auto answer =
                answer_of([&] { return core_.next(state, unix_ms, max_lead_ms, 0, request); });
            if (answer.verdict != Verdict::issued) return std::nullopt;
            id = answer.id;
        }
        if (mutation_ == Mutation::ignore_safe_mark)
            for (const int tick : {0, 1}) (void)fetch_max(state.safe[tick], words[1 + tick]);
        if (mutation_ == Mutation::forget_timeline)
            for (const int tick : {0, 1}) state.safe[tick] = words[1 + tick];
        store(state, words);
        const auto detail = static_cast<uint16_t>(id.tick() << 15 | id.sequence());
        return Id{from_unix(id.timestamp_ms()), detail, no_file, 0};
    }

    int64_t unit_ms() const override { return Sno::unit_ms; }

 private:
    // The other words of the state are statistics.
    static SnoState load(const uint64_t* words) {
        return {.word = words[0], .safe = {words[1], words[2]}, .regressions = 0, .at_count = 0};
    }

    static void store(const SnoState& state, uint64_t* words) {
        words[0] = state.word;
        words[1] = state.safe[0];
        words[2] = state.safe[1];
    }

    SnoGenerator core_{0, 0, UINT16_MAX};
    Mutation mutation_;
};

/// ULIDs. All random bits are 0, so that blocks that could overlap do.
class Blocks : public Generator {
 public:
    void advance_past(uint64_t* words, int64_t unix_ms) const override {
        Core core = load(words);
        core.advance_past(unix_ms);
        store(core, words);
    }

    int64_t last_ms(const uint64_t* words) const override { return load(words).last_unix_ms(); }

    /// The ID stands for the block's first one.
    std::optional<Id> draw(uint64_t* words, int64_t unix_ms, int64_t max_lead_ms) const override {
        Core core = load(words);
        Request request;
        const auto answer = answer_of([&] {
            return core.next(unix_ms, max_lead_ms, {0, 0}, request);
        });
        if (answer.verdict != Verdict::issued) return std::nullopt;
        store(core, words);
        const auto block = static_cast<uint64_t>(answer.id.ordinal()) / block_size;
        return Id{from_unix(answer.ms), static_cast<uint16_t>(block << 4), no_file, 0};
    }

    bool issues_blocks() const override { return true; }

 private:
    using Core = BlockGenerator<Ulid>;
    static_assert(sizeof(Core) <= 4 * sizeof(uint64_t) && std::is_trivially_copyable_v<Core>);

    static Core load(const uint64_t* words) {
        Core core;
        std::memcpy(static_cast<void*>(&core), words, sizeof(core));
        return core;
    }

    static void store(const Core& core, uint64_t* words) {
        std::memcpy(words, &core, sizeof(core));
        if constexpr (alignof(Uint128) > alignof(uint64_t)) words[1] = 0;  // padding; none on s390x
    }
};

}  // namespace snowdrift::model
