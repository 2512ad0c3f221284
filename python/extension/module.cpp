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

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("make_group", &make_group, py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("timeout"),
          py::arg("torus"), py::arg("algorithm"), py::arg("provider"), py::arg("ports"), py::arg("narrow"),
          py::call_guard<py::gil_scoped_release>());
    m.def("ports_of", &ports_of, py::arg("group"));
    m.def("close_all", &trivance::close_all, py::arg("reason"), py::call_guard<py::gil_scoped_release>());
    m.attr("version") = TRV_VERSION;
}
