/*
 * Operations, and the engine's thread, which progresses operations for which no thread waits.
 */
#include "engine.hpp"

#include <algorithm>
#include <future>
#include <pthread.h>
#include <set>

namespace trivance
{

using namespace std::chrono_literals;

// Times: before the engine progresses operations for which a caller may wait next; for one operation, before the
// others are polled; of polling after the last operation, until the thread sleeps; for callbacks, before another thread
// becomes the driver; for the end of the other ranks; the maximum timeout (a later time overflows the clock).
static constexpr auto PROGRESS_DELAY = 1ms;
static constexpr double WAIT_S = 0.0005;
static constexpr auto POLLING_TIME = 1000ms;
static constexpr auto CALLBACK_TIME = 1ms;
static constexpr auto FINALIZE_TIME = 1000ms;
static constexpr auto TIMEOUT_MAX = 876000h;

void throw_last_error(const char *call, int code)
{
    const std::string sentence = text_of(call, ": ", trv_last_error());
    if (code == TRV_ERR_ARGUMENT || code == TRV_ERR_UNSUPPORTED)
        throw std::invalid_argument(sentence);
    throw std::runtime_error(sentence);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

Operation::Operation(std::shared_ptr<Engine> engine, const char *call, c10d::OpType type, int rank,
                     std::vector<at::Tensor> results)
    : Work(rank, type, call, results), engine_(std::move(engine)), call_(call), results_(std::move(results)),
      inference_(c10::InferenceMode::is_enabled() ||
                 std::any_of(results_.begin(), results_.end(), [](const at::Tensor &at) { return at.is_inference(); }))
{
}

trv_net_request_t *Operation::add()
{
    requests_.push_back(TRV_NET_REQUEST_NULL);
    return &requests_.back();
}

bool Operation::started() const
{
    return std::any_of(requests_.begin(), requests_.end(), [](trv_net_request_t at) { return at != nullptr; });
}

void Operation::set_timeout(Milliseconds timeout)
{
    if (timeout.count() <= 0)
        return;
    timeout_ = std::min<Milliseconds>(timeout, TIMEOUT_MAX);
    deadline_ = (Clock::now() + timeout_).time_since_epoch().count();
}

void Operation::check_deadline(Clock::time_point now)
{
    const Clock::rep deadline = deadline_;
    if (deadline == 0 || now.time_since_epoch().count() < deadline || over_)
        return;
    deadline_ = 0;
    trv_net_abort(engine_->net(),
                  text_of(call_, " took longer than ", static_cast<double>(timeout_.count()) / 1e3, " s").c_str());
}

/* After an error it continues to the last request, so that no buffer is in use when the operation is complete. */
void Operation::advance(bool waits, double seconds)
{
    for (const OperationPtr &part : parts)
        try {
            if (!waits && !part->try_progress(seconds))
                return;
            part->wait();
        } catch (const std::exception &error) {
            if (failure_.empty())
                failure_ = error.what();
        }
    for (trv_net_request_t &request : requests_) {
        bool done = true;
        const int rc = waits ? trv_net_wait(&request) : trv_net_wait_for(&request, seconds, &done);
        if (rc < 0 && failure_.empty())
            failure_ = text_of(call_, ": ", trv_last_error());
        if (!done)
            return;
    }
    complete();
}

void Operation::complete()
{
    std::exception_ptr error;
    if (!failure_.empty())
        error = std::make_exception_ptr(std::runtime_error(failure_));
    else if (finish_results) {
        try {
            c10::InferenceMode mode(inference_);
            at::NoGradGuard guard;
            finish_results();
        } catch (...) {
            error = std::current_exception();
        }
    }
    finish_results = nullptr;
    tensors_.clear();
    parts.clear();
    engine_->remove(this);
    std::lock_guard<std::mutex> lock(completion_mutex_);
    finish(error);
    over_ = true;
    future_to_complete_ = future_;
}

void Operation::progress(std::unique_lock<std::mutex> lock, bool waits, double seconds)
{
    const OperationPtr self = OperationPtr::unsafe_reclaim_from_nonowning(this);
    if (!over_)
        advance(waits, seconds);
    const auto future = std::move(future_to_complete_);
    future_to_complete_ = {};
    lock.unlock();
    if (!future)
        return;
    engine_->complete_future([&] {
        if (isSuccess())
            future->markCompleted(c10::IValue(results_));
        else
            future->setError(exception());
    });
}

bool Operation::is_due(Clock::time_point now) const { return has_future_ || now - start_time_ > PROGRESS_DELAY; }

bool Operation::try_progress(double seconds)
{
    std::unique_lock<std::mutex> lock(progress_mutex_, std::try_to_lock);
    if (lock.owns_lock())
        progress(std::move(lock), false, seconds);
    return over_;
}

bool Operation::isCompleted()
{
    if (over_)
        return true;
    engine_->require_member(call_);
    return try_progress();
}

bool Operation::isSuccess() const
{
    std::lock_guard lock(mutex_); // the mutex of Work, a timed one in some versions 2.x
    return completed_ && !exception_;
}

bool Operation::wait(Milliseconds timeout)
{
    set_timeout(timeout);
    if (!over_) {
        engine_->require_member(call_);
        has_waiter_ = true;
        progress(std::unique_lock<std::mutex>(progress_mutex_), true);
    }
    std::lock_guard lock(mutex_);
    if (exception_)
        std::rethrow_exception(exception_);
    return true;
}

void Operation::abort() { engine_->abort(text_of(call_, " was aborted")); }

std::vector<at::Tensor> Operation::result() { return results_; }

c10::intrusive_ptr<c10::ivalue::Future> Operation::getFuture()
{
    std::unique_lock<std::mutex> lock(completion_mutex_);
    if (future_)
        return future_;
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    has_future_ = true;
    const bool over = over_;
    lock.unlock();
    if (!over)
        engine_->wake();
    else if (isSuccess())
        future_->markCompleted(c10::IValue(results_));
    else
        future_->setError(exception());
    return future_;
}

/* ---- The engine -------------------------------------------------------------------------------------------------- */

static std::mutex all_mutex; // protects both lists
static std::condition_variable all_changed;
static std::set<std::shared_ptr<Engine>> &all()
{
    static auto *engines = new std::set<std::shared_ptr<Engine>>; // never freed: threads may outlive static objects
    return *engines;
}

// Threads that must still be joined, each with its process: a forked child inherits the list but not the threads.
struct ThreadToJoin {
    std::thread thread;
    pid_t process;
};
static std::vector<ThreadToJoin> &threads_to_join()
{
    static auto *list = new std::vector<ThreadToJoin>;
    return *list;
}

static thread_local bool is_engine_thread; // whether this thread belongs to an engine

static void join_at_exit(std::thread thread)
{
    std::lock_guard<std::mutex> lock(all_mutex);
    threads_to_join().push_back({std::move(thread), getpid()});
}

static void name_thread(std::thread &thread) { pthread_setname_np(thread.native_handle(), "trivance-torch"); }

std::shared_ptr<Engine> Engine::start(trv_net_t *net)
{
    std::shared_ptr<Engine> made(new Engine(net));
    {
        std::lock_guard<std::mutex> lock(made->mutex_);
        made->add_thread();
    }
    std::lock_guard<std::mutex> lock(all_mutex);
    all().insert(made);
    return made;
}

/* The thread keeps the engine alive until it ends, even if a callback of a future releases the group. */
void Engine::add_thread()
{
    threads_.emplace_back([self = shared_from_this()] {
        is_engine_thread = true;
        self->run();
    });
    name_thread(threads_.back());
}

void Engine::require_member(const char *call) const
{
    if (process_ != getpid())
        throw std::runtime_error(text_of(call, ": this process was forked after the group was created and is not a "
                                               "member; only the process that created it can use it"));
}

std::shared_lock<std::shared_mutex> Engine::enter(const char *call)
{
    require_member(call);
    std::shared_lock<std::shared_mutex> lock(open_);
    if (closed_)
        throw std::runtime_error(text_of(call, ": the group has been shut down"));
    return lock;
}

void Engine::abort(const std::string &reason)
{
    std::shared_lock<std::shared_mutex> lock(open_);
    if (!closed_)
        trv_net_abort(net_, reason.c_str());
}

void Engine::begin(const OperationPtr &operation)
{
    {
        std::lock_guard<std::mutex> lock(mutex_);
        pending_.push_back(operation);
        if (asleep_)
            changed_.notify_one();
    }
    operation->open_ = {};
}

void Engine::remove(const Operation *operation)
{
    OperationPtr kept; // freed without the lock
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(pending_.begin(), pending_.end(),
                                    [operation](const OperationPtr &at) { return at.get() == operation; });
    if (found == pending_.end())
        return;
    kept = std::move(*found);
    pending_.erase(found);
}

void Engine::wake()
{
    std::lock_guard<std::mutex> lock(mutex_);
    woken_ = true;
    changed_.notify_one();
}

void Engine::complete_future(const std::function<void()> &complete)
{
    if (!drives()) {
        complete();
        return;
    }
    {
        std::lock_guard<std::mutex> lock(mutex_);
        driver_ = std::thread::id();
        driver_changed_.notify_one();
        if (idle_threads_ == 0 && !stop_)
            try {
                add_thread();
            } catch (const std::system_error &) { // thread limit reached: callbacks must then not block
            }
    }
    complete();
    std::lock_guard<std::mutex> lock(mutex_);
    if (driver_ == std::thread::id())
        driver_ = std::this_thread::get_id();
}

/* Progresses the operations that are due and for which no thread waits; waits briefly for the oldest of them, which
 * also progresses all others. Returns whether any is incomplete. */
bool Engine::round()
{
    std::vector<OperationPtr> pending;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        woken_ = false;
        pending = pending_;
    }
    bool more = false;
    const Clock::time_point now = Clock::now();
    for (const OperationPtr &operation : pending) {
        if (!drives())
            return false;
        operation->check_deadline(now);
        if (!operation->has_waiter_ && operation->is_due(now))
            more = !operation->try_progress(more ? 0 : WAIT_S) || more;
    }
    return more;
}

void Engine::run()
{
    Clock::time_point last = Clock::now();
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stop_) {
        if (!drives()) {
            idle_threads_++;
            driver_changed_.wait(lock, [this] { return stop_ || driver_ == std::thread::id(); });
            driver_changed_.wait_for(lock, CALLBACK_TIME, [this] { return stop_ || driver_ != std::thread::id(); });
            idle_threads_--;
            if (driver_ == std::thread::id())
                driver_ = std::this_thread::get_id();
            continue;
        }
        const bool empty = pending_.empty();
        lock.unlock();
        const bool more = round();
        lock.lock();
        if (more || !drives())
            continue;
        const Clock::time_point now = Clock::now();
        last = empty ? last : now;
        asleep_ = now - last > POLLING_TIME;
        if (asleep_)
            changed_.wait(lock, [this] { return stop_ || woken_ || !pending_.empty(); });
        else
            changed_.wait_for(lock, PROGRESS_DELAY, [this] { return stop_ || woken_; });
        asleep_ = false;
    }
}

/* The last reference may be released in a callback, on a thread of this engine or of another one, which may wait for
 * this engine's thread. The threads are then joined at the end of the process. */
void Engine::end_threads()
{
    std::vector<std::thread> threads;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        threads.swap(threads_);
    }
    for (std::thread &thread : threads)
        if (is_engine_thread)
            join_at_exit(std::move(thread));
        else
            thread.join();
}

void Engine::close(const std::string &reason)
{
    if (process_ != getpid())
        return;
    if (!reason.empty())
        abort(reason);
    {
        std::unique_lock<std::shared_mutex> lock(open_);
        if (closed_.exchange(true))
            return;
    }
    std::vector<OperationPtr> left;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
        changed_.notify_all();
        driver_changed_.notify_all();
        left = pending_;
    }
    for (const OperationPtr &operation : left)
        if (!operation->isCompleted())
            trv_net_abort(net_, text_of("it destroyed the group while ", operation->call_, " was active").c_str());
    for (const OperationPtr &operation : left)
        try {
            operation->wait();
        } catch (...) { // reported to the holder of the operation
        }
    end_threads();
    std::promise<void> over;
    std::future<void> ended = over.get_future();
    std::thread ending([self = shared_from_this(), over = std::move(over)]() mutable {
        trv_net_finalize(&self->net_);
        over.set_value();
    });
    name_thread(ending);
    if (ended.wait_for(FINALIZE_TIME) == std::future_status::ready)
        ending.join();
    else
        join_at_exit(std::move(ending));
    std::lock_guard<std::mutex> lock(all_mutex);
    all().erase(shared_from_this());
    all_changed.notify_all();
}

void close_all(const std::string &reason)
{
    std::vector<std::shared_ptr<Engine>> left;
    std::vector<std::thread> ending;
    {
        std::lock_guard<std::mutex> lock(all_mutex);
        left.assign(all().begin(), all().end());
    }
    for (const auto &engine : left)
        engine->close(reason);
    {
        std::unique_lock<std::mutex> lock(all_mutex);
        all_changed.wait(lock, [&] { // a callback may be closing one
            return std::none_of(left.begin(), left.end(),
                                [](const auto &at) { return at->is_member() && all().count(at) > 0; });
        });
        for (ThreadToJoin &at : threads_to_join())
            if (at.process == getpid() && at.thread.joinable())
                ending.push_back(std::move(at.thread));
    }
    for (std::thread &thread : ending)
        thread.join();
}

} // namespace trivance
