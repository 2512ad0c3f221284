/*
 * Runs the core: the tool's subcommands, compiled to WebAssembly for WASI. Every question gets an instance of its own,
 * so that no state of the previous one remains. Creating an instance takes a millisecond, because the module is already
 * compiled. The system calls provide arguments, files in memory and the time.
 */

/**
 * @typedef {object} Answer
 * @property {number} code the exit code: 0 success, 1 a schedule is not what it claims, 2 bad input
 * @property {string} out stdout
 * @property {string} err stderr
 */

/** @typedef {{data: Uint8Array, at: number}} OpenFile */

const SUCCESS = 0, BAD_FILE = 8, INVALID = 28, NOT_THERE = 44, NO_CALL = 52;
const REGULAR = 4, FOLDER = 3;
const ANSWER_MAX = 256 << 20; // browsers limit strings to twice that

class Exit extends Error {
  /** @param {number} code */
  constructor(code) {
    super('exit');
    this.code = code;
  }
}

class TooLong extends Error {}

/** Bytes that arrive in pieces. */
class Sink {
  constructor() {
    /** @type {Uint8Array[]} */ this.pieces = [];
    this.length = 0;
  }

  /** @param {Uint8Array} bytes */
  add(bytes) {
    this.length += bytes.length;
    if (this.length > ANSWER_MAX) throw new TooLong();
    this.pieces.push(bytes.slice());
  }

  text() {
    const decoder = new TextDecoder();
    return this.pieces.map(piece => decoder.decode(piece, { stream: true })).join('') + decoder.decode();
  }
}

/**
 * Returns the system calls of one run.
 * @param {string[]} argv
 * @param {Map<string, Uint8Array>} files by name
 * @param {() => WebAssembly.Memory} memoryOf
 * @param {{out: Sink, err: Sink}} sinks
 */
function systemFor(argv, files, memoryOf, sinks) {
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  /** @type {Map<number, OpenFile>} */ const open = new Map();
  let nextFile = 4;
  const view = () => new DataView(memoryOf().buffer);
  const bytes = () => new Uint8Array(memoryOf().buffer);

  /** @param {string[]} list @param {number} pointers @param {number} texts */
  const putTexts = (list, pointers, texts) => {
    for (const text of list) {
      const encoded = encoder.encode(text + '\0');
      view().setUint32(pointers, texts, true);
      bytes().set(encoded, texts);
      pointers += 4;
      texts += encoded.length;
    }
    return SUCCESS;
  };
  /** @param {string[]} list @param {number} count @param {number} size */
  const putSizes = (list, count, size) => {
    view().setUint32(count, list.length, true);
    view().setUint32(size, list.reduce((sum, text) => sum + encoder.encode(text).length + 1, 0), true);
    return SUCCESS;
  };
  /** @param {number} vectors @param {number} count @param {(piece: Uint8Array) => number} move */
  const eachVector = (vectors, count, move) => {
    let moved = 0;
    for (let i = 0; i < count; i++) {
      const start = view().getUint32(vectors + 8 * i, true), length = view().getUint32(vectors + 8 * i + 4, true);
      const now = move(bytes().subarray(start, start + length));
      moved += now;
      if (now < length) break;
    }
    return moved;
  };
  const environment = ['LC_ALL=C.UTF-8'];

  return {
    args_get: (/** @type {number} */ p, /** @type {number} */ t) => putTexts(argv, p, t),
    args_sizes_get: (/** @type {number} */ c, /** @type {number} */ s) => putSizes(argv, c, s),
    environ_get: (/** @type {number} */ p, /** @type {number} */ t) => putTexts(environment, p, t),
    environ_sizes_get: (/** @type {number} */ c, /** @type {number} */ s) => putSizes(environment, c, s),
    /** @param {number} _clock @param {bigint} _precision @param {number} at */
    clock_time_get(_clock, _precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return SUCCESS;
    },
    fd_close: (/** @type {number} */ fd) => (open.delete(fd), SUCCESS),
    fd_fdstat_set_flags: () => SUCCESS,
    /** @param {number} fd @param {number} at */
    fd_fdstat_get(fd, at) {
      if (fd > 3 && !open.has(fd)) return BAD_FILE;
      bytes().fill(0, at, at + 24);
      view().setUint8(at, fd === 3 ? FOLDER : REGULAR); // stdout is not a terminal
      view().setBigUint64(at + 8, 0x1fffffffn, true);
      view().setBigUint64(at + 16, 0x1fffffffn, true);
      return SUCCESS;
    },
    /** @param {number} fd @param {number} at */
    fd_filestat_get(fd, at) {
      const file = open.get(fd);
      if (fd > 3 && !file) return BAD_FILE;
      bytes().fill(0, at, at + 64);
      view().setUint8(at + 16, fd === 3 ? FOLDER : REGULAR);
      view().setBigUint64(at + 32, BigInt(file ? file.data.length : 0), true);
      return SUCCESS;
    },
    /** @param {number} fd @param {number} at */
    fd_prestat_get(fd, at) {
      if (fd !== 3) return BAD_FILE;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return SUCCESS;
    },
    /** @param {number} fd @param {number} at */
    fd_prestat_dir_name(fd, at) {
      if (fd !== 3) return BAD_FILE;
      bytes()[at] = '/'.charCodeAt(0);
      return SUCCESS;
    },
    /** @param {number} fd @param {number} vectors @param {number} count @param {number} read */
    fd_read(fd, vectors, count, read) {
      const file = open.get(fd);
      if (!file) return BAD_FILE;
      const moved = eachVector(vectors, count, target => {
        const piece = file.data.subarray(file.at, file.at + target.length);
        target.set(piece);
        file.at += piece.length;
        return piece.length;
      });
      view().setUint32(read, moved, true);
      return SUCCESS;
    },
    /** @param {number} fd @param {bigint} offset @param {number} whence @param {number} result */
    fd_seek(fd, offset, whence, result) {
      const file = open.get(fd);
      if (!file) return fd < 3 ? INVALID : BAD_FILE;
      file.at = Number(offset) + (whence === 1 ? file.at : whence === 2 ? file.data.length : 0);
      view().setBigUint64(result, BigInt(file.at), true);
      return SUCCESS;
    },
    /** @param {number} fd @param {number} vectors @param {number} count @param {number} written */
    fd_write(fd, vectors, count, written) {
      const sink = fd === 1 ? sinks.out : fd === 2 ? sinks.err : null;
      const moved = eachVector(vectors, count, piece => {
        if (sink) sink.add(piece); // all other descriptors are /dev/null
        return piece.length;
      });
      view().setUint32(written, moved, true);
      return SUCCESS;
    },
    path_create_directory: () => NOT_THERE,
    /**
     * @param {number} _folder @param {number} _flags @param {number} path @param {number} length
     * @param {number} _o @param {bigint} _r @param {bigint} _i @param {number} _f @param {number} result
     */
    path_open(_folder, _flags, path, length, _o, _r, _i, _f, result) {
      const name = decoder.decode(bytes().slice(path, path + length)).replace(/^(\.\/)+/, '');
      const data = name === 'dev/null' ? new Uint8Array() : files.get(name) ?? files.get(`./${name}`);
      if (!data) return NOT_THERE;
      open.set(nextFile, { data, at: 0 });
      view().setUint32(result, nextFile++, true);
      return SUCCESS;
    },
    /** @param {number} code */
    proc_exit(code) {
      throw new Exit(code);
    },
  };
}

/**
 * Adds a stub for all calls that are linked but never made; it returns "not implemented".
 * @param {WebAssembly.Module} module
 * @param {Record<string, Function>} system
 * @returns {WebAssembly.ModuleImports}
 */
function completed(module, system) {
  const all = WebAssembly.Module.imports(module).filter(entry => entry.module === 'wasi_snapshot_preview1');
  return Object.fromEntries(all.map(entry => [entry.name, system[entry.name] ?? (() => NO_CALL)]));
}

/**
 * Runs the core once. `question` has the arguments of the tool, beginning with the subcommand.
 * @param {WebAssembly.Module} module
 * @param {string[]} question
 * @param {Map<string, Uint8Array>} [files]
 * @param {(fraction: number) => void} [progress]
 * @returns {Answer}
 */
export function ask(module, question, files = new Map(), progress = () => {}) {
  const sinks = { out: new Sink(), err: new Sink() };
  /** @type {WebAssembly.Instance} */ let instance;
  const memoryOf = () => /** @type {WebAssembly.Memory} */ (instance.exports.memory);
  let code = 0;
  try {
    instance = new WebAssembly.Instance(module, {
      wasi_snapshot_preview1: completed(module, systemFor(['trivance', ...question], files, memoryOf, sinks)),
      trivance: { progress },
    });
    /** @type {() => void} */ (instance.exports._start)();
  } catch (error) {
    if (!(error instanceof Exit)) {
      const reason = error instanceof TooLong
        ? `the answer has more than ${ANSWER_MAX >> 20} MiB, too many for the page; use the command line instead`
        : error instanceof RangeError ? 'the browser does not have enough memory; try a smaller torus'
        : `the core stopped: ${error instanceof Error ? error.message : error}`;
      return { code: 2, out: '', err: `trivance ${question[0]}: ${reason}\n` };
    }
    code = error.code;
  }
  return { code, out: sinks.out.text(), err: sinks.err.text() };
}
