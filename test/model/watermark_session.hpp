// What the sessions of the model of the watermark do: they run src/protocol/watermark.hpp.
//
// A session's fence directly follows each store on which it relies, and is one step with it: at
// that time, the store is visible to all. A store without a fence stays in the session's buffer of
// one store, and becomes visible at any later time. Loads take the present value. An operation on a
// generator's word takes effect at once, but does not empty the buffer: on arm64, it orders no
// earlier store.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "model/answer_of.hpp"
#include "model/replay.hpp"
#include "model/watermark_state.hpp"
#include "protocol/generators.hpp"
#include "protocol/watermark.hpp"

namespace snowdrift::watermark::model {

/// The environment of src/protocol/watermark.hpp in one session, for one action.
class Turn : protected snowdrift::model::Replay<Session> {
 public:
    Turn(State& state, uint8_t session, Mutation mutation)
        : Replay{state.sessions[session]},
          s{state},
          me{state.sessions[session]},
          line{state.lines[session]},
          mutation_{mutation},
          is_reader_{session == reader} {}

    /// The invariant that the turn has broken; null if none.
    const char* violation() const { return violation_; }

    /// Returns false if the action is not possible now.
    bool act(Choice choice) {
        if (choice == Choice::make_visible) return me.pending.kind != Store::none && empty_buffer();
        if (me.phase != Phase::idle) return choice == Choice::go && go();
        if (is_reader_)
            return choice == Choice::take_snapshot && spend(s.budget.reads) && take_snapshot();
        switch (choice) {
            case Choice::draw_first:
                return s.budget.draws > 0 && begin() && spend(s.budget.draws) && begin_draw(0);
            case Choice::draw_second:
                return s.budget.other_draws > 0 && begin() && spend(s.budget.other_draws) &&
                       begin_draw(1);
            case Choice::insert_earlier:
                return s.budget.rows > 0 && begin() && begin_insert(s.clock - 1);
            case Choice::insert_own:
                return s.budget.rows > 0 && me.drawn != never && begin_insert(me.drawn);
            case Choice::commit:
                return me.transaction != 0 && enter(Phase::commit) && go();
            case Choice::roll_back:
                return me.transaction != 0 && roll_back();
            case Choice::prepare:
                return me.transaction != 0 && s.prepared == 0 && spend(s.budget.prepares) &&
                       begin_prepare();
            default:
                return false;
        }
    }

    /// The server crashes and restarts: transactions in progress are rolled back, and shared memory
    /// is lost. The fresh states start after the mark.
    static void crash(State& s, Mutation mutation) {
        for (Session& session : s.sessions) {
            s.ended |= static_cast<uint8_t>(1 << session.transaction);
            if (session.transaction != 0) s.lowest[session.transaction] = never;
            session = {};
            session.drawn = never;
        }
        for (Line& each : s.lines) each = {};
        for (uint64_t& word : s.words) word = core.state_after(s.mark);
        s.returned = mutation == Mutation::forget_in_crash ? 0 : std::min(s.durable, s.mark);
    }

    // ---- the environment of hold(), hold_row() and read()

    int64_t begin_read() { return begin_unit(); }  // the clock is never that far behind

    int64_t begin_unit() {
        return step([&] {
            if (has(Mutation::hold_without_begin) && !is_reader_) return int64_t{s.clock};
            std::atomic<uint64_t> word{s.words[me.generator]};
            const int64_t begin = core.begin_unit(word, s.clock);
            (void)store(Store::word, s.clock);
            if (!is_reader_) (void)empty_buffer();  // a writer does not rely on it
            return begin;
        });
    }

    void publish(int64_t unix_ms) {
        (void)step([&] {
            me.held |= bit();
            return store(Store::hold, static_cast<Ms>(unix_ms));
        });
    }

    int64_t lowest_hold() {
        Ms lowest = never;
        const bool is_once = has(Mutation::watch_without_rescan) || has(Mutation::scan_backwards);
        if (scans_++ > 0 && is_once) return lowest;
        for (const uint8_t i : {0, 1, 2}) {
            const Line& each = s.lines[has(Mutation::scan_backwards) ? 2 - i : i];
            lowest = std::min(lowest, static_cast<Ms>(step([&] { return lowest_in(each); })));
        }
        return lowest;
    }

    void record_returned(int64_t unix_ms) {
        (void)step([&] { return store(Store::returned, static_cast<Ms>(unix_ms)); });
    }

    int64_t returned() {
        if (has(Mutation::watch_without_check)) return 0;
        return step([&] { return s.returned; });
    }

    void make_durable(int64_t unix_ms) {
        if (has(Mutation::return_before_durable))
            (void)step([&] { return s.promised = std::max(s.promised, static_cast<Ms>(unix_ms)); });
        (void)step([&] {
            if (s.durable >= unix_ms) return 0;
            s.durable = static_cast<Ms>(unix_ms) + lease_ms;
            if (!has(Mutation::mark_behind_watermark)) s.mark = std::max(s.mark, s.durable);
            return 0;
        });
    }

    void fence() {
        const bool is_second = fences_++ > 0;
        if (has(!is_reader_ ? Mutation::unfenced_hold
                : is_second ? Mutation::unfenced_record
                            : Mutation::unfenced_begin))
            return;
        (void)free_step([&] { return empty_buffer(); });
    }

 private:
    bool has(Mutation mutation) const { return mutation_ == mutation; }
    static bool spend(uint8_t& budget) { return budget > 0 && budget-- > 0; }
    uint8_t bit() const { return static_cast<uint8_t>(1 << me.generator); }
    uint8_t transaction_bit() const { return static_cast<uint8_t>(1 << me.transaction); }

    void expect(bool holds, const char* violation) {
        if (!holds && violation_ == nullptr) violation_ = violation;
    }

    template <typename Run>
    int64_t step(Run run) {
        return Replay::step(always, run);
    }

    bool enter(Phase phase) {
        clear_log();
        me.phase = phase;
        return true;
    }

    bool go() {
        const End end = run_until_left([this] { run_phase(); });
        if (end != End::finished && end != End::suspended) std::abort();
        return true;
    }

    void run_phase() {
        const bool is_late = has(Mutation::publish_after_draw);
        switch (me.phase) {
            case Phase::hold:
                hold(*this);
                enter(is_late ? Phase::idle : Phase::take);
                break;
            case Phase::take:
                take();
                enter(is_late && (me.held & bit()) == 0 ? Phase::hold : Phase::idle);
                break;
            case Phase::insert:
                insert();
                break;
            case Phase::commit:
                commit();
                break;
            case Phase::prepare:
                prepare();
                break;
            case Phase::read:
                finish_read(has(Mutation::scan_before_begin) ? std::min(lowest_hold(), begin_unit())
                                                             : read(*this));
                break;
            case Phase::idle:
                break;
        }
    }

    // ---- the buffer

    bool store(Store::Kind kind, Ms value) {
        (void)empty_buffer();
        me.pending = {value, kind, me.generator, {}};
        return true;
    }

    bool empty_buffer() {
        const Store store = me.pending;
        me.pending = {};
        if (store.kind == Store::word) {
            std::atomic<uint64_t> word{s.words[store.generator]};
            (void)core.begin_unit(word, store.value);
            s.words[store.generator] = word;
        } else if (store.kind == Store::returned) {
            s.returned = std::max(s.returned, store.value);
        } else if (store.kind == Store::hold) {
            publish_now(store);
        }
        return true;
    }

    /// See publish() in src/pg/watermark.
    void publish_now(const Store& hold) {
        const auto generators = static_cast<uint8_t>(1 << hold.generator);
        if (!line.is_open()) {
            line.replace({hold.value, generators, 0, {}}, !has(Mutation::no_history));
            return;
        }
        if (!has(Mutation::keep_later_hold))
            line.last.unix_ms = std::min(line.last.unix_ms, hold.value);
        line.last.generators |= generators;
    }

    // ---- writers

    bool begin() {
        if (me.transaction != 0) return true;
        if (!spend(s.budget.transactions)) return false;
        me.transaction = s.transactions++;
        return true;
    }

    bool begin_draw(uint8_t generator) {
        me.generator = generator;
        const bool is_held = (me.held & bit()) != 0;
        return enter(is_held || has(Mutation::publish_after_draw) ? Phase::take : Phase::hold) &&
               go();
    }

    bool begin_insert(Ms row) {
        --s.budget.rows;
        me.generator = 0;
        me.row = row;
        return enter(Phase::insert) && go();
    }

    /// Takes an ID. If the generator has none left in its time unit, the writer waits.
    void take() {
        (void)step([&] {
            std::atomic<uint64_t> word{s.words[me.generator]};
            Request request;
            const auto at = [&](int64_t unix_ms) {
                return snowdrift::model::answer_of(
                    [&] { return core.next(word, unix_ms, max_lead_ms, request); });
            };
            auto answer = at(s.clock);
            if (answer.verdict == Verdict::exhausted) answer = at(s.clock + 1);
            expect(answer.verdict == Verdict::issued, "A writer waits forever.");
            s.words[me.generator] = word;
            s.mark = std::max(s.mark, static_cast<Ms>(answer.ms));
            if (me.generator != 0) return 0;
            me.drawn = static_cast<Ms>(answer.ms);
            add_row(me.drawn, "An ID is drawn below a watermark.");
            return 0;
        });
    }

    void insert() {
        if (hold_row(*this, me.row)) {
            add_row(me.row, "A row is inserted below a watermark.");
            enter(Phase::idle);
        } else {
            expect(me.row != me.drawn, "A row is refused although its transaction drew its ID.");
            roll_back();
        }
    }

    void add_row(Ms ms, const char* violation) {
        s.lowest[me.transaction] = std::min(s.lowest[me.transaction], ms);
        expect(ms >= s.promised, violation);
    }

    void commit() {
        const auto change_line = [&] {
            (void)empty_buffer();
            if (has(Mutation::clear_before_commit))
                line.last = {};
            else
                line.last.transaction = me.transaction;
            return 0;
        };
        if (has(Mutation::clear_before_commit)) (void)step(change_line);
        (void)step([&] { return s.ended |= transaction_bit(); });
        if (!has(Mutation::clear_before_commit)) (void)step(change_line);
        end_transaction();
    }

    bool roll_back() {
        (void)empty_buffer();
        s.ended |= transaction_bit();
        s.lowest[me.transaction] = never;
        line.last = {};
        return end_transaction();
    }

    bool begin_prepare() {
        s.prepared = me.transaction;
        return enter(Phase::prepare) && go();
    }

    void prepare() {
        (void)step([&] {
            (void)empty_buffer();
            if (has(Mutation::drop_prepared)) return 0;
            Held held = line.last;
            held.transaction = me.transaction;
            s.lines[prepared_line].replace(held, true);
            return 0;
        });
        (void)step([&] {
            line.last = {};
            return 0;
        });
        end_transaction();
    }

    bool end_transaction() {
        me.drawn = never;
        me.row = 0;
        me.held = me.generator = me.transaction = 0;
        return enter(Phase::idle);
    }

    // ---- the reader

    bool take_snapshot() {
        me.snapshot = s.ended;
        return enter(Phase::read);
    }

    bool is_over(uint8_t transaction) const { return (me.snapshot >> transaction & 1) != 0; }

    /// See lowest_hold() in src/pg/watermark.
    Ms lowest_in(const Line& each) const {
        Ms lowest = never;
        const auto count = [&](const Held& held) {
            if ((held.generators & 1) != 0) lowest = std::min(lowest, held.unix_ms);
        };
        if (each.last.transaction != 0 && is_over(each.last.transaction)) return never;
        count(each.last);
        for (const Held& held : each.earlier)
            if (!is_over(held.transaction)) count(held);
        return lowest;
    }

    void finish_read(int64_t watermark) {
        for (uint8_t i = 1; i < s.transactions; ++i)
            expect(is_over(i) || s.lowest[i] >= watermark,
                   "A transaction below the watermark has not ended for the snapshot.");
        s.promised = std::max(s.promised, static_cast<Ms>(watermark));
        me.snapshot = 0;
        (void)enter(Phase::idle);
    }

    static constexpr int64_t max_lead_ms = 60'000;
    static constexpr Ms lease_ms = 2;
    static constexpr SnowflakeGenerator core{{.epoch_unix_ms = 0,
                                              .timestamp_bits = 41,
                                              .datacenter_bits = 5,
                                              .worker_bits = 5,
                                              .sequence_bits = 12},
                                             0};

    State& s;
    Session& me;
    Line& line;  // not the reader's
    const char* violation_ = nullptr;
    Mutation mutation_;
    bool is_reader_;
    uint8_t scans_ = 0;
    uint8_t fences_ = 0;
};

}  // namespace snowdrift::watermark::model
