#include "runtime/host_pages.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace aclemu {
namespace {

// Of Linux 5.14; older headers lack the names.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

struct Pages {
    uintptr_t first;
    size_t length;
};

uintptr_t PageSize()
{
    static const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    return size;
}

// False if the bytes do not end within the address space.
bool Cover(const void *address, size_t bytes, Pages *pages)
{
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const uintptr_t mask = ~(PageSize() - 1);
    if (bytes > UINTPTR_MAX - PageSize() - begin) {
        return false;
    }
    pages->first = begin & mask;
    pages->length = ((begin + bytes + PageSize() - 1) & mask) - pages->first;
    return true;
}

bool Populate(const Pages &pages, int advice)
{
    int result = 0;
    do {
        result = madvise(reinterpret_cast<void *>(pages.first), pages.length, advice);
    } while (result != 0 && (errno == EINTR || errno == EAGAIN));
    return result == 0;
}

// Older systems refuse the advice itself.
bool CanPopulate()
{
    static const bool can = [] {
        const int known = 0;
        Pages pages = {};
        return Cover(&known, sizeof(known), &pages) && Populate(pages, kPopulateRead);
    }();
    return can;
}

// The system reads one byte; only its word that there is none counts, as a sandbox may forbid the question.
bool Probe(uintptr_t address)
{
    char byte = 0;
    const iovec to = {&byte, 1};
    const iovec from = {reinterpret_cast<void *>(address), 1};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 || errno != EFAULT;
}

bool Reaches(const void *address, size_t bytes, int advice)
{
    Pages pages = {};
    if (!Cover(address, bytes, &pages)) {
        return false;
    }
    return CanPopulate() ? Populate(pages, advice)
                         : Probe(pages.first) && Probe(pages.first + pages.length - PageSize());
}

} // namespace

bool IsReadable(const void *address, size_t bytes)
{
    return Reaches(address, bytes, kPopulateRead);
}

bool IsWritable(const void *address, size_t bytes)
{
    return Reaches(address, bytes, kPopulateWrite);
}

bool IsMapped(const void *address, size_t bytes)
{
    constexpr size_t most = 4096; // pages in one question
    unsigned char present[most];
    Pages pages = {};
    if (!Cover(address, bytes, &pages)) {
        return false;
    }
    for (size_t done = 0; done < pages.length; done += most * PageSize()) {
        const size_t length = std::min(pages.length - done, most * PageSize());
        if (mincore(reinterpret_cast<void *>(pages.first + done), length, present) != 0 && errno == ENOMEM) {
            return false;
        }
    }
    return true;
}

} // namespace aclemu
