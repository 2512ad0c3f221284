# Rooms: each folder of src/ is one, an object library with its own declared dependencies, in the folder's CMakeLists.txt:
#
#     trivance_room(simulate DEPENDS torus goal common)
#
# A room is compiled with nothing in reach but its own headers, those of the rooms it depends on (and of theirs), and the
# public ones: links to them, in the build's folder rooms/. So an include that is not declared does not compile. A room
# can depend on rooms that are there already only, so there are no circles. tests/rooms.py compares what is declared with
# what is included, and with the table in CONTRIBUTING.md.
#
#     LIBRARIES   what else it is compiled with
#     SOURCES     made by the build
#     MPI         once for every MPI that is installed

# Lists a room and all that it can reach.
function(reach_of name result)
  set(reach ${name})
  foreach(other IN LISTS ARGN)
    get_property(known GLOBAL PROPERTY TRIVANCE_REACH_${other})
    if(NOT known)
      message(FATAL_ERROR "the room ${name} depends on ${other}, which is no room, or comes later")
    endif()
    list(APPEND reach ${known})
  endforeach()
  list(REMOVE_DUPLICATES reach)
  set(${result} ${reach} PARENT_SCOPE)
endfunction()

# Makes the folder in which a room finds headers.
function(open_view view)
  file(REMOVE_RECURSE ${view})
  foreach(room IN LISTS ARGN)
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.h)
    file(MAKE_DIRECTORY ${view}/${room})
    foreach(header IN LISTS headers)
      get_filename_component(name ${header} NAME)
      file(CREATE_LINK ${header} ${view}/${room}/${name} SYMBOLIC)
    endforeach()
  endforeach()
endfunction()

# A room of programs, of which the folder's CMakeLists.txt says how they are made: ${room_view} is where they find headers.
function(trivance_programs name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "DEPENDS")
  reach_of(${name} reach ${room_DEPENDS})
  set(room_view ${PROJECT_BINARY_DIR}/rooms/${name}.view)
  open_view(${room_view} ${reach})
  set(room_view ${room_view} PARENT_SCOPE)
endfunction()

function(trivance_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "MPI" "" "DEPENDS;LIBRARIES;SOURCES")
  string(REPLACE "/" "_" target room_${name})
  set(view ${PROJECT_BINARY_DIR}/rooms/${name}.view)
  reach_of(${name} reach ${room_DEPENDS})
  set_property(GLOBAL PROPERTY TRIVANCE_REACH_${name} ${reach})
  open_view(${view} ${reach})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  if(room_MPI)
    foreach(mpi openmpi mpich)
      if(TARGET mpi::${mpi})
        compile_room(${target}_${mpi} ${view} "${sources}" ${room_LIBRARIES} mpi::${mpi})
      endif()
    endforeach()
  else()
    compile_room(${target} ${view} "${sources};${room_SOURCES}" ${room_LIBRARIES})
  endif()
endfunction()

function(compile_room target view sources)
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE ${view} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE ${ARGN})
  set_property(GLOBAL APPEND PROPERTY TRIVANCE_ROOMS ${target})
endfunction()

# The objects of some rooms, for a library or a program.
function(objects_of result)
  set(objects)
  foreach(room IN LISTS ARGN)
    string(REPLACE "/" "_" target room_${room})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()
