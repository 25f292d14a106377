#include "ops/bsa_select_block_mask/op_api/bsa_select_block_mask_checks.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "aclnn/opdev/op_errno.h"
#include "nnopbase/objects.h"
#include "nnopbase/registry.h"

namespace ops {
namespace {

constexpr int64_t kHeadDim = BSA_HEAD_DIM;
constexpr int64_t kBlockStep = 64;
constexpr int64_t kDefaultBlock = 128;
constexpr int64_t kMostBatches = 65536; // each has a row in a table

enum class Layout { NONE, BNSD, TND };

Layout LayoutOf(const char *text)
{
    const std::string name = text == nullptr ? "" : text;
    return name == "BNSD" ? Layout::BNSD : name == "TND" ? Layout::TND : Layout::NONE;
}

std::string Text(int64_t value)
{
    return std::to_string(value);
}

std::string Quoted(const char *text)
{
    return text == nullptr ? "nullptr" : "'" + std::string(text) + "'";
}

// The values of an array, of a long one the first: a message has 1024 bytes.
std::string Entries(const std::vector<int64_t> &values)
{
    constexpr size_t most = 16;
    if (values.size() <= most) {
        return nnop::ToString(values);
    }
    std::string text = nnop::ToString({values.begin(), values.begin() + most});
    text.replace(text.size() - 1, 1, ", ...]");
    return text + " (" + std::to_string(values.size()) + " entries)";
}

// What the shapes say where they are meaningful: a later check answers where they are not.
struct View {
    Layout layout = Layout::NONE;
    bool ranksFit = false; // layouts known and equal, ranks as they say
    int64_t batch = 0;
    int64_t heads = 0;
    int64_t keyHeads = 0;
    int64_t queryAxis = 0; // S or T
    int64_t keyAxis = 0;
    int64_t blockX = kDefaultBlock;
    int64_t blockY = kDefaultBlock;
    int64_t xBlocks = 0;
    int64_t yBlocks = 0;
    std::vector<int64_t> queryLengths; // per batch
    std::vector<int64_t> keyLengths;
};

int64_t CeilBlocks(int64_t tokens, int64_t block)
{
    return tokens / block + (tokens % block != 0 ? 1 : 0);
}

aclnnStatus CheckArray(const Checks &check, const char *name, const aclIntArray *array)
{
    if (array == nullptr || nnop::SerialOf(array, nnop::Type::INT_ARRAY) != 0) {
        return ACLNN_SUCCESS;
    }
    return check.Fail(ACLNN_ERR_PARAM_INVALID, std::string(name) + " is not a live aclIntArray, expected one that "
                                                                   "aclCreateIntArray made and that still exists.");
}

aclnnStatus CheckObjects(const Checks &check, const BSASelectBlockMaskCall &call)
{
    OPS_RETURN_IF_ERROR(CheckArray(check, "blockShape", call.blockShape));
    OPS_RETURN_IF_ERROR(CheckArray(check, "actualSeqLengths", call.actualSeqLengths));
    OPS_RETURN_IF_ERROR(CheckArray(check, "actualSeqLengthsK", call.actualSeqLengthsK));
    OPS_RETURN_IF_ERROR(CheckArray(check, "actualBlockLenQuery", call.actualBlockLenQuery));
    return CheckArray(check, "actualBlockLenKey", call.actualBlockLenKey);
}

aclnnStatus CheckDTypes(const Checks &check, const BSASelectBlockMaskCall &call)
{
    OPS_RETURN_IF_ERROR(check.DType("query", call.query, {ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.DType("key", call.key, {ACL_FLOAT16, ACL_BF16}));
    OPS_RETURN_IF_ERROR(check.SameDType("key", call.key, "query", call.query));
    return check.DType("blockSparseMaskOut", call.blockSparseMaskOut, {ACL_INT8});
}

aclnnStatus CheckTensors(const Checks &check, const BSASelectBlockMaskCall &call)
{
    const struct {
        const char *name;
        const aclTensor *tensor;
    } tensors[] = {{"query", call.query}, {"key", call.key}, {"blockSparseMaskOut", call.blockSparseMaskOut}};
    for (const auto &[name, tensor] : tensors) {
        OPS_RETURN_IF_ERROR(check.PublicFormat(name, tensor));
        OPS_RETURN_IF_ERROR(check.Addressable(name, tensor));
        OPS_RETURN_IF_ERROR(check.NotEmpty(name, tensor));
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckBlockShape(const Checks &check, const BSASelectBlockMaskCall &call, View *view)
{
    if (call.blockShape != nullptr) {
        const auto &values = call.blockShape->values;
        if (values.size() < 2 || values[0] <= 0 || values[1] <= 0) {
            return check.Fail(ACLNN_ERR_PARAM_INVALID, "blockShape is " + Entries(values) +
                                                           ", expected two numbers above 0: query and key tokens of a block.");
        }
        view->blockX = values[0];
        view->blockY = values[1];
    }
    if (call.postBlockShape != nullptr) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "postBlockShape is given, expected nullptr: it is reserved.");
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckLayouts(const Checks &check, const BSASelectBlockMaskCall &call, View *view)
{
    if (call.queryLayout == nullptr || call.keyLayout == nullptr) {
        return ACLNN_SUCCESS; // a missing attribute is the tiling's business
    }
    if (std::string(call.queryLayout) != call.keyLayout) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "keyLayout is " + Quoted(call.keyLayout) + ", expected queryLayout, " +
                                                       Quoted(call.queryLayout) + ".");
    }
    view->layout = LayoutOf(call.queryLayout);
    const auto &query = call.query->viewShape;
    const auto &key = call.key->viewShape;
    const size_t rank = view->layout == Layout::TND ? 3 : 4;
    view->ranksFit = view->layout != Layout::NONE && query.size() == rank && key.size() == rank;
    if (!view->ranksFit) {
        return ACLNN_SUCCESS;
    }
    const bool tnd = view->layout == Layout::TND;
    view->batch = tnd ? 0 : query[0];
    view->heads = query[1];
    view->keyHeads = key[1];
    view->queryAxis = tnd ? query[0] : query[2];
    view->keyAxis = tnd ? key[0] : key[2];
    return ACLNN_SUCCESS;
}

aclnnStatus CheckHeads(const Checks &check, const BSASelectBlockMaskCall &call, const View &view)
{
    if (!view.ranksFit) {
        return ACLNN_SUCCESS;
    }
    if (call.numKeyHeads != view.heads) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "numKeyHeads is " + Text(call.numKeyHeads) +
                                                       ", expected the heads of query, " + Text(view.heads) +
                                                       ": only as many key heads as query heads are supported.");
    }
    if (view.layout == Layout::TND && view.keyHeads != view.heads) { // the tiling compares them in BNSD
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "key has shape " + nnop::ToString(call.key->viewShape) +
                                                       ", expected the heads of query, " + Text(view.heads) + ", on axis 1.");
    }
    return ACLNN_SUCCESS;
}

// The tokens of each batch: those given, or the whole axis.
aclnnStatus CheckLengths(const Checks &check, const char *name, const aclIntArray *given, const char *tensor, int64_t axis,
                         const View &view, std::vector<int64_t> *lengths)
{
    const bool tnd = view.layout == Layout::TND;
    if (given == nullptr) {
        if (tnd) {
            return check.Fail(ACLNN_ERR_PARAM_INVALID,
                              std::string(name) + " is nullptr, expected the length of each sequence: TND needs it.");
        }
        lengths->assign(static_cast<size_t>(std::min(view.batch, kMostBatches)), axis); // more are refused later
        return ACLNN_SUCCESS;
    }
    const auto &values = given->values;
    const std::string is = std::string(name) + " is " + Entries(values);
    if (values.empty() || (!tnd && static_cast<int64_t>(values.size()) != view.batch)) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          is + ", expected one length per sequence" + (tnd ? "." : ", " + Text(view.batch) + " of them."));
    }
    int64_t sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        if (values[i] < 0 || values[i] > axis) {
            return check.Fail(ACLNN_ERR_PARAM_INVALID, is + " with " + Text(values[i]) + " at index " + std::to_string(i) +
                                                           ", expected lengths of at least 0 and at most the " +
                                                           (tnd ? "T" : "S") + " axis of " + tensor + ", " +
                                                           Text(axis) + ".");
        }
        sum += values[i];
    }
    if (tnd && sum != axis) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID,
                          is + " with the sum " + Text(sum) + ", expected per-sequence lengths (not cumulative): the sum must be "
                                                              "the T axis of " + tensor + ", T=" + Text(axis) + ".");
    }
    *lengths = values;
    return ACLNN_SUCCESS;
}

aclnnStatus CheckBlockLens(const Checks &check, const char *name, const aclIntArray *given, int64_t block, int64_t blocks,
                           const std::vector<int64_t> &lengths, bool tnd)
{
    if (given == nullptr) {
        return ACLNN_SUCCESS;
    }
    const auto &values = given->values;
    int64_t expected = 0;
    for (const int64_t length : lengths) {
        expected += tnd ? CeilBlocks(length, block) : blocks;
    }
    if (static_cast<int64_t>(values.size()) != expected) {
        return check.Fail(ACLNN_ERR_PARAM_INVALID, std::string(name) + " has " + std::to_string(values.size()) +
                                                       " entries, expected " + Text(expected) +
                                                       ", one per block of all batches.");
    }
    for (size_t i = 0; i < values.size(); ++i) {
        if (values[i] < 0 || values[i] > block) {
            return check.Fail(ACLNN_ERR_PARAM_INVALID, std::string(name) + " has entry " + Text(values[i]) + " at index " +
                                                           std::to_string(i) + ", expected 0 to " + Text(block) + ".");
        }
    }
    return ACLNN_SUCCESS;
}

aclnnStatus CheckSequences(const Checks &check, const BSASelectBlockMaskCall &call, View *view)
{
    if (!view->ranksFit) {
        return ACLNN_SUCCESS;
    }
    const bool tnd = view->layout == Layout::TND;
    OPS_RETURN_IF_ERROR(CheckLengths(check, "actualSeqLengths", call.actualSeqLengths, "query", view->queryAxis, *view,
                                     &view->queryLengths));
    OPS_RETURN_IF_ERROR(
        CheckLengths(check, "actualSeqLengthsK", call.actualSeqLengthsK, "key", view->keyAxis, *view, &view->keyLengths));
    if (view->queryLengths.size() != view->keyLengths.size()) { // in TND
        return check.Fail(ACLNN_ERR_PARAM_INVALID, "actualSeqLengthsK has " + std::to_string(view->keyLengths.size()) +
                                                       " entries, expected as many as actualSeqLengths, " +
                                                       std::to_string(view->queryLengths.size()) + ".");
    }
    if (tnd) {
        view->batch = static_cast<int64_t>(view->queryLengths.size());
    }
    const auto longest = [tnd](const std::vector<int64_t> &lengths, int64_t axis) {
        return tnd ? *std::max_element(lengths.begin(), lengths.end()) : axis;
    };
    view->xBlocks = CeilBlocks(longest(view->queryLengths, view->queryAxis), view->blockX);
    view->yBlocks = CeilBlocks(longest(view->keyLengths, view->keyAxis), view->blockY);
    OPS_RETURN_IF_ERROR(CheckBlockLens(check, "actualBlockLenQuery", call.actualBlockLenQuery, view->blockX, view->xBlocks,
                                       view->queryLengths, tnd));
    OPS_RETURN_IF_ERROR(CheckBlockLens(check, "actualBlockLenKey", call.actualBlockLenKey, view->blockY, view->yBlocks,
                                       view->keyLengths, tnd));
    OPS_RETURN_IF_ERROR(check.HasShape("blockSparseMaskOut", call.blockSparseMaskOut,
                                       {view->batch, view->heads, view->xBlocks, view->yBlocks}, "[B, N, Xblocks, Yblocks]"));
    return check.Dense("blockSparseMaskOut", call.blockSparseMaskOut);
}

// What the tiling function of the device refuses.
aclnnStatus CheckTiling(const Checks &check, const BSASelectBlockMaskCall &call, const View &view)
{
    constexpr aclnnStatus refused = ACLNN_ERR_INNER_TILING_ERROR;
    if (call.queryLayout == nullptr || call.keyLayout == nullptr) {
        return check.Fail(refused, std::string(call.queryLayout == nullptr ? "queryLayout" : "keyLayout") +
                                       " is nullptr, expected 'BNSD' or 'TND'.");
    }
    const float sparsity = static_cast<float>(call.sparsity);
    if (!(sparsity > 0.0f && sparsity < 1.0f)) {
        return check.Fail(refused, "sparsity is " + std::to_string(call.sparsity) +
                                       ", expected above 0 and below 1 as a float: the share of the blocks to keep.");
    }
    if (view.blockX % kBlockStep != 0 || view.blockY % kBlockStep != 0) {
        return check.Fail(refused, "blockShape is [" + Text(view.blockX) + ", " + Text(view.blockY) +
                                       "], expected multiples of 64.");
    }
    const size_t rank = std::string(call.queryLayout).size(); // also of a layout that does not exist
    for (const auto *tensor : {call.query, call.key}) {
        if (tensor->viewShape.size() != rank) {
            return check.Fail(refused, std::string(tensor == call.query ? "query" : "key") + " has " +
                                           std::to_string(tensor->viewShape.size()) + " dimensions, shape " +
                                           nnop::ToString(tensor->viewShape) + ", expected " + std::to_string(rank) +
                                           ", one for each letter of queryLayout, " + Quoted(call.queryLayout) +
                                           ", which must be 'BNSD' or 'TND'.");
        }
    }
    if (view.layout == Layout::NONE) {
        return check.Fail(refused, "queryLayout is " + Quoted(call.queryLayout) + ", expected 'BNSD' or 'TND'.");
    }
    for (const auto *tensor : {call.query, call.key}) {
        if (tensor->viewShape.back() != kHeadDim) {
            return check.Fail(refused, std::string(tensor == call.query ? "query" : "key") + " has shape " +
                                           nnop::ToString(tensor->viewShape) + ", expected 128 as the last axis.");
        }
    }
    if (view.layout == Layout::BNSD && view.xBlocks == 1 && view.yBlocks == 1) {
        return check.Fail(refused, "the mask has Xblocks * Yblocks = 1 * 1, expected a product above 1 in BNSD: query "
                                   "has " + Text(view.queryAxis) + " tokens in blocks of " + Text(view.blockX) + ", key " +
                                       Text(view.keyAxis) + " in blocks of " + Text(view.blockY) + ".");
    }
    if (view.layout == Layout::BNSD &&
        (call.key->viewShape[0] != call.query->viewShape[0] || view.keyHeads != view.heads)) {
        return check.Fail(refused, "key has shape " + nnop::ToString(call.key->viewShape) +
                                       ", expected B and N of query, whose shape is " + nnop::ToString(call.query->viewShape) +
                                       ".");
    }
    if (view.batch > kMostBatches) {
        return check.Fail(refused, "query has B = " + Text(view.batch) + " sequences, expected at most " + Text(kMostBatches) +
                                       ".");
    }
    return ACLNN_SUCCESS;
}

std::vector<int64_t> Values(const aclIntArray *array)
{
    return array == nullptr ? std::vector<int64_t>() : array->values;
}

} // namespace

aclnnStatus CheckBSASelectBlockMask(const Checks &check, const BSASelectBlockMaskCall &call,
                                    BSASelectBlockMaskArguments *arguments)
{
    OPS_RETURN_IF_ERROR(check.NotNull("query", call.query));
    OPS_RETURN_IF_ERROR(check.NotNull("key", call.key));
    OPS_RETURN_IF_ERROR(check.NotNull("blockSparseMaskOut", call.blockSparseMaskOut));
    View view;
    OPS_RETURN_IF_ERROR(CheckObjects(check, call));
    OPS_RETURN_IF_ERROR(CheckDTypes(check, call));
    OPS_RETURN_IF_ERROR(CheckTensors(check, call));
    OPS_RETURN_IF_ERROR(CheckBlockShape(check, call, &view));
    OPS_RETURN_IF_ERROR(CheckLayouts(check, call, &view));
    OPS_RETURN_IF_ERROR(CheckHeads(check, call, view));
    OPS_RETURN_IF_ERROR(CheckSequences(check, call, &view));
    OPS_RETURN_IF_ERROR(CheckTiling(check, call, view));

    arguments->tokensFirst = view.layout == Layout::TND;
    arguments->heads = static_cast<uint64_t>(view.heads);
    arguments->queryAxis = static_cast<uint64_t>(view.queryAxis);
    arguments->keyAxis = static_cast<uint64_t>(view.keyAxis);
    arguments->queryLengths = view.queryLengths;
    arguments->keyLengths = view.keyLengths;
    arguments->queryLens = Values(call.actualBlockLenQuery);
    arguments->keyLens = Values(call.actualBlockLenKey);
    arguments->blockX = static_cast<uint64_t>(view.blockX);
    arguments->blockY = static_cast<uint64_t>(view.blockY);
    arguments->xBlocks = static_cast<uint64_t>(view.xBlocks);
    arguments->yBlocks = static_cast<uint64_t>(view.yBlocks);
    const bool noScale = static_cast<float>(call.scaleValue) == 0.0f; // the attribute is a float
    arguments->scale = noScale ? 1.0 / std::sqrt(static_cast<double>(kHeadDim)) : call.scaleValue;
    arguments->sparsity = call.sparsity;
    return ACLNN_SUCCESS;
}

} // namespace ops
