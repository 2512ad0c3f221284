# Compiles the reduction kernels: one source, three instruction sets, bitwise identical results (no contraction of
# multiply and add). The library does not read the floating-point exception flags; without the need to preserve them the
# compiler can vectorize conditions. Included by src/execute/run/CMakeLists.txt.
set(kernel_folder ${CMAKE_CURRENT_LIST_DIR})
set(kernel_options -O3 -ffp-contract=off -fno-trapping-math)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  list(APPEND kernel_options -Wno-pass-failed) # clang warns about every loop on long double, which cannot be vectorized
endif()
set_source_files_properties(${kernel_folder}/reduce_plain.c PROPERTIES COMPILE_OPTIONS "${kernel_options}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set_source_files_properties(${kernel_folder}/reduce.c PROPERTIES COMPILE_DEFINITIONS TRIVANCE_KERNELS_X86)
  set_source_files_properties(${kernel_folder}/reduce_avx2.c PROPERTIES
    COMPILE_DEFINITIONS TRIVANCE_KERNELS_X86
    COMPILE_OPTIONS "${kernel_options};-mavx2;-mf16c")
  set_source_files_properties(${kernel_folder}/reduce_avx512.c PROPERTIES
    COMPILE_DEFINITIONS TRIVANCE_KERNELS_X86
    COMPILE_OPTIONS
      "${kernel_options};-mavx2;-mf16c;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mprefer-vector-width=512")
endif()
