#include "runtime/environment.h"

#include <cerrno>
#include <cstdlib>
#include <stdexcept>

namespace aclemu {
namespace {

[[noreturn]] void Refuse(const char *name, const std::string &value, const std::string &expected)
{
    throw std::invalid_argument(std::string(name) + " is \"" + value + "\"; it must be " + expected);
}

} // namespace

std::string EnvironmentText(const char *name)
{
    const char *value = std::getenv(name);
    return value != nullptr ? value : "";
}

size_t EnvironmentChoice(const char *name, std::initializer_list<const char *> choices)
{
    const std::string value = EnvironmentText(name);
    size_t position = 0;
    std::string list;
    for (const char *choice : choices) {
        if (value == choice) {
            return position;
        }
        ++position;
        list += (list.empty() ? "" : ", ") + std::string(choice);
    }
    if (!value.empty()) {
        Refuse(name, value, "one of " + list);
    }
    return 0;
}

int64_t EnvironmentInteger(const char *name, int64_t fallback, int64_t least, int64_t most)
{
    const std::string value = EnvironmentText(name);
    if (value.empty()) {
        return fallback;
    }
    errno = 0;
    char *end = nullptr;
    const long long number = std::strtoll(value.c_str(), &end, 10);
    if (errno != 0 || *end != '\0' || number < least || number > most) {
        Refuse(name, value, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return number;
}

uint64_t EnvironmentBytes(const char *name, uint64_t fallback, uint64_t least, uint64_t most)
{
    const std::string value = EnvironmentText(name);
    if (value.empty()) {
        return fallback;
    }
    errno = 0;
    char *end = nullptr;
    const unsigned long long number = std::strtoull(value.c_str(), &end, 10);
    const std::string suffix = end;
    unsigned shift = 0;
    bool valid = errno == 0 && value[0] >= '0' && value[0] <= '9';
    if (suffix == "K") {
        shift = 10;
    } else if (suffix == "M") {
        shift = 20;
    } else if (suffix == "G") {
        shift = 30;
    } else if (suffix == "T") {
        shift = 40;
    } else {
        valid = valid && suffix.empty();
    }
    valid = valid && number <= (most >> shift) && (number << shift) >= least;
    if (!valid) {
        Refuse(name, value,
               "a size in bytes, such as 512M or 64G, from " + std::to_string(least) + " to " +
                   std::to_string(most));
    }
    return number << shift;
}

} // namespace aclemu
