// Writes error texts for the tests to look at; the first argument says which.
#include <thread>

#include "aclnn/opdev/op_errno.h"
#include "check.h"
#include "nnopbase/op_log.h"
#include "runtime/error.h"

int main(int argc, char **argv)
{
    const std::string scenario = argc > 1 ? argv[1] : "";
    CHECK(aclGetRecentErrMsg() == nullptr);
    if (scenario == "one") {
        CHECK(nnop::Refuse(ACLNN_ERR_PARAM_INVALID, "aclnnX", "x is [2], expected [3].") ==
              ACLNN_ERR_PARAM_INVALID);
    } else if (scenario == "several") {
        nnop::Refuse(ACLNN_ERR_INNER, "aclnnX", "an inner step failed.");
        nnop::Refuse(ACLNN_ERR_PARAM_NULLPTR, "aclnnX", "x is nullptr.");
        nnop::Refuse(ACLNN_ERR_PARAM_NULLPTR, "aclnnX", "x is nullptr.");
        nnop::Refuse(ACLNN_ERR_RUNTIME_ERROR, "aclnnX", "the runtime said no.");
    } else if (scenario == "inner") {
        nnop::Refuse(ACLNN_ERR_INNER_TILING_ERROR, "aclnnX", "tiling failed.");
    } else if (scenario == "long") {
        std::string text;
        for (int i = 0; i < 1000; ++i) {
            text += "\xE2\x82\xAC"; // three bytes each
        }
        aclemu::ReportError("EZ1001", "AclNN_Parameter_Error", text);
    } else if (scenario == "hint") {
        CHECK_CODE(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
    } else if (scenario == "full") {
        void *address = nullptr;
        CHECK_OK(aclrtSetDevice(0));
        CHECK_CODE(aclrtMalloc(&address, 1 << 21, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    } else if (scenario == "threads") {
        nnop::Refuse(ACLNN_ERR_PARAM_INVALID, "aclnnX", "mine.");
        std::thread([] {
            CHECK(aclGetRecentErrMsg() == nullptr);
            nnop::Refuse(ACLNN_ERR_PARAM_INVALID, "aclnnX", "its own.");
            CHECK(RecentText().find("its own") != std::string::npos);
        }).join();
    } else if (scenario == "shared") { // the messages of other threads come too, each with its thread
        CHECK_OK(aclInit(argv[2]));
        std::thread([] { nnop::Refuse(ACLNN_ERR_PARAM_INVALID, "aclnnX", "its own."); }).join();
        nnop::Refuse(ACLNN_ERR_PARAM_INVALID, "aclnnX", "mine.");
    } else if (scenario == "levels") {
        aclAppLog(ACL_INFO, "f", "dir/file.cpp", 7, "information %d", 5);
        aclAppLog(ACL_ERROR, "f", "dir/file.cpp", 8, "trouble");
        nnop::Refuse(ACLNN_ERR_PARAM_INVALID, "aclnnX", "refused.");
    } else if (scenario == "long log") {
        const std::string line(1000, 'x');
        for (int i = 0; i < 100000; ++i) { // five files of 20 MiB
            aclAppLog(ACL_ERROR, "f", "file.cpp", 1, "%s", line.c_str());
        }
    } else if (scenario == "many") {
        for (int i = 0; i < 100000; ++i) {
            nnop::Refuse(ACLNN_ERR_PARAM_INVALID, "aclnnX", "number " + std::to_string(i));
        }
    } else {
        return 2;
    }
    const std::string text = RecentText();
    CHECK(aclGetRecentErrMsg() == nullptr); // reading clears
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}
