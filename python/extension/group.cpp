/*
 * Creation and end of a group, and functions that all calls share.
 */
#include "group.hpp"

#include <cstring>

#include <Python.h>

namespace trivance
{

static constexpr int TAG_COLLECTIVE = (TRV_NET_TAG_MAX + 1) / 2; // above the tags of users
static constexpr Milliseconds START_TIMEOUT_MAX{30000};
static constexpr Milliseconds RANK_0_PRECEDENCE{1000}; // of rank 0's error over those of the other ranks

/* ---- Start and end ----------------------------------------------------------------------------------------------- */

// The text of PyTorch's exceptions without their backtrace.
static std::string sentence_of(const std::exception &error)
{
    const auto *own = dynamic_cast<const c10::Error *>(&error);
    return own ? own->what_without_backtrace() : error.what();
}

// Bootstrap through the store: rank 0 waits for all other ranks, at most for the group's timeout, and then stores its
// payload for them, or an error message if ranks are missing.
class StoreBootstrap
{
  public:
    // A store may be used for several groups in succession, so the keys contain the number of groups that the rank has
    // created.
    StoreBootstrap(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size, Milliseconds timeout, bool narrow)
        : store_(store), rank_(rank), size_(size), timeout_(timeout), narrow_(narrow),
          prefix_(text_of("trivance/", store->add("trivance/" + std::to_string(rank), 1), "/"))
    {
        store->set(prefix_ + std::to_string(rank), {1});
    }

    void gather()
    {
        if (rank_ > 0 || wait_for_keys(ranks(), timeout_))
            return;
        const std::string sentence = missing_ranks();
        store_->set(payload_key(), std::vector<uint8_t>(sentence.begin(), sentence.end()));
        throw std::runtime_error("init_process_group: " + sentence);
    }

    static int broadcast(void *context, void *data, size_t bytes)
    {
        auto *self = static_cast<StoreBootstrap *>(context);
        try {
            self->exchange(static_cast<uint8_t *>(data), bytes);
        } catch (const std::exception &error) {
            self->failure_ = text_of("the store failed: ", sentence_of(error));
        }
        return self->failure_.empty() ? TRV_OK : TRV_ERR_TRANSPORT;
    }

    const std::string &failure() const { return failure_; }
    bool narrow() const { return narrow_; } // rank 0's setting

  private:
    std::string payload_key() const { return prefix_ + "payload"; }

    std::vector<std::string> ranks() const
    {
        std::vector<std::string> keys;
        for (int r = 0; r < size_; r++)
            keys.push_back(prefix_ + std::to_string(r));
        return keys;
    }

    // Polls, because after a timeout of the store's own wait, PyTorch 1.13 takes late answers for those to later
    // requests.
    bool wait_for_keys(const std::vector<std::string> &keys, Milliseconds within)
    {
        const auto end = Clock::now() + within;
        for (Milliseconds pause{1}; !store_->check(keys); pause = std::min(2 * pause, Milliseconds(50))) {
            if (Clock::now() >= end)
                return false;
            std::this_thread::sleep_for(pause);
        }
        return true;
    }

    std::string missing_ranks()
    {
        std::string missing;
        for (int r = 0; r < size_; r++)
            if (!store_->check({prefix_ + std::to_string(r)}))
                missing += text_of(missing.empty() ? "" : ", ", r);
        return text_of("rank ", missing.empty() ? "0" : missing, " did not connect to the store within ",
                       static_cast<double>(timeout_.count()) / 1e3, " s");
    }

    void exchange(uint8_t *data, size_t bytes)
    {
        if (rank_ == 0) {
            std::vector<uint8_t> payload(data, data + bytes);
            payload.push_back(narrow_);
            payload.push_back(0); // an error sentence never ends with 0
            store_->set(payload_key(), payload);
            return;
        }
        if (!wait_for_keys({payload_key()}, timeout_ + RANK_0_PRECEDENCE)) {
            failure_ = missing_ranks();
            return;
        }
        const std::vector<uint8_t> payload = store_->get(payload_key());
        if (!payload.empty() && payload.back() != 0)
            failure_.assign(payload.begin(), payload.end());
        else if (payload.size() != bytes + 2)
            failure_ = "the payload of rank 0 in the store has an unexpected length; all ranks need the same version "
                       "of Trivance";
        else {
            std::memcpy(data, payload.data(), bytes);
            narrow_ = payload[bytes];
        }
    }

    const c10::intrusive_ptr<c10d::Store> store_;
    const int rank_, size_;
    const Milliseconds timeout_;
    bool narrow_;
    const std::string prefix_;
    std::string failure_;
};

static const char *or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

Group::Group(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size, Milliseconds timeout,
             const Settings &settings)
    : Base(rank, size)
{
    StoreBootstrap bootstrap(store, rank, size, timeout, settings.narrow);
    bootstrap.gather();
    trv_net_options_t options{};
    options.size = sizeof options;
    options.rank = rank;
    options.ranks = size;
    options.torus = or_null(settings.torus);
    options.algorithm = or_null(settings.algorithm);
    options.provider = or_null(settings.provider);
    options.ports = or_null(settings.ports);
    options.timeout_s = static_cast<double>(timeout.count()) / 1e3;
    options.start_timeout_s = static_cast<double>(std::min(timeout, START_TIMEOUT_MAX).count()) / 1e3;
    options.bootstrap_broadcast = StoreBootstrap::broadcast;
    options.bootstrap_context = &bootstrap;
    trv_net_t *net = nullptr;
    const int code = trv_net_init(&net, &options);
    if (code < 0 && !bootstrap.failure().empty())
        throw std::runtime_error("init_process_group: " + bootstrap.failure());
    if (code < 0)
        throw_last_error("init_process_group", code);
    narrow_ = bootstrap.narrow();
    engine_ = Engine::start(net);
}

Group::~Group()
{
    if (engine_)
        close({});
}

/* Python may call this while holding the GIL, which callbacks of futures may need, so the GIL is released. */
void Group::close(const std::string &reason)
{
    PyThreadState *state = Py_IsInitialized() && PyGILState_Check() ? PyEval_SaveThread() : nullptr;
    engine_->close(reason);
    if (state)
        PyEval_RestoreThread(state);
}

void Group::shutdown() { close({}); }

void Group::abort() { close("its program aborted the group"); }

std::vector<trv_net_port_t> Group::ports() const
{
    const auto open = engine_->enter("ports");
    std::vector<trv_net_port_t> list(static_cast<size_t>(trv_net_ports(engine_->net())));
    for (size_t i = 0; i < list.size(); i++) {
        list[i].size = sizeof list[i];
        trv_net_port(engine_->net(), static_cast<int>(i), &list[i]);
    }
    return list;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

OperationPtr Group::make(const char *call, c10d::OpType type, Milliseconds timeout, Tensors results)
{
    auto open = engine_->enter(call);
    auto made = c10::make_intrusive<Operation>(engine_, call, type, rank_, std::move(results));
    made->open_ = std::move(open);
    made->set_timeout(timeout);
    if (!c10d::isP2POp(type))
        calls_++;
    return made;
}

/* If a start fails after others have succeeded, the started ones are progressed to their end. */
void Group::check(const OperationPtr &operation, const char *call, int code)
{
    if (code == TRV_OK)
        return;
    try {
        throw_last_error(call, code);
    } catch (...) {
        if (operation->started())
            begin(operation);
        throw;
    }
}

WorkPtr Group::begin(const OperationPtr &operation)
{
    engine_->begin(operation);
#if TRIVANCE_COALESCING
    if (coalesces_)
        coalesced_.push_back(operation);
#endif
    return operation;
}

#if TRIVANCE_COALESCING
void Group::startCoalescing() { coalesces_ = true; }

WorkPtr Group::endCoalescing()
{
    auto all = make("coalesced operations", c10d::OpType::UNKNOWN, kNoTimeout, {});
    all->parts = std::move(coalesced_);
    coalesced_.clear();
    coalesces_ = false;
    return begin(all);
}
#endif

int Group::next_tag() { return TAG_COLLECTIVE + static_cast<int>(tags_++ % TAG_COLLECTIVE); }

void Group::require_rank(const char *call, int64_t rank) const
{
    require(rank >= 0 && rank < size_, call, "the group has no rank ", rank, "; its ranks are 0 … ", size_ - 1);
}

void Group::post(const OperationPtr &operation, const char *call, bool sends, const at::Tensor &flat, int peer, int tag)
{
    operation->keep_alive(flat);
    trv_net_request_t *request = operation->add();
    check(operation, call,
          sends ? trv_net_send_start(engine_->world(), flat.data_ptr(), bytes_of(flat), peer, tag, request)
                : trv_net_receive_start(engine_->world(), flat.data_ptr(), bytes_of(flat), peer, tag, request));
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

WorkPtr Group::send(Tensors &tensors, int peer, int tag)
{
    at::NoGradGuard guard;
    at::Tensor &tensor = only_tensor("send", tensors);
    require_rank("send", peer);
    require(tag >= 0 && tag < TAG_COLLECTIVE, "send", "expected a tag of 0 … ", TAG_COLLECTIVE - 1, ", not ", tag);
    auto operation = make("send", c10d::OpType::SEND, kNoTimeout, {tensor});
    post(operation, "send", true, flat_of(tensor), peer, tag);
    return begin(operation);
}

WorkPtr Group::recv(Tensors &tensors, int peer, int tag)
{
    at::NoGradGuard guard;
    at::Tensor tensor = only_tensor("recv", tensors);
    require_rank("recv", peer);
    require(tag >= 0 && tag < TAG_COLLECTIVE, "recv", "expected a tag of 0 … ", TAG_COLLECTIVE - 1, ", not ", tag);
    auto operation = make("recv", c10d::OpType::RECV, kNoTimeout, {tensor});
    const at::Tensor buffer = buffer_for(tensor);
    operation->source = peer;
    operation->finish_results = [tensor, buffer]() mutable { copy_to(tensor, buffer); };
    post(operation, "recv", false, buffer, peer, tag);
    return begin(operation);
}

WorkPtr Group::recvAnysource(Tensors &, int)
{
    require(false, "recv",
            "receiving from any rank is not supported; specify the source, for example recv(tensor, src=0)");
    return {};
}

} // namespace trivance
