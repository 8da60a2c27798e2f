// Programs that a run starts, and the processes of its servers.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace snowdrift::chaos {

/// Starts a program in a session of its own, with these variables added to the environment. Its
/// output is appended to `log`. Returns its process; throws if it cannot be started.
pid_t spawn(const std::vector<std::string>& command, const std::vector<std::string>& variables,
            const std::filesystem::path& log);

/// Runs a program to its end. Returns its exit status, or 128 plus the signal that ended it.
int execute(const std::vector<std::string>& command, const std::filesystem::path& log);

/// Whether a child of this program has ended. If so, it is reaped: do not call this again.
bool has_ended(pid_t child);

/// Waits for the end of a child.
void await_end(pid_t child);

/// The processes whose parent is `parent`.
std::vector<pid_t> children_of(pid_t parent);

/// The title and the state of a process, for example "postgres: checkpointer (S)".
std::string describe(pid_t process);

/// Whether a process exists, other than as a zombie.
bool exists(pid_t process);

}  // namespace snowdrift::chaos
