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
        const Step step = action.actor < server ? state.sessions[action.actor].step : Step::idle;
        const char* const name = action.choice == Choice::go
                                     ? step_table[static_cast<size_t>(step)].name
                                     : choice_names[static_cast<size_t>(action.choice)];
        const char* violation = nullptr;
        (void)protocol.apply(action, state, violation);

        out << "  ";
        if (action.actor < server) out << "session " << (action.actor == 0 ? 'A' : 'B') << ' ';
        out << name << "  [clock " << state.clock;
        const Disk& disk = state.disk;
        const uint8_t library = state.version == 0 ? 0 : state.version - 1;
        const MarkWord word = word_of(state.memory[library]);
        out << ", word " << from_unix(word.unix_ms()) << " tag " << word.tag();
        out << ", page " << disk.pages[disk.file].ms;
        out << ", on disk " << Steps::surviving(state, scenario).mark() << "; left:";
        for (const Id& id : state.left) out << ' ' << id.ms << '/' << id.detail;
        out << "]\n";
    }
}

}  // namespace snowdrift::model
