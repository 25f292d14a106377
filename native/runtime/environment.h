// Settings from environment variables, refused by name when they make no sense.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace aclemu {

// Whole number between `least` and `most`, or `fallback` when the variable is unset or empty. Throws
// std::invalid_argument naming the variable, its value and the range.
int64_t EnvironmentInteger(const char *name, int64_t fallback, int64_t least, int64_t most);

// As above, in bytes: a number with an optional suffix K, M, G or T (powers of 1024).
uint64_t EnvironmentBytes(const char *name, uint64_t fallback, uint64_t least, uint64_t most);

// Position of the value among `choices`, 0 when the variable is unset or empty. Throws likewise.
size_t EnvironmentChoice(const char *name, std::initializer_list<const char *> choices);

// The value, or "" when unset.
std::string EnvironmentText(const char *name);

} // namespace aclemu
