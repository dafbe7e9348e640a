// The part of the WebAssembly interface that the project uses: TypeScript declares it only together with the whole DOM.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Memory<Buffer extends ArrayBufferLike = ArrayBuffer> {
    constructor(descriptor: { initial: number; maximum: number; shared?: boolean });
    readonly buffer: Buffer;
    grow(pages: number): number;
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
}
