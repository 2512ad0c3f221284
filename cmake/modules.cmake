# Modules: each folder of src/ with a CMakeLists.txt is one, an object library with its own declared dependencies, in the folder's CMakeLists.txt:
#
#     trivance_module(simulate DEPENDS torus simulate/goal base)
#
# A module is compiled with nothing in reach but its own headers, those of the modules it depends on (and of theirs), and the
# public ones: links to them, in the build's folder modules/. So an include that is not declared does not compile. A module
# can depend on modules that are there already only, so there are no circles. tests/modules.py compares what is declared with
# what is included, and with the table in CONTRIBUTING.md.
#
#     LIBRARIES   what else it is compiled with
#     SOURCES     made by the build
#     MPI         once for every MPI that is installed

# Lists a module and all that it can reach.
function(reach_of name result)
  set(reach ${name})
  foreach(other IN LISTS ARGN)
    get_property(known GLOBAL PROPERTY TRIVANCE_REACH_${other})
    if(NOT known)
      message(FATAL_ERROR "the module ${name} depends on ${other}, which is no module, or comes later")
    endif()
    list(APPEND reach ${known})
  endforeach()
  list(REMOVE_DUPLICATES reach)
  set(${result} ${reach} PARENT_SCOPE)
endfunction()

# Modules lie in src/, but for the programs above the tool's libraries, which have folders of their own.
function(module_folder name result)
  if(name MATCHES "^(testbed|explorer)(/|$)")
    set(${result} ${PROJECT_SOURCE_DIR}/${name} PARENT_SCOPE)
  else()
    set(${result} ${PROJECT_SOURCE_DIR}/src/${name} PARENT_SCOPE)
  endif()
endfunction()

# Makes the folder in which a module finds headers.
function(open_view view)
  file(REMOVE_RECURSE ${view})
  foreach(module IN LISTS ARGN)
    module_folder(${module} folder)
    file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h)
    file(MAKE_DIRECTORY ${view}/${module})
    foreach(header IN LISTS headers)
      get_filename_component(name ${header} NAME)
      file(CREATE_LINK ${header} ${view}/${module}/${name} SYMBOLIC)
    endforeach()
  endforeach()
endfunction()

# A module of programs, of which the folder's CMakeLists.txt says how they are made: ${module_view} is where they find headers.
function(trivance_programs name)
  cmake_parse_arguments(PARSE_ARGV 1 module "" "" "DEPENDS")
  reach_of(${name} reach ${module_DEPENDS})
  set(module_view ${PROJECT_BINARY_DIR}/modules/${name}.view)
  open_view(${module_view} ${reach})
  set(module_view ${module_view} PARENT_SCOPE)
endfunction()

function(trivance_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "MPI" "" "DEPENDS;LIBRARIES;SOURCES")
  string(REPLACE "/" "_" target module_${name})
  set(view ${PROJECT_BINARY_DIR}/modules/${name}.view)
  reach_of(${name} reach ${module_DEPENDS})
  set_property(GLOBAL PROPERTY TRIVANCE_REACH_${name} ${reach})
  open_view(${view} ${reach})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  if(module_MPI)
    foreach(mpi openmpi mpich)
      if(TARGET mpi::${mpi})
        compile_module(${target}_${mpi} ${view} "${sources}" ${module_LIBRARIES} mpi::${mpi})
      endif()
    endforeach()
  else()
    compile_module(${target} ${view} "${sources};${module_SOURCES}" ${module_LIBRARIES})
  endif()
endfunction()

function(compile_module target view sources)
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE ${view} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TRIVANCE_MODULES ${target})
endfunction()

# The objects of some modules, for a library or a program.
function(objects_of result)
  set(objects)
  foreach(module IN LISTS ARGN)
    string(REPLACE "/" "_" target module_${module})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()
