// The body of an alias library: a table of addresses in the library beside this one, filled when this one is loaded, and one
// jump through it per function. The including file defines ALIAS_TARGET, ALIAS_COUNT and kNames, then lists ALIAS_JUMP.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" __attribute__((visibility("hidden"))) void *aclemuAliasTargets[ALIAS_COUNT];
void *aclemuAliasTargets[ALIAS_COUNT];

namespace {

// By its full path: a file of the same name elsewhere on the search path must not be taken for it.
__attribute__((constructor)) void FindTargets()
{
    Dl_info self{};
    dladdr(reinterpret_cast<void *>(&FindTargets), &self);
    std::string path = self.dli_fname == nullptr ? "" : self.dli_fname;
    path = path.substr(0, path.rfind('/') + 1) + ALIAS_TARGET;
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::abort();
    }
    for (int i = 0; i < ALIAS_COUNT; ++i) {
        aclemuAliasTargets[i] = dlsym(library, kNames[i]);
    }
}

} // namespace

#if defined(__x86_64__)
#define ALIAS_JUMP(name, index) \
    asm(".pushsection .text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
        "jmp *aclemuAliasTargets+8*" #index "(%rip)\n.popsection");
#elif defined(__aarch64__)
#define ALIAS_JUMP(name, index) \
    asm(".pushsection .text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
        "adrp x16, aclemuAliasTargets+8*" #index "\nldr x16, [x16, :lo12:aclemuAliasTargets+8*" #index "]\nbr x16\n" \
        ".popsection");
#else
#error "alias libraries are written for x86-64 and aarch64"
#endif
