// The log files of this process.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

namespace aclemu {

// Appends to a file in `folder` until it is full, then goes on in a new one; keeps the last few. Folders are made as
// needed. Not for several threads at once.
class LogFile {
public:
    LogFile(std::string folder, size_t keep, uint64_t fileBytes);

    void Write(const std::string &line); // what cannot be written is lost

private:
    bool Open();

    const std::string folder_;
    const size_t keep_;
    const uint64_t fileBytes_;
    std::deque<std::string> paths_; // oldest first
    int file_ = -1;
    int process_ = 0; // that opened it; a fork writes files of its own
    uint64_t written_ = 0;
    bool failed_ = false;
};

} // namespace aclemu
