#include "ascendc/twin/workers.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace ascendc {
namespace {

struct Workers {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<HelpRequest> requests;
    unsigned threads = 0;
};

void Serve(Workers *workers)
{
    std::unique_lock<std::mutex> lock(workers->mutex);
    for (;;) {
        workers->wake.wait(lock, [workers] { return !workers->requests.empty(); });
        HelpRequest request = std::move(workers->requests.front());
        workers->requests.pop_front();
        lock.unlock();
        (*request)();
        request.reset();
        lock.lock();
    }
}

// Signals are for the program's own threads.
bool StartThread(Workers *workers)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    try {
        std::thread(Serve, workers).detach();
    } catch (const std::system_error &) {
        started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

// Never destroyed: the threads may outlive the statics. A forked child has none of them and starts afresh.
std::atomic<Workers *> g_workers{nullptr};

Workers *Get()
{
    static const int registered = pthread_atfork(nullptr, nullptr, [] { g_workers.store(nullptr); });
    (void)registered;
    Workers *workers = g_workers.load();
    if (workers == nullptr) {
        auto *fresh = new Workers;
        if (g_workers.compare_exchange_strong(workers, fresh)) {
            return fresh;
        }
        delete fresh;
    }
    return workers;
}

} // namespace

void AskHelpers(const HelpRequest &request, unsigned count)
{
    Workers *workers = Get();
    std::lock_guard<std::mutex> lock(workers->mutex);
    while (workers->threads < count) {
        if (!StartThread(workers)) {
            break;   // the caller does the work alone
        }
        ++workers->threads;
    }
    if (workers->threads == 0) {
        return;
    }
    for (unsigned i = 0; i < count; ++i) {
        workers->requests.push_back(request);
        workers->wake.notify_one();
    }
}

} // namespace ascendc
