# How the reduction kernels are compiled: one source, three instruction sets, the same bits from each (no contraction of
# multiply and add). Nobody reads the floating-point flags here; not keeping them lets conditions become vector code.
# Included by src/execute/run/CMakeLists.txt.
set(kernel_folder ${CMAKE_CURRENT_LIST_DIR})
set(kernel_options -O3 -ffp-contract=off -fno-trapping-math)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  list(APPEND kernel_options -Wno-pass-failed) # long double has no vector code, and clang would say so for every loop
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
