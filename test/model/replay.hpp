// A session of a model, whose code takes one step in each turn.
//
// A session has no stack between its steps. It starts its phase again, takes the results of earlier
// steps from its log, takes one more step, and suspends the phase. It leaves the phase's functions
// as ereport() leaves those of the extension, with longjmp(). An exception would take most of the
// time of a turn.
#pragma once

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <type_traits>

namespace snowdrift::model {

/// One turn of a session. `Session` has the results of its phase in the array `log`, and their
/// number in `log_size`.
template <typename Session>
class Replay {
 public:
    explicit Replay(Session& session) : session_{session} {}

 protected:
    /// How a phase ends. `finished`: its function has returned.
    enum class End { finished, suspended, blocked, failed };

    /// Calls the function of a phase.
    template <typename Run>
    End run_until_left(Run run) {
        end_ = End::finished;
        if (setjmp(caller_) == 0) run();
        return end_;
    }

    /// Leaves the function of a phase. No object that has a destructor may be alive in it.
    [[noreturn]] void leave(End end) {
        end_ = end;
        std::longjmp(caller_, 1);
    }

    static bool always() { return true; }

    template <typename Result>
    int64_t record(Result result) {
        if (session_.log_size == std::size(session_.log)) std::abort();
        ++at_;
        using Logged = std::remove_reference_t<decltype(session_.log[0])>;
        return session_.log[session_.log_size++] = static_cast<Logged>(result);
    }

    /// The result of `run`, which changes or reads what sessions share, once `can` allows it.
    template <typename Can, typename Run>
    int64_t step(Can can, Run run) {
        if (at_ < session_.log_size) return session_.log[at_++];
        if (has_stepped_) leave(End::suspended);
        if (!can()) leave(End::blocked);
        has_stepped_ = true;
        return record(run());
    }

    /// The result of `run`, which belongs to the previous step: no other session can tell.
    template <typename Run>
    int64_t free_step(Run run) {
        return at_ < session_.log_size ? session_.log[at_++] : record(run());
    }

    /// The position in the log of the result that was returned last.
    size_t last_position() const { return at_ - 1; }

    /// Begins a new phase.
    void clear_log() {
        std::fill_n(session_.log, std::size(session_.log), 0);
        session_.log_size = 0;
    }

 private:
    Session& session_;
    std::jmp_buf caller_;
    End end_ = End::finished;
    size_t at_ = 0;             // the next result in the log
    bool has_stepped_ = false;  // in this turn
};

}  // namespace snowdrift::model
