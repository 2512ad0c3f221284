# Rules of `make install`. Parts that were not built (because an MPI is missing) are omitted.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/trivance)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_to_prefix /prefix/${pkgconfig_dir} /prefix) # the installed tree may be moved
string(REGEX REPLACE "/$" "" pkgconfig_to_prefix "${pkgconfig_to_prefix}")

# ---- Core: headers, both libraries, pkg-config, CMake package ------------------------------------------------------
install(DIRECTORY include/trivance DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "net.h" EXCLUDE)
install(TARGETS trivance_shared trivance_static EXPORT trivance-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
configure_file(cmake/trivance.pc.in trivance.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/trivance.pc DESTINATION ${pkgconfig_dir})

# ---- Drawings and files: libtrivance_formats -------------------------------------------------------------------------
if(TARGET trivance_formats)
  set_target_properties(trivance_formats PROPERTIES INSTALL_RPATH $ORIGIN)
  install(TARGETS trivance_formats trivance_formats_static EXPORT trivance-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  configure_file(cmake/trivance-formats.pc.in trivance-formats.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/trivance-formats.pc DESTINATION ${pkgconfig_dir})
endif()

# ---- One MPI layer per MPI: libtrivance_mpi_<mpi>, the benchmark program, pkg-config -------------------------------
set(mpi_pkgconfig_openmpi ompi-c)
set(mpi_pkgconfig_mpich mpich)
set(mpis)
foreach(mpi openmpi mpich)
  if(NOT TARGET trivance_mpi_${mpi})
    continue()
  endif()
  list(APPEND mpis ${mpi})
  # The library finds libtrivance in its own folder, so the tree can be moved.
  set_target_properties(trivance_mpi_${mpi} PROPERTIES INSTALL_RPATH $ORIGIN)
  install(TARGETS trivance_mpi_${mpi} trivance_mpi_${mpi}_static EXPORT trivance-mpi-${mpi}-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(TARGET trivance-mpi.${mpi})
    install(TARGETS trivance-mpi.${mpi} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/trivance)
  endif()
  if(TARGET trivance_pmpi_${mpi}) # for LD_PRELOAD; `trivance run` searches for it there
    install(TARGETS trivance_pmpi_${mpi} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  set(mpi_pkgconfig ${mpi_pkgconfig_${mpi}})
  configure_file(cmake/trivance-mpi.pc.in trivance-mpi-${mpi}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/trivance-mpi-${mpi}.pc DESTINATION ${pkgconfig_dir})
  install(EXPORT trivance-mpi-${mpi}-targets NAMESPACE trivance:: DESTINATION ${package_dir})
endforeach()
if(TARGET trivance_pmpi_abi)
  install(TARGETS trivance_pmpi_abi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(mpis)
  install(FILES ${PROJECT_BINARY_DIR}/bindings/trivance/trivance_mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trivance)
endif()

# ---- Connections without MPI: libtrivance_net ----------------------------------------------------------------------
if(TARGET trivance_net)
  set_target_properties(trivance_net PROPERTIES INSTALL_RPATH $ORIGIN)
  install(TARGETS trivance_net trivance_net_static EXPORT trivance-net-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES include/trivance/net.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trivance)
  set(hwloc_word)
  if(hwloc_FOUND)
    set(hwloc_word -lhwloc)
  endif()
  set(pmix_word)
  if(pmix_FOUND)
    string(REPLACE ";" " " pmix_word "${pmix_LDFLAGS}")
  endif()
  configure_file(cmake/trivance-net.pc.in trivance-net.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/trivance-net.pc DESTINATION ${pkgconfig_dir})
  install(TARGETS trivance-net RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/trivance)
  install(EXPORT trivance-net-targets NAMESPACE trivance:: DESTINATION ${package_dir})
endif()

# ---- The component of Open MPI: OMPI_MCA_mca_base_component_path=<libdir>/trivance/openmpi:SYSTEM_DEFAULT -----------
if(TARGET mca_coll_trivance)
  install(TARGETS mca_coll_trivance LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/trivance/openmpi)
endif()

install(EXPORT trivance-targets NAMESPACE trivance:: DESTINATION ${package_dir})
configure_package_config_file(cmake/trivance-config.cmake.in trivance-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(trivance-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/trivance-config.cmake ${PROJECT_BINARY_DIR}/trivance-config-version.cmake
  DESTINATION ${package_dir})

# ---- Tool, man pages, documents, examples --------------------------------------------------------------------------
if(TARGET trivance)
  install(TARGETS trivance RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET trivance-torusnet) # started by `trivance testbed`
  set(testbed trivance-torusnet trivance-testbed-agent trivance_ranks)
  foreach(mpi openmpi mpich)
    if(TARGET trivance_clock_${mpi})
      list(APPEND testbed trivance_clock_${mpi})
    endif()
  endforeach()
  install(TARGETS ${testbed}
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/trivance LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/trivance)
endif()
if(TARGET explorer)
  install(FILES ${PROJECT_BINARY_DIR}/bin/explorer.html DESTINATION ${CMAKE_INSTALL_DATADIR}/trivance)
endif()
if(TARGET man)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
  install(FILES ${PROJECT_BINARY_DIR}/completions/trivance DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
# What `make docs` builds.
install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/man3/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 OPTIONAL)
# All files to which README.md links.
install(FILES README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE PATTERN site EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
