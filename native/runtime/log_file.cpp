#include "runtime/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace aclemu {
namespace {

bool MakeFolders(const std::string &folder)
{
    for (size_t slash = folder.find('/', 1); slash != std::string::npos; slash = folder.find('/', slash + 1)) {
        mkdir(folder.substr(0, slash).c_str(), 0750); // those that exist fail, which is fine
    }
    mkdir(folder.c_str(), 0750);
    struct stat found = {};
    return stat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

std::string FileName()
{
    struct timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    struct tm local = {};
    localtime_r(&now.tv_sec, &local);
    char day[32];
    strftime(day, sizeof(day), "%Y%m%d%H%M%S", &local);
    char name[96];
    std::snprintf(name, sizeof(name), "plog-%d_%s%03ld%03ld.log", getpid(), day, now.tv_nsec / 1000000,
                  now.tv_nsec / 1000 % 1000);
    return name;
}

} // namespace

LogFile::LogFile(std::string folder, size_t keep, uint64_t fileBytes)
    : folder_(std::move(folder)), keep_(keep), fileBytes_(fileBytes)
{
}

bool LogFile::Open()
{
    if (file_ >= 0) {
        close(file_);
    }
    if (process_ != getpid()) {
        process_ = getpid();
        paths_.clear();
    }
    const std::string path = folder_ + "/" + FileName();
    file_ = MakeFolders(folder_) ? open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640) : -1;
    written_ = 0;
    if (file_ < 0) {
        return false;
    }
    paths_.push_back(path);
    while (paths_.size() > keep_) {
        unlink(paths_.front().c_str());
        paths_.pop_front();
    }
    return true;
}

void LogFile::Write(const std::string &line)
{
    if (failed_) {
        return;
    }
    if ((file_ < 0 || process_ != getpid() || written_ + line.size() > fileBytes_) && !Open()) {
        failed_ = true; // once is enough: a full or read-only disk must not slow every error down
        return;
    }
    const ssize_t count = write(file_, line.data(), line.size());
    written_ += count > 0 ? static_cast<uint64_t>(count) : 0;
}

} // namespace aclemu
