// The exception that ends a core.
#pragma once

#include <string>

namespace ascendc {

struct KernelFault {
    bool timeout;
    std::string text;
};

// Thrown through the other cores of a launch that has failed.
struct Cancelled {};

std::string Format(const char *format, ...) __attribute__((format(printf, 1, 2)));

} // namespace ascendc
