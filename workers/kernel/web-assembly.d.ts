// Declares the part of the WebAssembly interface that the project uses. TypeScript itself declares WebAssembly only
// together with the whole DOM.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
    static exports(module: Module): readonly { readonly name: string }[];
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
