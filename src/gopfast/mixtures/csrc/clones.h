/* CLONES: a function compiled once for each instruction set, of which the loader takes the widest that the machine has.
   Functions with it fuse no operations, so that all of them round the same way.

   Not with clang: before its version 18 the symbol that chooses among them has a name that nobody calls. Not on Windows
   either, whose loader does not choose. */
#ifndef GOPFAST_CLONES_H
#define GOPFAST_CLONES_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

#endif
