// libascendcl.so of the stub. Work runs only when its stream is waited for, and freed memory is overwritten, so that
// anything released too early shows.
#include "stub.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

struct Task {
    aclOpExecutor executor;
    void *workspace;
    Clock::time_point due;
};
struct Stream {
    int device;
    std::deque<Task> tasks;
};

std::recursive_mutex mutex;
std::map<std::string, long> counts;
std::map<void *, size_t> memory;
size_t used = 0;
uint64_t references = 0;
thread_local int device = -1;
thread_local std::string text, given;

size_t Limit() {
    const char *value = getenv("STUB_MEMORY");
    return value ? strtoull(value, nullptr, 10) : SIZE_MAX;
}

// With STUB_STICKY a device that faulted refuses everything from then on, as a real one does.
int stuck = 0;

int Stuck() {
    static const bool wanted = getenv("STUB_STICKY") != nullptr;
    return wanted ? stuck : 0;
}

int Fail(int code, const char *why) {
    stubReport(why);
    return code;
}

} // namespace

EXPORT void stubReport(const char *why) { text += why; }

EXPORT void stubCount(const char *what, int delta) {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    counts[what] += delta;
    const char *trace = getenv("STUB_TRACE");
    if (!trace) return;
    if (FILE *file = fopen(trace, "a")) {
        fprintf(file, "%s %+d\n", what, delta);
        fclose(file);
    }
}

EXPORT long stubLive(const char *what) {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    return counts[what];
}

EXPORT int stubEnqueue(void *stream, const aclOpExecutor &task, void *workspace) {
    if (device < 0) return Fail(107002, "no device in this thread");
    if (Stuck()) return Fail(361001, "the device is in fault");
    std::lock_guard<std::recursive_mutex> guard(mutex);
    auto *queue = static_cast<Stream *>(stream);
    if (!queue || queue->device != device) return Fail(107003, "stream of another device");
    queue->tasks.push_back({task, workspace, Clock::now() + std::chrono::milliseconds(task.milliseconds)});
    return 0;
}

EXPORT int aclInit(const char *) {
    stubCount("aclInit", 1);
    std::lock_guard<std::recursive_mutex> guard(mutex);
    return references++ ? Fail(100002, "initialised already") : 0;
}

EXPORT int aclFinalize() {
    stubCount("aclFinalize", 1);
    std::lock_guard<std::recursive_mutex> guard(mutex);
    if (!references) return 100037;
    references = 0;
    return 0;
}

#ifndef STUB_OLD
EXPORT int aclFinalizeReference(uint64_t *left) {
    stubCount("aclFinalizeReference", 1);
    std::lock_guard<std::recursive_mutex> guard(mutex);
    if (!references) return 100037;
    *left = --references;
    return 0;
}
#endif

EXPORT const char *aclGetRecentErrMsg() {
    if (text.empty()) return nullptr;
    given.swap(text);
    text.clear();
    return given.c_str();
}

EXPORT int aclrtSetDevice(int id) {
    if (!references) return Fail(100001, "aclInit was not called");
    if (id < 0 || id > 1) return Fail(107001, "there are devices 0 and 1");
    stubCount("device", 1);
    device = id;
    return 0;
}

EXPORT int aclrtResetDevice(int) {
    stubCount("device", -1);
    return 0;
}

EXPORT int aclrtGetDevice(int *id) {
    if (device < 0) return Fail(107002, "no device in this thread");
    *id = device;
    return 0;
}

EXPORT int aclrtGetDeviceCount(uint32_t *count) {
    *count = 2;
    return 0;
}

EXPORT const char *aclrtGetSocName() { return "StubSoC"; }

EXPORT int aclrtCreateStream(void **stream) {
    if (device < 0) return Fail(107002, "no device in this thread");
    stubCount("stream", 1);
    *stream = new Stream{device, {}};
    return 0;
}

static int Run(Stream *stream, Clock::time_point until) {
    if (int code = Stuck()) return Fail(code, "the device is in fault");
    int status = 0;
    for (;;) {
        Clock::time_point due;
        {
            std::lock_guard<std::recursive_mutex> guard(mutex);
            if (stream->tasks.empty()) return status;
            due = stream->tasks.front().due;
            if (due <= Clock::now()) {
                Task task = stream->tasks.front();
                stream->tasks.pop_front();
                int code = task.executor.work(task.workspace);
                if (code && !status) status = code;
                if (code && !stuck) stuck = code;
                if (code) stubReport("EZ9999: [PID: 7] a kernel of the stub faulted\n");
                continue;
            }
        }
        if (Clock::now() >= until) return Fail(507046, "the stream was not done in time");
        std::this_thread::sleep_until(std::min(due, until));
    }
}

EXPORT int aclrtSynchronizeStream(void *stream) {
    if (static_cast<Stream *>(stream)->device != device) return Fail(107003, "stream of another device");
    return Run(static_cast<Stream *>(stream), Clock::now() + std::chrono::hours(1));
}

#ifndef STUB_OLD
EXPORT int aclrtSynchronizeStreamWithTimeout(void *stream, int ms) {
    if (static_cast<Stream *>(stream)->device != device) return Fail(107003, "stream of another device");
    auto wait = ms < 0 ? std::chrono::milliseconds(3600000) : std::chrono::milliseconds(ms);
    return Run(static_cast<Stream *>(stream), Clock::now() + wait);
}
#endif

EXPORT int aclrtStreamQuery(void *stream, int *status) {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    *status = static_cast<Stream *>(stream)->tasks.empty() ? 0 : 1;
    return 0;
}

EXPORT int aclrtDestroyStream(void *stream) {
    aclrtSynchronizeStream(stream);
    stubCount("stream", -1);
    delete static_cast<Stream *>(stream);
    return 0;
}

EXPORT int aclrtMalloc(void **address, size_t size, int) {
    if (device < 0) return Fail(107002, "no device in this thread");
    if (!address || !size) return Fail(100000, "NULL or size 0");
    if (int code = Stuck()) return Fail(code, "the device is in fault");
    std::lock_guard<std::recursive_mutex> guard(mutex);
    if (used + size > Limit()) return Fail(207001, "device memory is full");
    used += size;
    *address = aligned_alloc(64, (size + 63) / 64 * 64);
    memset(*address, 0xCC, size);
    memory[*address] = size;
    stubCount("memory", 1);
    return 0;
}

EXPORT int aclrtFree(void *address) {
    if (!address) return Fail(100000, "NULL");
    if (int code = Stuck()) return Fail(code, "the device is in fault");
    std::lock_guard<std::recursive_mutex> guard(mutex);
    auto found = memory.find(address);
    if (found == memory.end()) return Fail(107000, "not device memory");
    memset(address, 0xDD, found->second); // poison; never handed back to malloc, so a late use reads the poison
    used -= found->second;
    memory.erase(found);
    stubCount("memory", -1);
    return 0;
}

EXPORT int aclrtMemcpy(void *to, size_t room, const void *from, size_t count, int) {
    if (device < 0) return Fail(107002, "no device in this thread");
    if (int code = Stuck()) return Fail(code, "the device is in fault");
    if (count > room) return Fail(107000, "count is larger than the destination");
    memcpy(to, from, count);
    return 0;
}

// Like an operator: done when the stream is waited for.
EXPORT int aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t count, int, void *stream) {
    if (count > room) return Fail(107000, "count is larger than the destination");
    aclOpExecutor task;
    task.work = [=](void *) {
        memcpy(to, from, count);
        return 0;
    };
    return stubEnqueue(stream, task, nullptr);
}

EXPORT int aclrtMemset(void *to, size_t room, int value, size_t count) {
    if (count > room) return Fail(107000, "count is larger than the destination");
    memset(to, value, count);
    return 0;
}
