// The system clock of a server of the chaos run: the true time and a lead, which the run steps. The
// server's processes load it with LD_PRELOAD.
//
// libfaketime would not do: for each reading it opens a file, for which it allocates memory. But
// PostgreSQL's timeout handler reads the clock, also when it has interrupted malloc() or fopen().
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr int64_t second_ns = 1'000'000'000;

/// How far the clock is ahead of the true time, in nanoseconds. Programs that a server starts, such
/// as cp, may not have it.
const std::atomic<int64_t>* lead = nullptr;

__attribute__((constructor)) void map_lead() {
    const char* const path = std::getenv("CHAOS_CLOCK");
    const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void* const memory = ::mmap(nullptr, sizeof *lead, PROT_READ, MAP_SHARED, file, 0);
    (void)::close(file);
    if (memory == MAP_FAILED) std::abort();
    lead = static_cast<const std::atomic<int64_t>*>(memory);
}

timespec read_clock(clockid_t clock) {
    timespec time{};
    (void)::syscall(SYS_clock_gettime, clock, &time);
    if (lead == nullptr || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return time;
    const int64_t ns = time.tv_sec * second_ns + time.tv_nsec + *lead;
    return {ns / second_ns, ns % second_ns};
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    *time = read_clock(clock);
    return 0;
}

int gettimeofday(timeval* time, void* /*zone*/) noexcept {
    const timespec now = read_clock(CLOCK_REALTIME);
    *time = {now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t* result) noexcept {
    const time_t now = read_clock(CLOCK_REALTIME).tv_sec;
    if (result != nullptr) *result = now;
    return now;
}

}  // extern "C"
