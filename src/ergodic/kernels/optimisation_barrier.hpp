// An empty `asm` that marks a value as modified. It emits nothing, and stops GCC from reordering these loops into forms
// with more operations, or with more registers than there are.
#pragma once

#include <hwy/detect_compiler_arch.h>

#if HWY_COMPILER_GCC_ACTUAL
#define ERGODIC_KEEP_WORD(w) asm volatile("" : "+r"(w))  // a pointer or an integer
#else
#define ERGODIC_KEEP_WORD(w) (void)(w)
#endif

#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
#define ERGODIC_KEEP_VECTOR(v) asm volatile("" : "+x"((v).raw))
#else
#define ERGODIC_KEEP_VECTOR(v) (void)(v)
#endif
