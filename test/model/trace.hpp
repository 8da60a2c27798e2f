// The text of a trace: each action, and the mark after it.
#pragma once

#include <ostream>
#include <vector>

#include "model/protocol.hpp"

namespace snowdrift::model {

inline void print_trace(std::ostream& out, const Protocol& protocol, const Scenario& scenario,
                        const std::vector<Action>& trace) {
    State state = protocol.initial();
    for (const Action& action : trace) {
        const Phase phase =
            action.actor < server ? state.sessions[action.actor].phase : Phase::idle;
        const size_t step = action.actor < server ? state.sessions[action.actor].log_size : 0;
        const char* violation = nullptr;
        (void)protocol.apply(action, state, violation);

        out << "  ";
        if (action.actor < server) out << "session " << (action.actor == 0 ? 'A' : 'B') << ' ';
        if (action.choice == Choice::go)
            out << phase_names[static_cast<size_t>(phase)] << " (" << step << ')';
        else
            out << choice_names[static_cast<size_t>(action.choice)];
        out << "  [clock " << state.clock;
        const Disk& disk = state.disk;
        for (const Memory& memory : state.memory) {
            const MarkWord word = word_of(memory);
            if (word.bits != 0)
                out << ", word " << from_unix(word.unix_ms()) << " tag " << word.tag();
        }
        out << ", page " << from_unix(disk.pages[disk.file].row.unix_ms);
        out << ", on disk " << Turn::surviving(state, scenario).mark() << "; left:";
        for (const Id& id : state.left) out << ' ' << id.ms << '/' << id.detail;
        out << "]\n";
    }
}

}  // namespace snowdrift::model
