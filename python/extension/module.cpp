/*
 * The module trivance.torch._C.
 */
#include <torch/csrc/utils/pybind.h>

#include <pybind11/chrono.h>

#include "group.hpp"

namespace py = pybind11;

static c10::intrusive_ptr<trivance::Base> make_group(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size,
                                                     std::chrono::milliseconds timeout, const std::string &torus,
                                                     const std::string &algorithm, const std::string &provider,
                                                     const std::string &ports, bool narrow)
{
    return c10::make_intrusive<trivance::Group>(store, rank, size, timeout,
                                                trivance::Settings{torus, algorithm, provider, ports, narrow});
}

static std::vector<py::dict> ports_of(const c10::intrusive_ptr<trivance::Base> &base)
{
    const auto *group = dynamic_cast<const trivance::Group *>(base.get());
    if (!group)
        throw std::invalid_argument("the group does not use the backend \"trivance\"");
    std::vector<py::dict> list;
    for (const trv_net_port_t &port : group->ports()) {
        py::dict entry;
        entry["interface"] = port.interface;
        entry["provider"] = port.provider;
        entry["address"] = port.address;
        entry["ports"] = port.ports;
        entry["bytes_sent"] = port.bytes_sent;
        entry["bytes_received"] = port.bytes_received;
        entry["messages_sent"] = port.messages_sent;
        entry["messages_received"] = port.messages_received;
        list.push_back(entry);
    }
    return list;
}

#if TORCH_VERSION_MAJOR < 2
using trivance::Group;
using trivance::Tensors;

// Some methods of PyTorch 1.13 call operators, which replace a tensor that has the conjugate or negative bit by a copy,
// so that its result would be lost. These methods call the group itself. The inherited method handles other arguments.
template <typename Call> static void def_direct(const py::object &group, const char *name, Call call)
{
    const py::object inherited = py::type::of<trivance::Base>().attr(name);
    const py::cpp_function direct(call, py::name(name), py::is_method(group), py::call_guard<py::gil_scoped_release>());
    group.attr(
        name) = py::cpp_function([inherited](const py::object &self, const py::args &arguments,
                                             const py::kwargs &named) { return inherited(self, *arguments, **named); },
                                 py::name(name), py::is_method(group), py::sibling(direct));
}

static void def_group(py::module_ &m)
{
    const py::class_<Group, trivance::Base, c10::intrusive_ptr<Group>> group(m, "Group");
    def_direct(group, "broadcast", [](Group &at, Tensors tensors, const c10d::BroadcastOptions &options) {
        return at.broadcast(tensors, options);
    });
    def_direct(group, "allreduce", [](Group &at, Tensors tensors, const c10d::AllreduceOptions &options) {
        return at.allreduce(tensors, options);
    });
    def_direct(group, "reduce", [](Group &at, Tensors tensors, const c10d::ReduceOptions &options) {
        return at.reduce(tensors, options);
    });
    def_direct(group, "alltoall", [](Group &at, Tensors outputs, Tensors inputs, const c10d::AllToAllOptions &options) {
        return at.alltoall(outputs, inputs, options);
    });
    def_direct(group, "recv",
               [](Group &at, Tensors tensors, int peer, int tag) { return at.recv(tensors, peer, tag); });
}
#endif

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
#if TORCH_VERSION_MAJOR < 2
    def_group(m);
#endif
    m.def("make_group", &make_group, py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("timeout"),
          py::arg("torus"), py::arg("algorithm"), py::arg("provider"), py::arg("ports"), py::arg("narrow"),
          py::call_guard<py::gil_scoped_release>());
    m.def("ports_of", &ports_of, py::arg("group"));
    m.def("close_all", &trivance::close_all, py::arg("reason"), py::call_guard<py::gil_scoped_release>());
    m.attr("version") = TRV_VERSION;
}
