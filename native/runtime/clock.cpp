#include "runtime/clock.h"

#include <time.h>

#include <cstdio>

namespace aclemu {

std::string LocalTime()
{
    struct timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    struct tm local = {};
    localtime_r(&now.tv_sec, &local);
    char day[32];
    strftime(day, sizeof(day), "%Y-%m-%d-%H:%M:%S", &local);
    char text[64];
    std::snprintf(text, sizeof(text), "%s.%03ld.%03ld", day, now.tv_nsec / 1000000,
                  now.tv_nsec / 1000 % 1000);
    return text;
}

} // namespace aclemu
