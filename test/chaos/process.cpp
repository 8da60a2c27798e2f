#include "chaos/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace snowdrift::chaos {
namespace {

namespace fs = std::filesystem;

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

struct Status {
    char state;
    pid_t parent;
};

/// The state and the parent of a process, from /proc.
std::optional<Status> status_of(pid_t process) {
    std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    // The name, which may contain anything, is in parentheses.
    const size_t name_end = line.rfind(')');
    if (name_end == std::string::npos || name_end + 4 > line.size()) return std::nullopt;
    return Status{line[name_end + 2], std::stoi(line.substr(name_end + 4))};
}

}  // namespace

pid_t spawn(const std::vector<std::string>& command, const std::vector<std::string>& variables,
            const fs::path& log) {
    std::vector<std::string> arguments = command;
    std::vector<std::string> environment = variables;
    for (char** variable = environ; *variable != nullptr; ++variable)
        environment.emplace_back(*variable);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    // Another thread may have a file open, such as the one that fills the disk.
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    pid_t process = 0;
    const int error = posix_spawn(&process, command.front().c_str(), &files, &attributes,
                                  pointers(arguments).data(), pointers(environment).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw std::system_error{error, std::generic_category(), command.front()};
    return process;
}

int execute(const std::vector<std::string>& command, const fs::path& log) {
    const pid_t process = spawn(command, {}, log);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool has_ended(pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; }

void await_end(pid_t child) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
}

std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    for (const auto& entry : fs::directory_iterator{"/proc"}) {
        const std::string name = entry.path().filename();
        pid_t process = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
        if (error != std::errc{} || end != name.data() + name.size()) continue;
        const auto status = status_of(process);
        if (status && status->parent == parent) children.push_back(process);
    }
    return children;
}

std::string describe(pid_t process) {
    std::ifstream file{"/proc/" + std::to_string(process) + "/cmdline"};
    std::string title;
    std::getline(file, title);
    // The arguments, and the spaces after a title, are separated by null characters.
    std::replace(title.begin(), title.end(), '\0', ' ');
    title.erase(title.find_last_not_of(' ') + 1);
    const auto status = status_of(process);
    return title + " (" + (status ? status->state : 'X') + ")";
}

bool exists(pid_t process) {
    const auto status = status_of(process);
    return status && status->state != 'Z' && status->state != 'X';
}

}  // namespace snowdrift::chaos
