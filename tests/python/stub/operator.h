// What operators of a stub library are made of: telling what they were given, and both phases.
#pragma once

#include "stub.h"

#include <cstdio>
#include <cstring>
#include <sstream>

static void Numbers(std::ostream &out, const std::vector<int64_t> &values) {
    out << '[';
    for (size_t i = 0; i < values.size(); ++i) out << (i ? "," : "") << values[i];
    out << ']';
}

static void Put(std::ostream &out, const aclTensor *t) {
    if (!t) { out << "null"; return; }
    out << "{\"shape\":";
    Numbers(out, t->shape);
    out << ",\"strides\":";
    Numbers(out, t->strides);
    out << ",\"storage\":";
    Numbers(out, t->storage);
    out << ",\"offset\":" << t->offset << ",\"dtype\":" << t->dtype << ",\"format\":" << t->format
        << ",\"address\":" << reinterpret_cast<uint64_t>(t->address) << '}';
}

static void Put(std::ostream &out, const aclScalar *s) {
    if (!s) { out << "null"; return; }
    out << "{\"dtype\":" << s->dtype << ",\"bytes\":";
    Numbers(out, {s->bytes.begin(), s->bytes.end()});
    out << '}';
}

template <class T> static void PutList(std::ostream &out, const T *list) {
    if (!list) { out << "null"; return; }
    out << '[';
    for (size_t i = 0; i < list->values.size(); ++i) {
        if (i) out << ',';
        Put(out, list->values[i]);
    }
    out << ']';
}

template <class T> static void PutArray(std::ostream &out, const T *array) {
    if (!array) { out << "null"; return; }
    out << '[';
    for (size_t i = 0; i < array->values.size(); ++i) {
        char text[40];
        snprintf(text, sizeof text, "%s%.17g", i ? "," : "", static_cast<double>(array->values[i]));
        out << text;
    }
    out << ']';
}

// The arguments of one call, by name, as JSON. Floating-point numbers as exact hexadecimal text.
class Recorder {
public:
    template <class T> Recorder &Add(const char *name, T value) {
        text_ << (first_ ? "" : ",") << '"' << name << "\":";
        first_ = false;
        Write(value);
        return *this;
    }
    std::string Text() const { return text_.str() + "}"; }

private:
    template <class T> std::enable_if_t<std::is_integral<T>::value> Write(T value) { text_ << +value; }
    void Write(double value) {
        char number[64];
        snprintf(number, sizeof number, "\"%a\"", value);
        text_ << number;
    }
    void Write(const char *value) {
        if (value) text_ << '"' << value << '"';
        else text_ << "null";
    }
    void Write(const aclTensor *value) { Put(text_, value); }
    void Write(const aclScalar *value) { Put(text_, value); }
    void Write(const aclTensorList *value) { PutList(text_, value); }
    void Write(const aclScalarList *value) { PutList(text_, value); }
    template <class T> void Write(const Values<T> *value) { PutArray(text_, value); }

    std::ostringstream text_{"{", std::ios::ate};
    bool first_ = true;
};

static int Finish(aclOpExecutor executor, uint64_t size, uint64_t *workspaceSize, aclOpExecutor **out) {
    stubCount("executor", 1);
    *workspaceSize = size;
    *out = new aclOpExecutor(std::move(executor));
    return 0;
}

static int Launch(void *workspace, uint64_t size, aclOpExecutor *executor, void *stream) {
    int code = !executor || (size && !workspace) ? 161001 : executor->launchStatus;
    if (!code && executor->prepare) executor->work = executor->prepare();
    if (!code) code = stubEnqueue(stream, *executor, workspace);
    if (executor && executor->repeatable) return code;
    stubCount("executor", -1);
    delete executor;
    return code;
}

#define PHASE2(name)                                                                                                \
    EXPORT int name(void *workspace, uint64_t size, aclOpExecutor *executor, void *stream) {                       \
        return Launch(workspace, size, executor, stream);                                                          \
    }
