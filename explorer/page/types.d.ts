/* Modules that the build adds to the page. */
declare module 'explorer:core' {
  const bytes: Uint8Array;
  export default bytes;
}
declare module 'explorer:worker' {
  const text: string;
  export default text;
}

declare module 'explorer:collectives' { // trivance list --collectives --format=json
  const table: { name: string, title: string, before: string, after: string, reduces: boolean }[];
  export default table;
}

declare module 'explorer:parameters' { // trivance list --parameters --format=json
  const table: { name: string, value: string, default: string, plans: boolean, sentence: string }[];
  export default table;
}

declare module 'explorer:algorithms' { // trivance list --format=json
  const table: { name: string, family: string, title: string, collectives: string[], baseline: boolean,
    colour: number }[];
  export default table;
}

declare module 'explorer:tofu-d' { // src/formats/front/profiles/tofu-d.json
  const profile: { title: string, parameters: Record<string, { value: string, source: string }> };
  export default profile;
}

/* Newer than the types of Debian's TypeScript. */
declare class DecompressionStream {
  constructor(format: string);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<BufferSource>;
}
