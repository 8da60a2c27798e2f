// Breadth-first search of all states of a model, and the shortest trace to a violation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace snowdrift::model {

/// A hash of all bytes of a state.
template <typename State>
uint64_t hash_of(const State& state) noexcept {
    static_assert(std::has_unique_object_representations_v<State>, "no padding");
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(&state), sizeof(state)});
}

/// The hashes of the states that were found. Two states of equal hashes count as one: among ten
/// million states, that happens with a probability of 1 in 370,000.
using Visited = std::unordered_set<uint64_t>;

/// What the search has found.
template <typename Action>
struct Outcome {
    size_t states = 0;
    size_t transitions = 0;
    int depth = 0;             ///< the greatest distance of a state from the first one, in actions
    bool is_complete = false;  ///< all states were found
    const char* violation = nullptr;  ///< null if there is none
    std::vector<Action> trace{};      ///< a shortest sequence of actions that leads to it
};

/// Explores the states of `model` up to `max_states`, in the order of their distance from the first
/// one, until a violation is found. `Model` declares
///
///     using State = ...;   // a trivially copyable type without padding
///     using Action = ...;
///     State initial() const;
///     uint64_t hash(const State&) const;  // equal for states that differ only in names
///     // Calls visit(Action, const State&, const char* violation) for each state that follows.
///     void visit_successors(const State&, visit) const;
template <typename Model>
Outcome<typename Model::Action> explore(const Model& model, size_t max_states) {
    using State = typename Model::State;
    using Action = typename Model::Action;
    struct Node {
        uint32_t parent;
        Action action;
    };
    std::vector<Node> nodes{{0, {}}};
    std::vector<std::pair<State, uint32_t>> level{{model.initial(), 0}};
    std::vector<std::pair<State, uint32_t>> next_level;
    Visited visited;
    visited.insert(model.hash(level.front().first));
    Outcome<Action> outcome;
    for (; !level.empty() && outcome.violation == nullptr; ++outcome.depth) {
        if (nodes.size() >= max_states) break;
        next_level.clear();
        for (const auto& [state, node] : level) {
            model.visit_successors(
                state, [&, node = node](Action action, const State& next, const char* violation) {
                    ++outcome.transitions;
                    if (outcome.violation != nullptr) return;
                    if (violation == nullptr && !visited.insert(model.hash(next)).second) return;
                    const auto index = static_cast<uint32_t>(nodes.size());
                    nodes.push_back({node, action});
                    next_level.emplace_back(next, index);
                    if (violation == nullptr) return;
                    outcome.violation = violation;
                    for (uint32_t at = index; at != 0; at = nodes[at].parent)
                        outcome.trace.insert(outcome.trace.begin(), nodes[at].action);
                });
            if (outcome.violation != nullptr) break;
        }
        level.swap(next_level);
    }
    outcome.states = nodes.size();
    outcome.is_complete = level.empty();
    return outcome;
}

}  // namespace snowdrift::model
